"""Streaming DataFrames that only scan a folder of Parquet files: its files instead of its rows.

A file is a row here, so that tasks read the files themselves (shuffle.parquet_rows). Whatever Spark
might read in another way than they do, it reads: nested folders, other types, files that may be
missing or damaged, large files, which it splits.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from windrow.spark.shuffle.hidden_columns import DAMAGE
from windrow.spark.shuffle.parquet_rows import LOCAL, READ_TYPES, why_not_plain

__all__ = ["ScannedFiles", "files_scanned"]

# Of the files that are there, so many of the newest are looked into.
FILES_TRIED = 32
# Spark splits larger files among tasks.
FILE_BYTES_LIMIT = 128 << 20

_FILE_SCHEMA = "path string, modificationTime timestamp, length bigint, content binary"
# Which files are read, and when; these hold for any format.
_KEPT_OPTIONS = {
    "path",
    "maxfilespertrigger",
    "maxbytespertrigger",
    "pathglobfilter",
    "latestfirst",
    "maxfileage",
}
# These change nothing about plain Parquet files.
_IDLE_OPTIONS = {"mode", "timezone"}
_IGNORED_FILES = ("ignoremissingfiles", "ignorecorruptfiles")
_NEEDED_SETTINGS = {
    "spark.sql.files.ignoreMissingFiles": "false",
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.int96RebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.fieldId.read.enabled": "false",
}
_GLOB_SIGNS = set("[]{}*?\\")


@dataclass(frozen=True)
class ScannedFiles:
    """paths: one row for each file of the folder; columns: those to read, with Spark's types."""

    paths: DataFrame
    folder: str
    columns: Mapping[str, str]


def files_scanned(source: DataFrame, names: Iterable[str]) -> ScannedFiles | None:
    """The files that a DataFrame scans for these columns; None where Spark is to read them."""
    kinds = dict(source.dtypes)
    columns = {name: kinds[name] for name in names}
    is_read_here = all(kind in READ_TYPES and "." not in name for name, kind in columns.items())
    if not columns or not is_read_here or DAMAGE in kinds:
        return None
    options = _options_of_scan(source)
    if options is None or not _has_usual_settings(source.sparkSession):
        return None
    folder = _plain_folder(options["path"], columns)
    if folder is None:
        return None
    kept = {name: value for name, value in options.items() if name in _KEPT_OPTIONS}
    reader = source.sparkSession.readStream.format("binaryFile").schema(_FILE_SCHEMA)
    return ScannedFiles(reader.options(**kept).load().select("path"), folder, columns)


def _options_of_scan(source: DataFrame) -> dict[str, str] | None:
    """Options of a scan, in small letters; None where the DataFrame is or has anything else."""
    plan: Any = source._jdf.queryExecution().analyzed()
    if plan.getClass().getSimpleName() != "StreamingRelation":
        return None
    scan = plan.dataSource()
    if scan.className() != "parquet" or not scan.partitionColumns().isEmpty():
        return None
    options: dict[str, str] = {}
    pairs = scan.options().iterator()
    while pairs.hasNext():
        pair = pairs.next()
        options[str(pair._1()).lower()] = str(pair._2())
    ignored = [options.pop(name, "false") for name in _IGNORED_FILES]
    is_known = options.keys() <= _KEPT_OPTIONS | _IDLE_OPTIONS and "path" in options
    return options if is_known and ignored == ["false", "false"] else None


def _has_usual_settings(spark: SparkSession) -> bool:
    return all(
        str(spark.conf.get(name, wanted)).lower() == wanted.lower()
        for name, wanted in _NEEDED_SETTINGS.items()
    )


def _plain_folder(path: str, columns: Mapping[str, str]) -> str | None:
    """The folder, if it is one of this machine that holds nothing but plain files."""
    if _GLOB_SIGNS & set(path) or not path.startswith(("/", f"{LOCAL}/")):
        return None
    folder = os.path.normpath("/" + path.removeprefix(LOCAL).lstrip("/"))
    try:
        entries = [each for each in os.scandir(folder) if each.name[0] not in "._"]
        if any(each.is_dir() for each in entries):
            return None
        found = sorted(
            (each.stat().st_mtime_ns, each.stat().st_size, each.path) for each in entries
        )
    except OSError:
        return None
    if any(size > FILE_BYTES_LIMIT for _, size, _ in found):
        return None
    newest = [name for _, size, name in found[-FILES_TRIED:] if size]
    return folder if all(why_not_plain(name, columns) is None for name in newest) else None
