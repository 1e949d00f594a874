"""Hadoop in the JVM of a local session: no process for each file, and settings that are small.

Without a library of its own for the machine, Hadoop starts `chmod` for every file that it makes in
a local folder, and for its file of checksums: twelve times in a small batch of a query. Java sets
permissions itself, so the file system of this JVM gets a class that lets it. It is written here and
compiled by the compiler that Spark has for its own code.

Spark sends a copy of Hadoop's settings with each scan and each operator with state, in every batch.
Next to each of a thousand settings stands which file it came from, pressed on its own, and most of
the time goes into that; only messages about settings would ever read it. Half of the settings are
those of YARN, which a session in one process never asks.
"""

from __future__ import annotations

import logging
import os
from typing import Any

from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

__all__ = ["FILE_SYSTEM", "make_lean"]

_LOG = logging.getLogger(__name__)

FILE_SYSTEM = "windrow.LocalFiles"

_SOURCE = """
package windrow;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.attribute.PosixFilePermissions;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.permission.FsPermission;

public final class LocalFiles extends LocalFileSystem {
    public LocalFiles() {
        super(new Raw());
    }

    public static final class Raw extends RawLocalFileSystem {
        public void setPermission(Path path, FsPermission permission) throws IOException {
            if (permission.getStickyBit()) {  // Java has no name for it
                super.setPermission(path, permission);
            } else {
                String signs = permission.toString();
                Files.setPosixFilePermissions(
                    pathToFile(path).toPath(), PosixFilePermissions.fromString(signs)
                );
            }
        }
    }
}
"""


def make_lean(spark: SparkSession) -> bool:
    """Spares the session's JVM both; whether that was done.

    Where it cannot be, all goes on as Hadoop has it, only slower.
    """
    if os.name != "posix":
        return False
    jvm, hadoop = _jvm(spark), _settings(spark)
    try:
        _set_permissions_in_java(jvm, hadoop)
        _forget_sources(hadoop)
        _forget_settings_of_yarn(hadoop)
    except (
        Py4JError,
        PySparkException,
        TypeError,
    ) as problem:  # py4j calls what is not there a package
        _LOG.info("the JVM starts a process for each file that it makes: %s", problem)
        return False
    return True


def _jvm(spark: SparkSession) -> Any:
    return spark._jvm


def _settings(spark: SparkSession) -> Any:
    return spark.sparkContext._jsc.hadoopConfiguration()


def _set_permissions_in_java(jvm: Any, hadoop: Any) -> None:
    file_systems = jvm.org.apache.hadoop.fs.FileSystem
    files = jvm.java.net.URI("file:///")
    known = file_systems.get(files, hadoop)
    if known.getClass().getName() == FILE_SYSTEM:
        return
    compiler = jvm.org.codehaus.janino.SimpleCompiler()
    compiler.setParentClassLoader(jvm.java.lang.Thread.currentThread().getContextClassLoader())
    compiler.cook(_SOURCE)
    named = jvm.org.apache.hadoop.conf.Configuration(hadoop)
    named.setClassLoader(compiler.getClassLoader())
    named.set("fs.file.impl", FILE_SYSTEM)
    # Hadoop keeps one file system for all who ask; a closed one leaves its place to the next.
    known.close()
    file_systems.get(files, named)


def _forget_sources(hadoop: Any) -> None:
    hadoop.size()  # all files of settings have been read now
    sources = hadoop.getClass().getDeclaredField("updatingResource")
    sources.setAccessible(True)
    sources.get(hadoop).clear()


def _forget_settings_of_yarn(hadoop: Any) -> None:
    known = hadoop.getClass().getDeclaredField("properties")
    known.setAccessible(True)
    # What a user has set himself has no business here either: there is no YARN in this process.
    known.get(hadoop).keySet().removeAll(hadoop.getValByRegex("^yarn[.]").keySet())
