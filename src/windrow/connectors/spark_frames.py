"""Streaming DataFrames of sources, and the sources behind them."""

from __future__ import annotations

from collections.abc import Iterable
from weakref import WeakKeyDictionary

from pyspark.sql import DataFrame, SparkSession

from windrow.connectors.contract import Source
from windrow.connectors.spark_times import with_instants
from windrow.errors import DataError
from windrow.schema import StreamSchema
from windrow.table_schema import TableSchema

__all__ = ["addresses_behind", "check_reached", "fault_in", "source_frame", "table_frame"]

# For as long as the DataFrames are known.
_SOURCES: WeakKeyDictionary[DataFrame, tuple[Source, StreamSchema]] = WeakKeyDictionary()


def source_frame(spark: SparkSession, schema: StreamSchema, source: Source) -> DataFrame:
    """The rows of a source, with the columns of the stream."""
    frame = with_instants(source.read_on_spark(spark, schema), schema)
    _SOURCES[frame] = source, schema
    return frame


def table_frame(
    spark: SparkSession, schema: TableSchema, source: Source
) -> tuple[DataFrame, str | None]:
    """The rows of a source of a table, or a changelog in a format."""
    rows, changelog = source.read_table_on_spark(spark, schema)
    frame = rows if changelog is not None else with_instants(rows, schema)
    _SOURCES[frame] = source, schema
    return frame, changelog


def check_reached(frames: Iterable[DataFrame]) -> None:
    """Refuses DataFrames, made from sources of ours, whose servers do not answer."""
    for source, _ in _behind(frames):
        source.check_reached()


def fault_in(frames: Iterable[DataFrame]) -> DataError | None:
    """The first value in the sources of ours that Spark cannot have read, named with its place."""
    found = (source.fault(schema) for source, schema in _behind(frames))
    return next((each for each in found if each is not None), None)


def addresses_behind(frames: Iterable[DataFrame]) -> str:
    """The servers that these DataFrames read from; empty where they read from none of ours."""
    return ", ".join(dict.fromkeys(each.address for each, _ in _behind(frames) if each.address))


def _behind(frames: Iterable[DataFrame]) -> list[tuple[Source, StreamSchema]]:
    return [_SOURCES[frame] for frame in frames if frame in _SOURCES]
