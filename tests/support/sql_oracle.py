"""The answer of any query at any instant, by DuckDB: every window is a table of the rows in it.

The text of the query is printed as DuckDB's SQL, with the name of a table where a stream and its
window stood. Which rows are in a window is worked out in plain Python from all rows ever applied.
Nothing of plans and operators is used, and nothing is kept between instants.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import count
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from support.closing_windows import (
    CLOSING,
    bounds_at,
    closes_together,
    entry_of,
    is_in,
    moments_of,
    ticks_of,
)
from support.oracle import Row
from support.slow_partition_windows import (
    SCHEDULED,
    Session,
    complete_at,
    held_of_partition,
    sessions_of,
)
from support.streams import CATALOG
from windrow.plan.catalog import Catalog
from windrow.sql import parse_query
from windrow.sql.nested_query import NestedQuery
from windrow.sql.query_printer import print_query
from windrow.sql.statements import (
    CommonTable,
    Ordering,
    QueryText,
    Select,
    SetQuery,
    Source,
    ValuesList,
    Window,
)

__all__ = ["FROM", "NEVER", "TO", "SqlOracle"]

Rows = Mapping[str, pa.Table]

DATABASE = duckdb.connect(config={"threads": 1})
DATABASE.execute("SET TimeZone = 'UTC'")
# DuckDB has no TRY_DIVIDE, and its COUNT_IF of no rows is NULL.
DATABASE.execute("CREATE MACRO try_divide(a, b) AS a / nullif(b, 0)")
DATABASE.execute("CREATE MACRO count_if(a) AS count(CASE WHEN a THEN 1 END)")
_NUMBERS = count()
_NO_WINDOW = Window("unbounded", written=False)
# Columns of tables: from when a version holds, and until when.
FROM, TO = "__from", "__to"
FIRST_EVENT, NEVER = -62_135_596_800_000_000, 2**61
# Instants as integers, as the comparison of answers has them.
_PLAIN = {
    "TIMESTAMP WITH TIME ZONE": "epoch_us({})",
    "TIMESTAMP": "epoch_us({})",
    "DATE": "CAST({} - DATE '1970-01-01' AS INTEGER)",
}


class SqlOracle:
    """Answers of one query; `rows` are all rows ever applied, by stream, in order of arrival.

    at_ticks: with EVERY changes come at ticks only, and the result is that of the last one.
    """

    def __init__(
        self, query: str | QueryText, catalog: Catalog = CATALOG, *, at_ticks: bool = True
    ) -> None:
        self.query = parse_query(query) if isinstance(query, str) else query
        self._every_us = getattr(self.query, "every_us", None)
        self._at_ticks = at_ticks and self._every_us is not None
        self._windows = _Windows(catalog)
        text = self._windows.replaced(_without_service(self.query))
        self.sql = print_query(text, "duckdb")
        self._loaded: tuple[Rows, int] | None = None
        duration = getattr(self.query, "duration", None) or ()
        assert all(kind == "instant" for kind, _ in duration), "seconds are not known here"
        self._life = tuple(value for _, value in duration) or (-(2**62), 2**62)

    def answer_at(self, rows: Rows, instant: int) -> list[Row]:
        """The answer at one instant."""
        return self.answers(rows, [instant])[instant]

    def final_answers(self, rows: Rows, instants: Iterable[int]) -> dict[int, list[Row]]:
        """What answers() tells: of sessions, those that close."""
        if not self._is_final:
            return self.answers(rows, instants)
        return self.answers(rows, instants, is_closing=True)

    @property
    def _is_final(self) -> bool:
        """Whether answers come when sessions close."""
        is_session = any(each.window.kind == "session" for each in self._windows.found)
        return is_session and not self._every_us

    def answers(
        self, rows: Rows, instants: Iterable[int], *, is_closing: bool = False
    ) -> dict[int, list[Row]]:
        """The answers at many instants; with EVERY, those of the last tick."""
        for window in self._windows.found:
            window.is_closing = is_closing
        wanted = sorted(set(instants))
        if not wanted:
            return {}
        meant = {instant: self._tick(instant) for instant in wanted}
        self._prepare(rows, meant.values())
        known: dict[Any, list[Row]] = {}
        found = {}
        for instant, tick in meant.items():
            held = tuple(window.shown_at(tick) for window in self._windows.found)
            if held not in known:
                self._show(tick)
                known[held] = DATABASE.execute(self._shown_text).fetchall()
            found[instant] = known[held]
        return found

    def answer_instants(self, rows: Rows, clock: int) -> list[int]:
        """Where an answer is due up to the clock."""
        self._prepare(rows, [clock])
        clock = min(clock, self._life[1])
        entries = [t for window in self._windows.found for t in window.entries() if t <= clock]
        windows = [each.window for each in self._windows.all_windows()]
        if not self._every_us and entries and closes_together(windows):
            return ticks_of(windows[0], min(entries), clock)
        if self._is_final:
            ends = {t for window in self._windows.found for t in window.session_ends(clock)}
            return sorted(ends)
        if not self._every_us or not entries:
            return sorted(set(entries))
        first = -(-min(entries) // self._every_us) * self._every_us
        return list(range(first, clock + 1, self._every_us))

    def change_instants(self, rows: Rows, clock: int) -> list[int]:
        """Every instant up to the clock at which the answer can change."""
        self._prepare(rows, [clock])
        moments = {t for window in self._windows.found for t in window.moments()}
        if self._at_ticks:
            moments = {-(-t // self._every_us) * self._every_us for t in moments}
        return sorted(t for t in moments if t <= min(clock, self._life[1]))

    def rows_at(self, rows: Rows, ticks: Sequence[int], table: str) -> None:
        """Makes a table of the answers at all ticks, timed by `at`."""
        self._prepare(rows, ticks)
        shown = f'SELECT CAST(NULL AS TIMESTAMPTZ) AS "at", q.* FROM ({self.sql}) AS q LIMIT 0'
        DATABASE.execute(f"CREATE OR REPLACE TEMP TABLE {table} AS {shown}")
        for tick in ticks:
            self._show(tick)
            at = f"make_timestamptz({tick})"
            DATABASE.execute(f"INSERT INTO {table} SELECT {at}, q.* FROM ({self.sql}) AS q")

    def _tick(self, instant: int) -> int:
        instant = min(instant, self._life[1])
        return instant // self._every_us * self._every_us if self._at_ticks else instant

    def _prepare(self, rows: Rows, instants: Iterable[int]) -> None:
        until = max(instants, default=0)
        if self._loaded is not None and self._loaded[0] is rows and until <= self._loaded[1]:
            return
        for window in self._windows.found:
            window.load(rows, until, self._life)
        self._loaded = rows, until

    def _show(self, instant: int) -> None:
        for window in self._windows.found:
            window.show(instant)

    @cached_property
    def _shown_text(self) -> str:
        """The columns of the answer as plain values, under names that differ."""
        described = DATABASE.execute(f"DESCRIBE {self.sql}").fetchall()
        names = [f"c{i}" for i in range(len(described))]
        shown = [
            _PLAIN.get(kind, "{}").format(name)
            for name, (_, kind, *_) in zip(names, described, strict=True)
        ]
        return f"SELECT {', '.join(shown)} FROM ({self.sql}) AS q ({', '.join(names)})"


def _without_service(query: QueryText) -> QueryText:
    if isinstance(query, ValuesList):
        return query
    return replace(query, every_us=None, duration=None, error_percent=None)


# ---- windows


@dataclass
class _HeldWindow:
    """A stream, or the answers of a query, through a window: a table of DuckDB's at an instant.

    inner: the query whose answers are the stream.
    """

    name: str
    stream: str
    window: Window
    time: str
    inner: SqlOracle | None = None
    is_closing: bool = False
    times: list[int] = field(default_factory=list)
    keys: list[tuple[object, ...]] = field(default_factory=list)

    def load(self, rows: Rows, until: int, life: tuple[int, ...]) -> None:
        """Lets DuckDB have all rows of the stream that are of that time, and knows their times."""
        if self.inner is None:
            table = rows[self.stream]
            times = table[self.time].cast(pa.int64())
            is_alive = pc.and_(pc.greater_equal(times, life[0]), pc.less_equal(times, life[1]))
            table = table.filter(is_alive)
            self.times = table[self.time].cast(pa.int64()).to_pylist()
            self._load_keys(table)
            DATABASE.register(f"given_{self.name}", _positive_zeros(table))
            made = f"SELECT * FROM given_{self.name}"
            DATABASE.execute(f"CREATE OR REPLACE TEMP TABLE all_{self.name} AS {made}")
        else:
            self.inner.rows_at(rows, self._ticks(rows, until), f"all_{self.name}")
            text = f'SELECT epoch_us("at") FROM all_{self.name} ORDER BY rowid'
            self.times = [time for (time,) in DATABASE.execute(text).fetchall()]
        self.show(None)

    def _ticks(self, rows: Rows, until: int) -> list[int]:
        assert self.inner is not None
        every_us = self.inner._every_us
        assert every_us is not None
        self.inner._prepare(rows, [until])
        entries = [t for window in self.inner._windows.found for t in window.times]
        if not entries:
            return []
        return list(range(-(-min(entries) // every_us) * every_us, until + 1, every_us))

    def _load_keys(self, table: pa.Table) -> None:
        by = [table[column].to_pylist() for column in self.window.partition_by]
        self.keys = [tuple(map(_same, key)) for key in zip(*by, strict=True)]

    def show(self, instant: int | None) -> None:
        """The table has the rows that are in the window at the instant; None: no rows."""
        held = () if instant is None else self.held_at(instant)
        if self.window.kind == "session":
            return self._show_sessions(instant)
        listed = ", ".join(map(str, held)) or "-1"
        bounds = self._bounds_text(0 if instant is None else instant)
        text = f"SELECT *{bounds} FROM all_{self.name} WHERE rowid IN ({listed})"
        DATABASE.execute(f"CREATE OR REPLACE TEMP VIEW {self.name} AS {text}")

    def _show_sessions(self, instant: int | None) -> None:
        """Each row with the bounds of its session."""
        found = [] if instant is None else self._sessions_at(instant)
        bounds = [f"({i}, {each.start}, {each.end})" for each in found for i in each.places]
        listed = ", ".join(bounds) or "(-1, 0, 0)"
        columns = ", ".join(
            f"make_timestamptz({us}) AS window_{name}"
            for name, us in (("start", "v.s"), ("end", "v.e"), ("time", "v.e - 1000"))
        )
        text = (
            f"SELECT a.*, {columns} FROM all_{self.name} AS a "
            f"JOIN (VALUES {listed}) AS v (r, s, e) ON a.rowid = v.r"
        )
        DATABASE.execute(f"CREATE OR REPLACE TEMP VIEW {self.name} AS {text}")

    def _sessions_at(self, instant: int) -> list[Session]:
        """Those that are open, or those that end now."""
        found = sessions_of(self.times, self.keys, self.window.length_us, instant)
        if self.is_closing:
            return [each for each in found if each.end == instant]
        return [each for each in found if each.end >= instant]

    def session_ends(self, clock: int) -> Iterable[int]:
        """When sessions close."""
        if self.window.kind != "session":
            return []
        found = sessions_of(self.times, self.keys, self.window.length_us, 2**62)
        return [each.end for each in found if each.end <= clock]

    def _bounds_text(self, instant: int) -> str:
        """Columns with the bounds of the window, where it has any."""
        if self.window.kind not in CLOSING:
            return ""
        start, end = bounds_at(self.window, instant)
        found = zip(("start", "end", "time"), (start, end, end - 1000), strict=True)
        return "".join(f", make_timestamptz({us}) AS window_{name}" for name, us in found)

    def shown_at(self, instant: int) -> Any:
        """What is equal where the table is the same."""
        if self.window.kind == "session":
            return tuple(self._sessions_at(instant))
        held = self.held_at(instant)
        is_closing = self.window.kind in CLOSING and held
        return held, bounds_at(self.window, instant) if is_closing else None

    def held_at(self, instant: int) -> tuple[int, ...]:
        """Which rows of the stream are in the window."""
        kind, length = self.window.kind, self.window.length_us
        places = range(len(self.times))
        if kind == "time":
            return tuple(i for i in places if instant - length <= self.times[i] <= instant)
        if kind == "session":
            return tuple(i for each in self._sessions_at(instant) for i in each.places)
        if kind in SCHEDULED:
            return tuple(sorted(held_of_partition(self.window, self.times, self.keys, instant)))
        if kind == "now":
            return tuple(i for i in places if self.times[i] == instant)
        if kind in CLOSING:
            return tuple(i for i in places if is_in(self.window, self.times[i], instant))
        if kind == "slide":
            last = instant // self.window.slide_us * self.window.slide_us
            return tuple(i for i in places if last - length < self.times[i] <= last)
        come = sorted((i for i in places if self.times[i] <= instant), key=lambda i: self.times[i])
        if kind == "rows":
            come = come[-self.window.rows :]
        elif kind == "partition_rows":
            come = self._last_of_each(come)
        else:
            assert kind == "unbounded", kind
        return tuple(sorted(come))

    def _last_of_each(self, come: list[int]) -> list[int]:
        by_key: dict[tuple[object, ...], list[int]] = {}
        for i in come:
            by_key.setdefault(self.keys[i], []).append(i)
        return [i for rows in by_key.values() for i in rows[-self.window.rows :]]

    def entries(self) -> list[int]:
        """When rows enter."""
        if "tumble_rows" in self.window.kind:
            return list(complete_at(self.window, self.times, self.keys))
        if self.window.kind in CLOSING:
            return [entry_of(self.window, time) for time in self.times]
        slide = self.window.slide_us or 1
        return [-(-time // slide) * slide for time in self.times]

    def moments(self) -> Iterable[int]:
        """When rows enter or leave."""
        yield from self.entries()
        if self.window.kind == "session":
            yield from (end + 1 for end in self.session_ends(2**62))
        elif self.window.kind == "partition_rows_range":
            yield from (time + self.window.length_us + 1 for time in self.times)
        elif self.window.kind in CLOSING:
            yield from moments_of(self.window, self.times)
        elif self.window.kind in ("time", "slide", "now"):
            # Windows that move in steps have one open end.
            held_us = self.window.length_us + (self.window.kind != "slide")
            yield from (entry + held_us for entry in self.entries())


@dataclass
class _HeldTable:
    """A table: of each version of a row the instant from which it holds, and the next one's.

    as_of: all versions up to an instant, and not only those that hold at it.
    """

    name: str
    table: str
    as_of: bool = False
    is_closing: bool = False
    window: Window = _NO_WINDOW
    spans: list[tuple[int, int]] = field(default_factory=list)

    def load(self, rows: Rows, until: int, life: tuple[int, ...]) -> None:
        """Lets DuckDB have all versions."""
        del until, life
        table = rows[self.table]
        self.spans = list(zip(table[FROM].to_pylist(), table[TO].to_pylist(), strict=True))
        DATABASE.register(f"given_{self.name}", _positive_zeros(table))
        made = f"SELECT * FROM given_{self.name}"
        DATABASE.execute(f"CREATE OR REPLACE TEMP TABLE all_{self.name} AS {made}")
        self.show(None)

    def show(self, instant: int | None) -> None:
        """The table has what holds at the instant."""
        held = () if instant is None else self.held_at(instant)
        listed = ", ".join(map(str, held)) or "-1"
        shown = "*" if self.as_of else f"* EXCLUDE ({FROM}, {TO})"
        text = f"SELECT {shown} FROM all_{self.name} WHERE rowid IN ({listed})"
        DATABASE.execute(f"CREATE OR REPLACE TEMP VIEW {self.name} AS {text}")

    def held_at(self, instant: int) -> tuple[int, ...]:
        """Which versions hold, or are known."""
        return tuple(
            i
            for i, (begin, end) in enumerate(self.spans)
            if begin <= instant and (self.as_of or instant < end)
        )

    def shown_at(self, instant: int) -> tuple[int, ...]:
        """The same."""
        return self.held_at(instant)

    def session_ends(self, clock: int) -> list[int]:
        """None: it has no sessions."""
        del clock
        return []

    @property
    def times(self) -> list[int]:
        """When it changes, from the first event on."""
        return self.entries()

    def entries(self) -> list[int]:
        """When it changes; versions that are only looked up do not count."""
        if self.as_of:
            return []
        return [t for span in self.spans for t in span if FIRST_EVENT <= t < NEVER]

    def moments(self) -> Iterable[int]:
        """The same."""
        return self.entries()


def _same(value: object) -> object:
    return "NaN" if isinstance(value, float) and math.isnan(value) else value


def _positive_zeros(table: pa.Table) -> pa.Table:
    """Both zeros are one value here, and two for DuckDB."""
    for place, column in enumerate(table.columns):
        if pa.types.is_floating(column.type):
            zero = pa.scalar(0, column.type)
            plain = pc.if_else(pc.equal(column, zero), zero, column)
            table = table.set_column(place, table.schema.field(place), plain)
    return table


# ---- texts


class _Windows:
    """Puts tables in the place of windows, and keeps which they are."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self.found: list[_HeldWindow | _HeldTable] = []

    def all_windows(self) -> list[_HeldWindow]:
        """Those of queries with answers in a window, too."""
        windows = [each for each in self.found if isinstance(each, _HeldWindow)]
        inner = (each.inner for each in windows if each.inner is not None)
        return [*windows, *(part for each in inner for part in each._windows.all_windows())]

    def replaced(self, query: QueryText, tables: tuple[CommonTable, ...] = ()) -> QueryText:
        """The query over tables; tables: the common tables of the queries around it."""
        if isinstance(query, ValuesList):
            rows = tuple(
                tuple(self._expression(each, tables) for each in row) for row in query.rows
            )
            return replace(query, rows=rows)
        own: list[CommonTable] = []
        for table in query.common_tables:
            known = (*tables, *query.common_tables[: len(own)])
            own.append(replace(table, query=self.replaced(table.query, known)))
        inside = (*tables, *query.common_tables)
        query = replace(query, common_tables=tuple(own))
        keys = tuple(
            replace(key, expression=self._expression(key.expression, inside))
            for key in query.order_by
        )
        if query.limit is not None or query.offset:
            keys = (*keys, *_all_columns(query))
        query = replace(query, order_by=keys)
        if isinstance(query, SetQuery):
            left, right = self.replaced(query.left, inside), self.replaced(query.right, inside)
            return replace(query, left=left, right=right)
        return self._select(query, inside)

    def _select(self, select: Select, tables: tuple[CommonTable, ...]) -> Select:
        def of(expression: Any) -> Any:
            return None if expression is None else self._expression(expression, tables)

        negated = tuple(self.replaced(each, tables) for each in select.not_exists)
        return replace(
            select,
            items=tuple(replace(item, expression=of(item.expression)) for item in select.items),
            sources=tuple(self._source(source, tables) for source in select.sources),
            where=of(select.where),
            group_by=tuple(map(of, select.group_by)),
            having=of(select.having),
            qualify=of(select.qualify),
            not_exists=negated,
        )

    def _expression(self, node: exp.Expr, tables: tuple[CommonTable, ...]) -> Any:
        def replaced(each: exp.Expr) -> exp.Expr:
            if isinstance(each, NestedQuery):
                return NestedQuery(query=self.replaced(each.query, tables))
            return each

        return node.transform(replaced)

    def _source(self, source: Source, tables: tuple[CommonTable, ...]) -> Source:
        if source.on is not None:
            source = replace(source, on=self._expression(source.on, tables))
        if source.joined:
            joined = tuple(self._source(each, tables) for each in source.joined)
            return replace(source, joined=joined)
        if source.query is None and any(_is(source.stream, table.name) for table in tables):
            return source
        query = source.query
        if query is None and (view := self._catalog.view(source.stream)) is not None:
            query = view.query
        if query is not None and source.window.written:
            return self._answers(source, query, tables)
        if query is not None:
            return replace(source, stream="", query=self.replaced(query, tables))
        table = self._catalog.table(source.stream)
        if table is not None:
            return self._table(source, table.name)
        schema = self._catalog.stream(source.stream)
        held = _HeldWindow(_name(), schema.name, source.window, schema.time)
        return self._held(source, held)

    def _answers(self, source: Source, query: QueryText, tables: tuple[CommonTable, ...]) -> Source:
        assert not isinstance(query, ValuesList)
        whole = replace(query, common_tables=(*tables, *query.common_tables))
        inner = SqlOracle(whole, self._catalog)
        held = _HeldWindow(_name(), "", source.window, "at", inner)
        return self._held(replace(source, query=None), held)

    def _table(self, source: Source, table: str) -> Source:
        held = _HeldTable(_name(), table, source.as_of is not None)
        if source.as_of is not None:
            time = exp.Anonymous(this="epoch_us", expressions=[source.as_of.copy()])
            bounds = [exp.column(name, table=source.alias) for name in (FROM, TO)]
            during = [exp.GTE(this=time, expression=bounds[0])]
            during.append(exp.LT(this=time.copy(), expression=bounds[1]))
            source = replace(source, as_of=None, on=exp.and_(source.on, *during))
        return self._held(source, held)

    def _held(self, source: Source, held: _HeldWindow | _HeldTable) -> Source:
        self.found.append(held)
        return replace(source, stream=held.name, window=_NO_WINDOW)


def _name() -> str:
    return f"window_{next(_NUMBERS)}"


def _is(one: str, other: str) -> bool:
    return one.lower() == other.lower()


def _all_columns(query: Select | SetQuery) -> Iterable[Ordering]:
    """Whole rows decide where the keys of a LIMIT are equal."""
    first: QueryText = query
    while isinstance(first, SetQuery):
        first = first.left
    assert isinstance(first, Select)
    has_star = any(
        item.expression.find(exp.Star) and not item.expression.find(exp.Count)
        for item in first.items
    )
    assert not has_star, "name the columns of a query with LIMIT"
    for place in range(len(first.items)):
        yield Ordering(exp.Literal.number(place + 1), nulls_first=True)
