"""Hypothesis strategies: rows of streams in every bad order, their batches, and queries over them.

A scenario is a list of actions on two streams, a and b, or three, with c, whose columns cover the
types. Times are small numbers of ticks, so that ties, bursts and silence are the rule and windows
open and close all the time.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pyarrow as pa
from hypothesis import strategies as st

from windrow.plan.binder import bind
from windrow.plan.catalog import Catalog
from windrow.plan.model import QueryPlan
from windrow.schema import StreamSchema, columns_of
from windrow.sql import parse_query

SECOND_US = 1_000_000
TICK_US = 500_000
# Some streams begin before the epoch: roundings of negative times are easily wrong.
STARTS_US = (1_700_000_000 * SECOND_US, -7 * SECOND_US, 0)
LATENESS_US = 2 * SECOND_US

A = StreamSchema(
    "a",
    columns_of(
        "ts timestamp, k int, l bigint, s string, d double, f float, p decimal(10, 2), "
        "o boolean, y date"
    ),
    "ts",
    LATENESS_US,
)
B = StreamSchema(
    "b",
    columns_of(
        "ts timestamp, k bigint, l smallint, s string, d double, f double, p decimal(12, 3), "
        "o boolean, y date"
    ),
    "ts",
    0,
)
C = StreamSchema(
    "c",
    columns_of(
        "ts timestamp, k smallint, l bigint, s string, d double, f float, p decimal(6, 1), "
        "o boolean, y date, x int"
    ),
    "ts",
    SECOND_US,
)
STREAMS = {"a": A, "b": B, "c": C}
CATALOG = Catalog(A, B, C)


@dataclass(frozen=True)
class Push:
    """Rows given to a stream, in order of arrival."""

    stream: str
    rows: tuple[dict[str, object], ...]


@dataclass(frozen=True)
class Heartbeat:
    """Event time of a stream moves on without rows."""

    stream: str
    to_us: int


Action = Push | Heartbeat


def plan_of(text: str, algorithm: str = "auto") -> QueryPlan:
    """The bound plan of a query over a, b and c."""
    return bind(parse_query(text), CATALOG, algorithm)


def instant(time_us: int) -> datetime:
    """A time as Python knows it."""
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=time_us)


def batch_of(stream: str, rows: tuple[dict[str, object], ...]) -> pa.RecordBatch:
    """Rows as a batch of the stream's schema."""
    columns = [
        pa.array([row.get(column.name) for row in rows], column.type.arrow)
        for column in STREAMS[stream].columns
    ]
    return pa.RecordBatch.from_arrays(columns, schema=STREAMS[stream].arrow)


# ---- values

small_keys = st.sampled_from([0, 0, 0, 1, 1, 2, 3, None])
texts = st.sampled_from(["", "x", "x", "y", "é", "日本", "a'b", "z" * 300, None])
everyday_doubles = st.sampled_from([0.0, -0.0, 1.0, 0.5, -2.25, 0.1, 0.3, 3.0, None])
wild_doubles = st.sampled_from(
    [math.nan, math.inf, -math.inf, 1e16, -1e16, 1e300, -1e300, 5e-324, -2.5e-310, 1e308, 0.1, 1.0]
)
doubles = st.one_of(everyday_doubles, everyday_doubles, wild_doubles)
singles = st.sampled_from([0.0, -0.0, 1.5, -2.25, math.nan, math.inf, None])
long_integers = st.one_of(
    small_keys, st.sampled_from([2**31, -(2**40), 2**62, -(2**62), 2**61, -(2**63), 2**63 - 1])
)
dates = st.sampled_from([date(1970, 1, 1), date(1969, 12, 31), date(2024, 2, 29), None])


def decimals(precision: int, scale: int) -> st.SearchStrategy[Decimal | None]:
    """Decimals of a type, its extremes among them."""
    top = 10**precision - 1
    unscaled = st.sampled_from([0, 1, -1, 5, 10**scale, top, -top])
    return st.none() | unscaled.map(lambda number: Decimal(number).scaleb(-scale))


ROWS = {
    "a": st.fixed_dictionaries(
        {
            "k": small_keys,
            "l": long_integers,
            "s": texts,
            "d": doubles,
            "f": singles,
            "p": decimals(10, 2),
            "o": st.sampled_from([True, False, None]),
            "y": dates,
        }
    ),
    "b": st.fixed_dictionaries(
        {
            "k": small_keys | st.just(2**40),
            "l": small_keys | st.sampled_from([32_767, -32_768]),
            "s": texts,
            "d": doubles,
            "f": singles,
            "p": decimals(12, 3),
            "o": st.sampled_from([True, False, None]),
            "y": dates,
        }
    ),
    "c": st.fixed_dictionaries(
        {
            "k": small_keys,
            "l": long_integers,
            "s": texts,
            "d": doubles,
            "f": singles,
            "p": decimals(6, 1),
            "o": st.sampled_from([True, False, None]),
            "y": dates,
            "x": small_keys,
        }
    ),
}

