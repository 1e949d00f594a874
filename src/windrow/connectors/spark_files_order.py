"""The order of rows in files, beside them: of equal keys of a table the last row counts."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as sql

from windrow.connectors.contract import ORDER

__all__ = ["with_order"]

# Digits of a place in a file.
_DIGITS = 20


def with_order(frame: DataFrame) -> DataFrame:
    """The rows of files with a text that puts files, by their names, and parts of them in order.

    Spark reads large files first, and those of a batch in any number of tasks.
    """
    start = sql.lpad(sql.col("_metadata.file_block_start").cast("string"), _DIGITS, "0")
    columns = [frame[f"`{name.replace('`', '``')}`"] for name in frame.columns]
    order = sql.concat_ws("\n", sql.col("_metadata.file_path"), start)
    return frame.select(*columns, order.alias(ORDER))
