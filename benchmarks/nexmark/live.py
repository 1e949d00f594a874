"""A query of NEXMark that runs in Windrow: events in, the rows of its result out."""

from __future__ import annotations

import time
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

import windrow
from nexmark.anew import Recomputation, as_counts
from nexmark.events import BEGIN_US, SCHEMAS, Streams
from nexmark.query import Query
from nexmark.side_table import SIDE_SCHEMA, SIDE_TABLE

__all__ = ["Run", "checked", "count_char", "last_us", "measured", "tables_of"]


@dataclass(frozen=True)
class Run:
    """What a run took. changes: rows of the result that came or went."""

    rows: int
    cpu_s: float
    changes: int
    bytes_kept: int


def tables_of(query: Query, streams: Streams) -> dict[str, pa.Table]:
    """The streams that it reads."""
    return {name: streams.tables[name] for name in query.streams}


def checked(
    query: Query, tables: Mapping[str, pa.Table], *, is_windowed: bool, instants: int
) -> bool:
    """Whether its result, also as the sum of its changes, is DuckDB's at all of some instants.

    A query that never has a row shows nothing, so it is not right.
    """
    session, live = _started(query, tables, is_windowed)
    anew = Recomputation()
    held: Counter[tuple[Any, ...]] = Counter()
    had_rows = False
    for at_us, rows in _parts(tables, (last_us(tables) - BEGIN_US) // instants + 1):
        _push(session, rows, at_us)
        # Columns without a name have others in DuckDB, so they are compared by their places.
        expected = as_counts(anew.answer(query, tables, at_us, is_windowed=is_windowed))
        result = live.result()
        _add_changes(held, live.changes(), result.column_names)
        if as_counts(result) != expected or dict(+held) != dict(expected):
            return False
        had_rows = had_rows or bool(expected)
    return had_rows


def measured(
    query: Query, tables: Mapping[str, pa.Table], *, is_windowed: bool, push_us: int
) -> Run:
    """CPU seconds of the whole process, with all changes read after each push."""
    session, live = _started(query, tables, is_windowed)
    parts = list(_parts(tables, push_us))
    changes = 0
    began = time.process_time()
    for at_us, rows in parts:
        _push(session, rows, at_us)
        changes += live.changes().num_rows
    spent = time.process_time() - began
    rows_pushed = sum(table.num_rows for _, rows in parts for table in rows.values())
    return Run(rows_pushed, spent, changes, live.nbytes)


def last_us(tables: Mapping[str, pa.Table]) -> int:
    """The time of the last row."""
    return max(int(table["dateTime"][-1].cast(pa.int64()).as_py()) for table in tables.values())


def _started(
    query: Query, tables: Mapping[str, pa.Table], is_windowed: bool
) -> tuple[windrow.Session, windrow.Query]:
    session = windrow.connect(memory="6 GB")
    for name in tables:
        session.stream(name, SCHEMAS[name], time="dateTime")
    session.function("count_char", count_char, returns="bigint")
    if query.has_side_table:
        session.table("side_input", SIDE_SCHEMA, key="key")
        session.upsert("side_input", SIDE_TABLE)
    with warnings.catch_warnings():
        # That a window without an end grows is what the published text asks for.
        warnings.simplefilter("ignore")
        if query.view is not None:
            session.view(*query.view)
        live = session.query(query.wql(is_windowed=is_windowed))
    return session, live


def count_char(text: str, character: str) -> int:
    """How often the character is in the text: a function that the engines are given."""
    return text.count(character)


def _parts(
    tables: Mapping[str, pa.Table], push_us: int
) -> Iterator[tuple[int, dict[str, pa.Table]]]:
    """The rows of every stream until each multiple of push_us."""
    times = {name: table["dateTime"].cast(pa.int64()).to_numpy() for name, table in tables.items()}
    given = dict.fromkeys(tables, 0)
    for at_us in range(BEGIN_US + push_us, last_us(tables) + push_us, push_us):
        rows = {}
        for name, table in tables.items():
            until = int(times[name].searchsorted(at_us, side="right"))
            rows[name] = table.slice(given[name], until - given[name])
            given[name] = until
        yield at_us, rows


def _push(session: windrow.Session, rows: Mapping[str, pa.Table], at_us: int) -> None:
    for name, table in rows.items():
        if table.num_rows:
            session.push(name, table)
        session.advance(name, to=at_us)


def _add_changes(held: Counter[tuple[Any, ...]], changes: pa.Table, names: list[str]) -> None:
    """Adds the changes of a query, as counts of rows."""
    signs = changes["change"]
    for sign in (1, -1):
        rows = changes.filter(pc.equal(signs, sign)).select(names)
        for row, times in as_counts(rows).items():
            held[row] += sign * times
