"""Local files of Hadoop's, made without a process for each, and settings without their sources."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from windrow.spark.processes import lean_hadoop
from windrow.spark.processes.lean_hadoop import FILE_SYSTEM, make_lean


@pytest.fixture
def hadoop(spark: SparkSession) -> Any:
    """Hadoop's package in the JVM."""
    jvm: Any = spark._jvm
    return jvm.org.apache.hadoop


def local_files(spark: SparkSession) -> Any:
    """The file system that Spark is given for local files."""
    jvm: Any = spark._jvm
    settings = spark.sparkContext._jsc.hadoopConfiguration()  # type: ignore[attr-defined]
    return jvm.org.apache.hadoop.fs.FileSystem.get(jvm.java.net.URI("file:///"), settings)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_files_have_the_permissions_that_hadoop_gives(
    spark: SparkSession, hadoop: Any, tmp_path: Path
) -> None:
    files = local_files(spark)
    assert files.getClass().getName() == FILE_SYSTEM
    folder, name = tmp_path / "a" / "b", "made"
    assert files.mkdirs(hadoop.fs.Path(str(folder)))
    stream = files.create(hadoop.fs.Path(str(folder / name)))
    stream.write(b"seven")
    stream.close()
    assert mode(folder) == mode(folder.parent) == 0o755  # Hadoop has a umask of its own
    assert mode(folder / name) == mode(folder / f".{name}.crc") == 0o644
    assert (folder / name).read_bytes() == b"seven"


@pytest.mark.parametrize("wanted", [0o600, 0o754, 0o000, 0o1777])
def test_permissions_are_set_as_given(
    spark: SparkSession, hadoop: Any, tmp_path: Path, wanted: int
) -> None:
    path = tmp_path / "folder"
    path.mkdir()
    permission = hadoop.fs.permission.FsPermission(f"{wanted:04o}")
    local_files(spark).setPermission(hadoop.fs.Path(str(path)), permission)
    assert mode(path) == wanted


def test_what_is_not_there_has_no_permissions(
    spark: SparkSession, hadoop: Any, tmp_path: Path
) -> None:
    permission = hadoop.fs.permission.FsPermission("600")
    with pytest.raises(Py4JJavaError, match="NoSuchFileException"):
        local_files(spark).setPermission(hadoop.fs.Path(str(tmp_path / "none")), permission)


def test_a_damaged_file_is_still_found_out(
    spark: SparkSession, hadoop: Any, tmp_path: Path
) -> None:
    path = hadoop.fs.Path(str(tmp_path / "made"))
    stream = local_files(spark).create(path)
    stream.write(b"seven")
    stream.close()
    (tmp_path / "made").write_bytes(b"eight")
    with pytest.raises(Py4JJavaError, match="ChecksumException"):
        local_files(spark).open(path).read()


def test_settings_keep_their_values_and_travel_without_their_sources(spark: SparkSession) -> None:
    settings = spark.sparkContext._jsc.hadoopConfiguration()  # type: ignore[attr-defined]
    assert settings.get("io.file.buffer.size") == "65536"
    assert settings.getPropertySources("io.file.buffer.size") is None
    assert settings.getValByRegex("^yarn").size() == 0


def test_what_cannot_be_compiled_leaves_hadoop_as_it_is(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lean_hadoop, "FILE_SYSTEM", "windrow.Another")
    monkeypatch.setattr(lean_hadoop, "_SOURCE", "this is no Java")
    assert not make_lean(spark)
    assert local_files(spark).getClass().getName() == FILE_SYSTEM
    monkeypatch.undo()
    assert make_lean(spark)