# ---- actions

steps = st.sampled_from([0, 0, 0, 1, 1, 2, 3, 9])  # ticks from one row to the next
shifts = st.sampled_from([0, 0, 0, 0, -1, -2, -4, -12])  # ticks by which a row comes too late
jitters = st.sampled_from([0, 0, 0, 1, -1])  # microseconds beside the tick


@st.composite
def scenarios(draw: st.DrawFn, most_rows: int = 24, streams: str = "aab") -> list[Action]:
    """Pushes to streams, heartbeats in between; some rows late, some batches empty."""
    now_us = draw(st.sampled_from(STARTS_US))
    actions: list[Action] = []
    left = draw(st.integers(0, most_rows))
    while left > 0:
        stream = draw(st.sampled_from(streams))
        count = min(left, draw(st.sampled_from([0, 1, 1, 2, 3, 5])))
        rows = []
        for _ in range(count):
            now_us += draw(steps) * TICK_US
            time_us = now_us + draw(shifts) * TICK_US + draw(jitters)
            rows.append({"ts": instant(time_us), **draw(ROWS[stream])})
        actions.append(Push(stream, tuple(rows)))
        left -= max(count, 1)
        if draw(st.integers(0, 7)) == 0:
            ahead = draw(st.sampled_from([0, 1, 5])) * TICK_US
            actions.append(Heartbeat(draw(st.sampled_from(sorted(set(streams)))), now_us + ahead))
    return judged_alike(actions)


def judged_alike(actions: list[Action]) -> list[Action]:
    """Without rows that would be late only if rows of their own push had been pushed before.

    So it does not matter how the rest is cut into pushes.
    """
    through = dict.fromkeys(STREAMS, -(2**61))
    kept: list[Action] = []
    for action in actions:
        before = within = through[action.stream]
        if isinstance(action, Heartbeat):
            kept.append(action)
            within = max(within, action.to_us)
        else:
            rows = []
            for row in action.rows:
                time_us = (row["ts"] - instant(0)) // timedelta(microseconds=1)
                if time_us <= before or time_us > within:
                    rows.append(row)
                within = max(within, time_us - STREAMS[action.stream].lateness_us - 1)
            kept.append(Push(action.stream, tuple(rows)))
        through[action.stream] = within
    return kept


@st.composite
def split(draw: st.DrawFn, actions: list[Action]) -> list[Action]:
    """The same rows in the same order, cut into other batches."""
    out: list[Action] = []
    for action in actions:
        if isinstance(action, Heartbeat):
            out.append(action)
            continue
        rows = action.rows
        while rows:
            size = draw(st.integers(1, len(rows)))
            out.append(Push(action.stream, rows[:size]))
            rows = rows[size:]
    return out


# ---- queries

SPANS = ("1 SECOND", "2 SECONDS", "3 SECONDS", "5 SECONDS", "1 MICROSECOND", "500 MILLISECONDS")
SLIDES = ("RANGE 2 SECONDS SLIDE 1 SECOND", "RANGE 3 SECONDS SLIDE 3 SECONDS")
CLOSING_WINDOWS = (
    *(
        "TUMBLE 2 SECONDS",
        "HOP 3 SECONDS BY 2 SECONDS OFFSET 1 SECOND",
        "HOP 2 SECONDS BY 1 SECOND",
    ),
    *("CUMULATE 3 SECONDS BY 1 SECOND", "NOW"),
)
COUNTED = (
    "ROWS 1",
    "ROWS 3",
    "PARTITION BY k ROWS 1",
    "PARTITION BY s ROWS 2",
    "PARTITION BY d, o ROWS 2",
)
windows = st.sampled_from([*SPANS, *SPANS, *SLIDES, *SLIDES, *CLOSING_WINDOWS, *COUNTED])


def moves_in_steps(text: str) -> bool:
    """Whether a window in the text changes at its steps only: EVERY must not be finer."""
    return any(word in text for word in ("SLIDE", "TUMBLE", "HOP", "CUMULATE"))


