"""Files as a streaming DataFrame."""

from __future__ import annotations

import re
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from windrow.connectors.files.connector import FileSource
from windrow.connectors.spark_columns import check_text_types, columns_ddl
from windrow.connectors.spark_text import READ_OPTIONS, all_read, damage_told
from windrow.errors import DataError
from windrow.schema import StreamSchema

__all__ = ["file_frame"]

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
    reader = spark.readStream.schema(ddl).options(**options)
    if source.files_per_batch is not None:
        reader = reader.option("maxFilesPerTrigger", source.files_per_batch)
    path = source.path
    if source.is_local:
        place = Path(source.path).absolute()
        path = str(place)
        if place.is_file():
            # Spark streams from folders only: of the file's folder it is to see this file alone.
            reader = reader.option("pathGlobFilter", _GLOB_SIGNS.sub(r"\\\g<0>", place.name))
            path = str(place.parent)
        elif not place.exists() and not _GLOB_SIGNS.search(path):
            raise _nothing_there(source)
    if source.format == "parquet":
        return reader.parquet(path)
    if source.format == "csv":
        reader = reader.option("header", source.header).option("sep", source.delimiter)
        rows = reader.option("enforceSchema", not source.header).csv(path)
    else:
        rows = reader.json(path)
    return all_read(rows, schema) if schema.sets_aside else rows


def _nothing_there(source: FileSource) -> DataError:
    return DataError(
        "WD412",
        f"{source.path!r} does not exist",
        hint="create the folder first; it may be empty, and files that appear later are read",
        place=source.place,
    )
