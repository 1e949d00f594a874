"""The columns that a query reads of a source, and the columns that decide about its rows.

The time of the batch is the one that Spark has recorded with it, so that a batch that is run again
judges its rows alike.
"""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql import DataFrame
from pyspark.sql import functions as sql

from windrow.schema import StreamSchema
from windrow.spark.shuffle.hidden_columns import DAMAGE, NOW

__all__ = ["checked"]


def checked(source: DataFrame, names: Iterable[str], stream: StreamSchema) -> DataFrame:
    """These columns of a source, with the batch's time and the text of rows that are damaged."""
    columns = [source[f"`{name.replace('`', '``')}`"] for name in names]
    if DAMAGE in source.columns:
        columns.append(source[DAMAGE])
    if stream.most_ahead_us is not None:
        columns.append(sql.unix_micros(sql.current_timestamp()).alias(NOW))
    return source.select(*columns)
