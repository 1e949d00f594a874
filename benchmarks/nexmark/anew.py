"""NEXMark's answers computed anew by DuckDB, from the rows that are in the windows."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from nexmark.query import AT, Query
from nexmark.side_table import SIDE_TABLE

__all__ = ["Bounds", "Recomputation", "as_counts", "bounds_of"]

TEN_SECONDS_US = 10_000_000
HOP_US = 2_000_000


@dataclass(frozen=True)
class Bounds:
    """The times of the rows that are in a window; both belong to it. None: all until last_us.

    at_us: the instant. closed: start and end of a window that has closed.
    """

    first_us: int | None
    last_us: int
    at_us: int
    closed: tuple[int, int] | None = None


def bounds_of(query: Query, at_us: int, *, is_windowed: bool) -> Bounds:
    """What the windows of a query hold at an instant: all windows of one query are the same."""
    text = query.wql(is_windowed=is_windowed)
    if AT in query.sql(is_windowed=is_windowed):
        return Bounds(None, at_us, at_us)
    if "TUMBLE(" in text or "HOP(" in text:
        slide_us = HOP_US if "HOP(" in text else TEN_SECONDS_US
        end_us = at_us // slide_us * slide_us
        start_us = end_us - TEN_SECONDS_US
        return Bounds(start_us, end_us - 1, at_us, (start_us, end_us))
    return Bounds(at_us - TEN_SECONDS_US if is_windowed else None, at_us, at_us)


class Recomputation:
    """DuckDB with one thread, and tables of Arrow."""

    def __init__(self) -> None:
        self._database = duckdb.connect()
        self._database.execute("SET threads = 1; SET TimeZone = 'UTC'")
        self.cpu_s = 0.0

    def answer(
        self, query: Query, tables: Mapping[str, pa.Table], at_us: int, *, is_windowed: bool
    ) -> pa.Table:
        """The answer at an instant, over the rows in the windows."""
        bounds = bounds_of(query, at_us, is_windowed=is_windowed)
        for name, table in tables.items():
            self._database.register(name, _within(table, bounds))
        if query.has_side_table:
            self._database.register("side_input", SIDE_TABLE)
        began = time.process_time()
        text = query.sql(is_windowed=is_windowed).replace(AT, str(bounds.at_us))
        found = self._database.sql(text).to_arrow_table()
        self.cpu_s += time.process_time() - began
        return found


def _within(table: pa.Table, bounds: Bounds) -> pa.Table:
    """Rows are in order of time, so they are a slice."""
    at = table["dateTime"].cast(pa.int64()).to_numpy()
    first = 0 if bounds.first_us is None else int(at.searchsorted(bounds.first_us))
    rows = table.slice(first, int(at.searchsorted(bounds.last_us, side="right")) - first)
    if bounds.closed is None:
        return rows
    for name, instant in zip(("window_start", "window_end"), bounds.closed, strict=True):
        column = pa.array([instant] * rows.num_rows, pa.timestamp("us", "UTC"))
        rows = rows.append_column(name, column)
    return rows


def as_counts(table: pa.Table) -> Counter[tuple[Any, ...]]:
    """The rows and how often each occurs; numbers in ten-thousandths, whatever their type."""
    columns = [_plain(column).to_pylist() for column in table.columns]
    return Counter(zip(*columns, strict=True))


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    kind = column.type
    if pa.types.is_timestamp(kind):
        return column.cast(pa.timestamp("us", "UTC")).cast(pa.int64())
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind) or pa.types.is_integer(kind):
        return pc.round(pc.multiply(column.cast(pa.float64()), 10_000.0))
    return column
