"""What a session on Spark does with tables: declared on DataFrames and sources, and listed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from windrow.connectors.contract import OPERATION, Source
from windrow.connectors.spark_columns import columns_of_rows
from windrow.connectors.spark_frames import table_frame
from windrow.connectors.spark_times import with_instants
from windrow.errors import BindingError, UnsupportedError
from windrow.plan.catalog import Catalog
from windrow.runtime.table_table import TABLE_SCHEMA, TableRow
from windrow.schema import columns_of
from windrow.sources import source_given
from windrow.spark.driver.query import SparkQuery
from windrow.spark.driver.table_feed import TableFeed
from windrow.spark.processes.usable import refuse_stopped
from windrow.spark.shuffle.table_packer import RecordForm
from windrow.table_schema import TableSchema, key_of

__all__ = ["SparkSessionTables"]


class SparkSessionTables:
    """The tables of a session on Spark."""

    _catalog: Catalog
    _queries: dict[str, SparkQuery]
    _spark: SparkSession
    _tables: dict[str, TableFeed]

    def table(
        self,
        name: str,
        schema: DataFrame | Mapping[str, str] | str | pa.Schema,
        *,
        key: str | Iterable[str],
        time: str | None = None,
        source: Source | None = None,
        op: str | None = None,
    ) -> None:
        """Declares a table: its rows, and the key that tells them apart; it holds the newest ones.

        schema: a DataFrame, which is read once, when a query starts, or a streaming one, whose rows
        are inserted or updated; or, with source=windrow.sources..., the columns. op: the column of
        the DataFrame that says +I, -U, +U or -D, or c, r, u or d. time: the column by which
        versions of a row are ordered; without it a row takes effect with its batch.

        Example::

            session.table("rooms", spark.read.parquet("rooms"), key="id")
            changes = windrow.sources.jsonl("customers", format="debezium-json")
            session.table("customers", "id int, city string", key="id", source=changes)
        """
        refuse_stopped(self._spark)
        if isinstance(schema, DataFrame):
            columns = tuple(each for each in columns_of_rows(name, schema) if each.name != op)
        elif source is None:
            raise UnsupportedError(
                "WU717",
                f"table {name!r} has no rows: on Spark they come from a DataFrame or a source",
                hint="give spark.read...load(), a streaming DataFrame, or the columns and "
                "source=windrow.sources....",
            )
        else:
            columns = columns_of(schema)
        declared = TableSchema(name, columns, time or "", key=key_of(columns, key))
        if isinstance(schema, DataFrame):
            feed = _of_frame(declared, schema, op)
        else:
            frame, changelog = table_frame(self._spark, declared, source_given(source))
            operation = OPERATION if OPERATION in frame.columns else None
            feed = TableFeed(declared, frame, RecordForm(changelog, operation))
        self._catalog = self._catalog.with_table(declared)
        self._tables[name] = feed

    def upsert(self, table: str, rows: Any) -> None:
        """Refused: on Spark the rows of a table come from its DataFrame or source.

        Example::

            session.upsert("rooms", [])  # raises UnsupportedError: WU717
        """
        del rows
        _refuse_rows(table)

    def delete(self, table: str, keys: Any) -> None:
        """Refused, as upsert() is.

        Example::

            session.delete("rooms", [])  # raises UnsupportedError: WU717
        """
        del keys
        _refuse_rows(table)

    def changelog(
        self,
        table: str,
        changes: Any,
        format: str = "changelog",  # noqa: A002 - as in the embedded session
        op: str = "op",
    ) -> None:
        """Refused, as upsert() is.

        Example::

            session.changelog("rooms", [])  # raises UnsupportedError: WU717
        """
        del changes, format, op
        _refuse_rows(table)

    def tables(self) -> pa.Table:
        """One row per table and query that reads it: rows at the query's clock, and their bytes.

        Example::

            session.tables().select(["table", "query", "rows"]).to_pylist()
        """
        rows = [
            {**TableRow(feed.schema, **held).values(), "query": query.name}
            for feed in self._tables.values()
            for query in self._queries.values()
            if (held := query.status.tables.get(feed.schema.name)) is not None
        ]
        return pa.Table.from_pylist(
            rows, schema=TABLE_SCHEMA.append(pa.field("query", pa.string()))
        )


def _of_frame(declared: TableSchema, frame: DataFrame, op: str | None) -> TableFeed:
    if op is not None and op not in frame.columns:
        raise BindingError(
            "WB711",
            f"table {declared.name!r}: the DataFrame has no column {op!r} of operations",
            hint=f"its columns are {', '.join(frame.columns)}",
        )
    return TableFeed(declared, with_instants(frame, declared), RecordForm(op=op))


def _refuse_rows(name: str) -> NoReturn:
    raise UnsupportedError(
        "WU717",
        f"table {name!r} cannot be changed by calls on Spark",
        hint="write the changes where its DataFrame or source reads from, or connect in this "
        "process: windrow.connect()",
    )
