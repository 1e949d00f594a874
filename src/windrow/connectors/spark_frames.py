"""Streaming DataFrames of sources, and the sources behind them."""

from __future__ import annotations

from collections.abc import Iterable
from weakref import WeakKeyDictionary

from pyspark.sql import DataFrame, SparkSession

from windrow.connectors.contract import Source
from windrow.connectors.spark_times import with_instants
from windrow.schema import StreamSchema

__all__ = ["addresses_behind", "check_reached", "source_frame"]

# For as long as the DataFrames are known.
_SOURCES: WeakKeyDictionary[DataFrame, Source] = WeakKeyDictionary()


def source_frame(spark: SparkSession, schema: StreamSchema, source: Source) -> DataFrame:
    """The rows of a source, with the columns of the stream."""
    frame = with_instants(source.read_on_spark(spark, schema), schema)
    _SOURCES[frame] = source
    return frame


def check_reached(frames: Iterable[DataFrame]) -> None:
    """Refuses DataFrames, made from sources of ours, whose servers do not answer."""
    for source in _behind(frames):
        source.check_reached()


def addresses_behind(frames: Iterable[DataFrame]) -> str:
    """The servers that these DataFrames read from; empty where they read from none of ours."""
    return ", ".join(dict.fromkeys(each.address for each in _behind(frames) if each.address))


def _behind(frames: Iterable[DataFrame]) -> list[Source]:
    return [_SOURCES[frame] for frame in frames if frame in _SOURCES]
