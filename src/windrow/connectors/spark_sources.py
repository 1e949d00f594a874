"""The streaming DataFrame of a source that is described: one function for each kind."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql

from windrow.connectors.contract import DAMAGE
from windrow.connectors.kafka.connector import KafkaSource
from windrow.connectors.kafka.spark_source import kafka_frame
from windrow.connectors.spark_columns import spark_type
from windrow.errors import BindingError, DataError
from windrow.schema import BIGINT, StreamSchema
from windrow.sources import FileSource, Rate, Socket, Source

__all__ = ["columns_ddl", "source_frame"]

# A value that cannot be read would be NULL to Spark; a time without a zone is one of UTC, as in
# the session of this process, whatever zone the user's Spark has.
READ_OPTIONS = {"mode": "FAILFAST", "timeZone": "UTC"}

# Whatever the user's Spark is set to: no file is left out without a word.
_FILE_OPTIONS = {**READ_OPTIONS, "ignoreMissingFiles": "false", "ignoreCorruptFiles": "false"}

_GLOB_SIGNS = re.compile(r"[][{}*?\\]")


def source_frame(spark: SparkSession, schema: StreamSchema, source: Source) -> DataFrame:
    """The rows of a source, with the columns of the stream."""
    return _FRAMES[type(source)](spark, schema, source)


def columns_ddl(schema: StreamSchema) -> str:
    """The columns of a stream in Spark's DDL."""
    return ", ".join(f"`{column.name}` {spark_type(column.type)}" for column in schema.columns)


def damage_told(schema: StreamSchema) -> tuple[str, dict[str, str]]:
    """Columns and options by which the text of a row that cannot be read comes beside it."""
    told = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": DAMAGE}
    return f"{columns_ddl(schema)}, `{DAMAGE}` string", {**READ_OPTIONS, **told}


def _all_read(rows: DataFrame, schema: StreamSchema) -> DataFrame:
    """The rows, of which Spark reads every column to say whether a row is damaged.

    Otherwise it would read those that a query wants, and queries would count different rows.
    """
    columns = [rows[f"`{column.name.replace('`', '``')}`"] for column in schema.columns]
    is_damaged = rows[DAMAGE].isNotNull() & (sql.xxhash64(*columns) != sql.lit(0))
    return rows.select(*columns, sql.when(is_damaged, rows[DAMAGE]).alias(DAMAGE))


def _file_frame(spark: SparkSession, schema: StreamSchema, source: FileSource) -> DataFrame:
    ddl, options = columns_ddl(schema), _FILE_OPTIONS
    if schema.sets_aside and source.format != "parquet":
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
    return _all_read(rows, schema) if schema.sets_aside else rows


def _rate_frame(spark: SparkSession, schema: StreamSchema, source: Rate) -> DataFrame:
    counters = [column for column in schema.columns if column.name != schema.time]
    if [column.type for column in counters] != [BIGINT]:
        raise BindingError(
            "WB443",
            f"stream {schema.name!r} cannot be made by rate()",
            hint=f"give it two columns: the time {schema.time!r} and one BIGINT, which counts rows",
            place=source.place,
        )
    made = spark.readStream.format("rate").option("rowsPerSecond", source.rows_per_second).load()
    shown = {schema.time: "timestamp", counters[0].name: "value"}
    return made.select(*(sql.col(shown[each.name]).alias(each.name) for each in schema.columns))


def _socket_frame(spark: SparkSession, schema: StreamSchema, source: Socket) -> DataFrame:
    lines = spark.readStream.format("socket").option("host", source.host)
    read = sql.from_json if source.format == "jsonl" else sql.from_csv
    ddl, options = damage_told(schema) if schema.sets_aside else (columns_ddl(schema), READ_OPTIONS)
    row = read(sql.col("value"), ddl, options).alias("row")
    rows = lines.option("port", source.port).load().select(row).select("row.*")
    return _all_read(rows, schema) if schema.sets_aside else rows


def _nothing_there(source: FileSource) -> DataError:
    return DataError(
        "WD412",
        f"there is nothing at {source.path!r}",
        hint="make the folder first; it may be empty, and files that come later are read",
        place=source.place,
    )


_FRAMES: dict[type, Callable[[SparkSession, StreamSchema, Any], DataFrame]] = {
    FileSource: _file_frame,
    KafkaSource: kafka_frame,
    Rate: _rate_frame,
    Socket: _socket_frame,
}
