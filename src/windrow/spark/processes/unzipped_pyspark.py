"""Python workers of a local session take PySpark from where it is installed, not from its archive.

Spark puts an archive of PySpark first on the path of every Python process that it starts. Python
keeps no compiled files for what is in an archive: each process compiles PySpark anew, which is most
of what it takes to start one, and every query starts one. The JVM finds the archive by the variable
SPARK_HOME, which it does not need for anything else once it runs here.
"""

from __future__ import annotations

import logging
import os
import sysconfig
from pathlib import Path
from typing import Any

import pyspark
from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

__all__ = ["spare_archive"]

_LOG = logging.getLogger(__name__)


def spare_archive(spark: SparkSession) -> bool:
    """Has workers that start from now on read PySpark's compiled files; whether that was done."""
    if not is_found_by_workers():
        return False
    jvm: Any = spark._jvm
    try:
        known = _field(jvm, "java.lang.ProcessEnvironment", "theUnmodifiableEnvironment").get(None)
        _field(jvm, "java.util.Collections$UnmodifiableMap", "m").get(known).remove("SPARK_HOME")
    except (Py4JError, PySparkException, TypeError) as problem:
        _LOG.info("workers compile PySpark anew: %s", problem)
        return False
    return True


def is_found_by_workers() -> bool:
    """Whether a worker, which is this Python, finds the same PySpark without the archive."""
    installed = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    listed = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    return str(Path(pyspark.__file__).parents[1]) in installed.union(listed)


def _field(jvm: Any, name: str, field: str) -> Any:
    found = jvm.java.lang.Class.forName(name).getDeclaredField(field)
    found.setAccessible(True)
    return found
