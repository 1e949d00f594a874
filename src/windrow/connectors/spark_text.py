"""Text as rows of a stream on Spark: what cannot be read is refused, or reported with the row."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as sql

from windrow.connectors.contract import DAMAGE
from windrow.connectors.spark_columns import columns_ddl
from windrow.schema import StreamSchema

__all__ = ["READ_OPTIONS", "all_read", "damage_told", "rows_of_lines"]

# A value that cannot be read would be NULL to Spark; a time without a zone is one of UTC, as in
# the session of this process, whatever zone the user's Spark has.
READ_OPTIONS = {"mode": "FAILFAST", "timeZone": "UTC"}


def rows_of_lines(lines: DataFrame, schema: StreamSchema, format_: str) -> DataFrame:
    """Lines in the column `value` as rows; format_: 'jsonl' or 'csv'."""
    read = sql.from_json if format_ == "jsonl" else sql.from_csv
    ddl, options = damage_told(schema) if schema.sets_aside else (columns_ddl(schema), READ_OPTIONS)
    rows = lines.select(read(sql.col("value"), ddl, options).alias("row")).select("row.*")
    return all_read(rows, schema) if schema.sets_aside else rows


def damage_told(schema: StreamSchema) -> tuple[str, dict[str, str]]:
    """Columns and options that add the text of a row that cannot be read."""
    told = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": DAMAGE}
    return f"{columns_ddl(schema)}, `{DAMAGE}` string", {**READ_OPTIONS, **told}


def all_read(rows: DataFrame, schema: StreamSchema) -> DataFrame:
    """The rows, of which Spark reads every column to say whether a row is damaged.

    Otherwise it would read those that a query wants, and queries would count different rows.
    """
    columns = [rows[f"`{column.name.replace('`', '``')}`"] for column in schema.columns]
    kinds = [column.type for column in schema.columns]
    # Of maps Spark makes no hashes.
    pairs = zip(columns, kinds, strict=True)
    hashed = [sql.to_json(column) if kind.is_nested else column for column, kind in pairs]
    is_damaged = rows[DAMAGE].isNotNull() & (sql.xxhash64(*hashed) != sql.lit(0))
    return rows.select(*columns, sql.when(is_damaged, rows[DAMAGE]).alias(DAMAGE))
