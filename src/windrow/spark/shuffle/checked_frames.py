"""The columns that a query reads of a source, and the text of rows that are damaged."""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql import DataFrame

from windrow.spark.shuffle.hidden_columns import DAMAGE

__all__ = ["checked"]


def checked(source: DataFrame, names: Iterable[str]) -> DataFrame:
    """These columns of a source, and the text of rows that are damaged."""
    columns = [source[f"`{name.replace('`', '``')}`"] for name in names]
    if DAMAGE in source.columns:
        columns.append(source[DAMAGE])
    return source.select(*columns)
