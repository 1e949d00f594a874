"""Files as a streaming DataFrame."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.readwriter import DataStreamReader

from windrow.connectors.files.connector import FileSource
from windrow.connectors.spark_columns import check_text_types, columns_ddl
from windrow.connectors.spark_files_order import with_order
from windrow.connectors.spark_text import READ_OPTIONS, all_read, damage_told
from windrow.errors import DataError
from windrow.schema import StreamSchema
from windrow.table_schema import TableSchema

__all__ = ["file_frame", "table_frame"]

# Whatever the user's Spark is set to: no file is left out without a word.
_FILE_OPTIONS = {**READ_OPTIONS, "ignoreMissingFiles": "false", "ignoreCorruptFiles": "false"}

_GLOB_SIGNS = re.compile(r"[][{}*?\\]")


def file_frame(spark: SparkSession, schema: StreamSchema, source: FileSource) -> DataFrame:
    """The rows of all files, and of those that come later."""
    if source.is_text:
        check_text_types(schema, source.format, source.place)
    ddl, options = columns_ddl(schema), _FILE_OPTIONS
    if schema.sets_aside and source.is_text:
        ddl, told = damage_told(schema)
        options = {**options, **told}
    reader, path = _reading(spark, source, options)
    reader = reader.schema(ddl)
    if source.format == "parquet":
        return reader.parquet(path)
    if source.format == "csv":
        reader = reader.option("header", source.header).option("sep", source.delimiter)
        rows = reader.option("enforceSchema", not source.header).csv(path)
    else:
        rows = reader.json(path)
    return all_read(rows, schema) if schema.sets_aside else rows


def table_frame(spark: SparkSession, schema: TableSchema, source: FileSource) -> DataFrame:
    """The rows of a table, or the lines of its changelog, with their order."""
    if source.changelog is None:
        return with_order(file_frame(spark, schema, source))
    reader, path = _reading(spark, source, _FILE_OPTIONS)
    return with_order(reader.text(path))


def _reading(
    spark: SparkSession, source: FileSource, options: Mapping[str, str]
) -> tuple[DataStreamReader, str]:
    """What reads the files, and where they are."""
    reader = spark.readStream.options(**options)
    if source.files_per_batch is not None:
        reader = reader.option("maxFilesPerTrigger", source.files_per_batch)
    if not source.is_local:
        return reader, source.path
    place = Path(source.path).absolute()
    if place.is_file():
        # Spark streams from folders only: of the file's folder it is to see this file alone.
        name = _GLOB_SIGNS.sub(r"\\\g<0>", place.name)
        return reader.option("pathGlobFilter", name), str(place.parent)
    if not place.exists() and not _GLOB_SIGNS.search(str(place)):
        raise _nothing_there(source)
    return reader, str(place)


def _nothing_there(source: FileSource) -> DataError:
    return DataError(
        "WD412",
        f"{source.path!r} does not exist",
        hint="create the folder first; it may be empty, and files that appear later are read",
        place=source.place,
    )