CONDITIONS = (
    "{0}.d > 0.2",
    "{0}.k IN (0, 1)",
    "{0}.s <> 'x'",
    "{0}.o",
    "({0}.l % 2 = 0 OR {0}.d IS NULL)",
    "{0}.y >= DATE '1970-01-01'",
    "{0}.p < 1 AND NOT {0}.o",
    "TRY_DIVIDE({0}.k, {0}.l) < 3",
    "{0}.ts > TIMESTAMP '1970-01-01 00:00:00'",
)
GROUPS = (
    *("{0}.k", "{0}.s", "{0}.d", "{0}.p", "{0}.o", "{0}.y", "{0}.l", "{0}.f", "{0}.ts"),
    *("{0}.k % 2", "{0}.d * 2", "LENGTH({0}.s)", "COALESCE({0}.s, 'none')", "{0}.d > 1"),
)
AGGREGATES = (
    *("COUNT(*)", "COUNT({0}.d)", "COUNT({0}.s)", "SUM({0}.k)", "SUM({0}.d)", "AVG({0}.d)"),
    *("SUM({0}.p)", "AVG({0}.p)", "SUM({0}.l)", "AVG({0}.l)", "SUM({0}.f)", "SUM({0}.d * {0}.k)"),
    *("COUNT({0}.o)", "SUM({0}.k + 1)", "SUM(CASE WHEN {0}.o THEN 1 ELSE 0 END)", "AVG({0}.k)"),
    *("COUNT_IF({0}.o)", "COUNT_IF({0}.d > 1)", "SUM(SIGN({0}.d))"),
)
AROUND = (
    *("{0}", "{0}", "{0}", "{0} * 2", "TRY_DIVIDE({0}, COUNT(*))", "COALESCE({0}, 0)"),
    *("CASE WHEN COUNT(*) > 2 THEN {0} END", "ABS({0})"),
)
HAVINGS = ("COUNT(*) > 1", "COUNT(*) % 2 = 1", "{0} IS NOT NULL", "{0} > 1 OR COUNT(*) = 1")
KEYS = ("k", "s", "d", "l", "p", "y", "o", "f")
EVERY = (None, None, None, "1 SECOND", "1500 MILLISECONDS", "4 SECONDS")


@st.composite
def single_queries(draw: st.DrawFn) -> str:
    """An aggregate over one window."""
    window = draw(windows | st.just("UNBOUNDED"))
    return _query(draw, f"a [{window}]", [], ["a"], "a")


@st.composite
def joins(draw: st.DrawFn) -> str:
    """An aggregate over a join of two windows, a self-join among them."""
    left, right = draw(windows), draw(windows)
    names = ["a", "b"] if draw(st.integers(0, 3)) else ["x", "y"]
    sources = [
        f"{'a' if name in 'ax' else 'b'} [{w}]"
        for name, w in zip(names, (left, right), strict=True)
    ]
    if names == ["x", "y"]:
        sources = [f"a [{left}] AS x", f"a [{right}] AS y"]
    keys = draw(st.lists(st.sampled_from(KEYS), min_size=1, max_size=2, unique=True))
    equal = [f"{names[0]}.{key} = {names[1]}.{key}" for key in keys]
    grouped = draw(st.sampled_from(["key", "some", "some"]))
    by_key = [f"{draw(st.sampled_from(names))}.{key}" for key in keys]
    return _query(
        draw, ", ".join(sources), equal, names, names[0], by_key if grouped == "key" else None
    )


@st.composite
def selects(draw: st.DrawFn) -> str:
    """Rows of one window."""
    window = draw(windows | st.just("UNBOUNDED"))
    items = draw(st.lists(st.sampled_from(GROUPS), min_size=1, max_size=3, unique=True))
    shown = ", ".join(f"{item.format('a')} AS c{i}" for i, item in enumerate(items))
    return f"SELECT {shown} FROM a [{window}]" + _where(draw, [], ["a"]) + _every(draw, window)


queries = st.one_of(single_queries(), joins(), joins(), joins(), selects())


def _query(
    draw: st.DrawFn,
    sources: str,
    conditions: list[str],
    names: list[str],
    first: str,
    groups: list[str] | None = None,
) -> str:
    def part(choices: tuple[str, ...]) -> str:
        return draw(st.sampled_from(choices)).format(draw(st.sampled_from(names)))

    if groups is None:
        groups = [part(GROUPS) for _ in range(draw(st.sampled_from([0, 1, 1, 2, 2, 3])))]
        if draw(st.integers(0, 9)) == 0:
            groups.append("'constant'")
    groups = list(dict.fromkeys(groups))
    items = [
        draw(st.sampled_from(AROUND)).format(part(AGGREGATES))
        for _ in range(draw(st.integers(1, 3)))
    ]
    shown = groups[: draw(st.integers(0, len(groups)))] if draw(st.integers(0, 4)) == 0 else groups
    select = ", ".join(f"{item} AS c{i}" for i, item in enumerate([*shown, *items]))
    text = f"SELECT {select} FROM {sources}" + _where(draw, conditions, names)
    if groups:
        text += f" GROUP BY {', '.join(groups)}"
    if draw(st.integers(0, 2)) == 0:
        text += f" HAVING {draw(st.sampled_from(HAVINGS)).format(f'SUM({first}.k)')}"
    return text + _every(draw, sources)


def _where(draw: st.DrawFn, conditions: list[str], names: list[str]) -> str:
    limited = [name for name in names if draw(st.integers(0, 2)) == 0]
    found = [*conditions, *(draw(st.sampled_from(CONDITIONS)).format(name) for name in limited)]
    return f" WHERE {' AND '.join(found)}" if found else ""


def _every(draw: st.DrawFn, sources: str) -> str:
    # EVERY must not be finer than the step of a window.
    every = draw(st.sampled_from(EVERY))
    if every is None:
        return ""
    return f" EVERY ({'3 SECONDS' if moves_in_steps(sources) else every})"
