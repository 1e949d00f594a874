"""session.windows() and session.queries(): the governor's two tables, as people read them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import pyarrow as pa

__all__ = ["QUERY_SCHEMA", "WINDOW_SCHEMA", "QueryRow", "WindowRow", "query_table", "window_table"]

WINDOW_SCHEMA = pa.schema(
    [
        ("window", pa.string()),
        ("stream", pa.string()),
        ("queries", pa.list_(pa.string())),  # those that read these rows
        ("wanted", pa.duration("us")),  # the longest range; NULL: rows are counted, or never leave
        ("least", pa.duration("us")),  # the narrowest width within the tolerated errors
        ("width", pa.duration("us")),  # how far back it reaches, at least
        ("rows", pa.int64()),
        ("bytes", pa.int64()),
        ("row_bytes", pa.float64()),  # as really stored, spare room included
        ("rate", pa.float64()),  # rows a second of event time
        ("level", pa.string()),  # the lowest of its queries
        ("cells", pa.int64()),  # of coarse tails and profiles: pane, key and group
        ("pane", pa.duration("us")),  # the widest of these; NULL: no query has an ERROR
    ]
)

QUERY_SCHEMA = pa.schema(
    [
        ("query", pa.string()),
        ("window", pa.string()),
        ("alias", pa.string()),
        ("range", pa.duration("us")),
        ("error", pa.float64()),  # tolerated, in percent
        ("tolerance", pa.duration("us")),  # how much narrower the window may be for that
        ("delay", pa.duration("us")),  # how far apart answers may be
        ("begin", pa.timestamp("us", tz="UTC")),
        ("end", pa.timestamp("us", tz="UTC")),
        ("level", pa.string()),
        ("algorithm", pa.string()),
    ]
)


@dataclass(frozen=True)
class WindowRow:
    """One window: rows of a stream that one query reads, or several share."""

    window: str
    stream: str
    queries: list[str]
    wanted: int | None
    least: int | None
    width: int | None
    rows: int
    bytes: int
    row_bytes: float | None
    rate: float | None
    level: str
    cells: int = 0
    pane: int | None = None


@dataclass(frozen=True)
class QueryRow:
    """What one query asks of one window, and how it is served."""

    query: str
    window: str
    alias: str
    range: int | None
    error: float | None
    tolerance: int | None
    delay: int | None
    begin: int | None
    end: int | None
    level: str
    algorithm: str


def window_table(rows: Iterable[WindowRow]) -> pa.Table:
    """One row for each window."""
    return pa.Table.from_pylist([vars(row) for row in rows], schema=WINDOW_SCHEMA)


def query_table(rows: Iterable[QueryRow]) -> pa.Table:
    """One row for each window that each query reads."""
    return pa.Table.from_pylist([vars(row) for row in rows], schema=QUERY_SCHEMA)
