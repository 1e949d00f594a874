"""Questions about the past of stream a, and what is true of them: DuckDB over all rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

import windrow
from support.oracle import Oracle, order_of, rows_of, same_value
from support.runners import Model
from support.streams import STREAMS, TICK_US, Action, Heartbeat, batch_of, plan_of
from windrow.embedded import EmbeddedSession
from windrow.event_time import show_instant

MEASURES = ("k", "l", "d", "f", "p")
KEYS = ("s", "o", "y")
LEVELS = (
    [("1 second", "forever")],
    [("1 second", "5 seconds"), ("5 seconds", None)],
    [("500 milliseconds", "2 seconds"), ("2 seconds", "6 seconds"), ("6 seconds", "12 seconds")],
    [("2 seconds", 0), ("8 seconds", 8)],
)
ITEMS = (
    *("COUNT(*)", "COUNT(d)", "COUNT(p)", "SUM(k)", "SUM(p)", "AVG(k)", "AVG(l)", "AVG(p)"),
    *("MIN(k)", "MAX(k)", "MIN(d)", "MAX(d)", "MIN(l)", "MAX(p)", "MAX(f)", "VAR_POP(k)"),
    *("STDDEV(k)", "SUM(k) + 1", "SUM(k) * 2 - COUNT(*)", "SUM(p) / COUNT(*)", "-MAX(k)"),
    *("TRY_MULTIPLY(SUM(k), SUM(k))", "TRY_DIVIDE(COUNT(*), COUNT(k) - 2)"),
    *("COALESCE(SUM(k), 0)", "ABS(SUM(k))"),
    *("ROUND(AVG(k), 1)", "CASE WHEN COUNT(*) > 2 THEN MAX(k) END", "SUM(k) / -3"),
    *("SQRT(SUM(k))", "CAST(SUM(k) AS DOUBLE) - 0.5"),
)
CONDITIONS = {
    "s": ("s <> 'x'", "LENGTH(s) < 5", "s IS NULL OR s > 'x'"),
    "o": ("o", "NOT o", "o IS NULL"),
    "y": ("y >= DATE '1970-01-01'", "y IS NULL", "y <> DATE '2024-02-29' OR y IS NULL"),
}
GROUPS = {"s": ("s", "LENGTH(s)"), "o": ("o",), "y": ("y", "y > DATE '1970-01-01'")}


@dataclass(frozen=True)
class Question:
    """The parts of a question; until None is NOW."""

    items: tuple[str, ...]
    groups: tuple[str, ...]
    where: str | None
    since_us: int
    until_us: int | None
    at: str | None = None
    having: str | None = None

    def text(self, source: str) -> str:
        """The question over a source."""
        shown = [f"{part} AS g{i}" for i, part in enumerate(self.groups)]
        shown += [f"{item} AS c{i}" for i, item in enumerate(self.items)]
        where = f" WHERE {self.where}" if self.where else ""
        groups = f" GROUP BY {', '.join(self.groups)}" if self.groups else ""
        having = f" HAVING {self.having}" if self.having else ""
        return f"SELECT {', '.join(shown)} FROM {source}{where}{groups}{having}"

    @property
    def of_history(self) -> str:
        """The question as it is asked."""
        until = "NOW" if self.until_us is None else f"'{show_instant(self.until_us)}'"
        at = f" AT {self.at}" if self.at else ""
        return self.text(f"HISTORY(a) [FROM '{show_instant(self.since_us)}' TO {until}{at}]")

    def truth(self, rows: pa.Table, until_us: int) -> list[tuple[object, ...]]:
        """The answer from the rows of the interval."""
        times = rows.column("ts").cast(pa.int64()).to_pylist()
        inside = pa.array([self.since_us <= each < until_us for each in times], pa.bool_())
        plan = plan_of(self.text("a [UNBOUNDED]"))
        return Oracle(plan).answer_at({"a": rows.filter(inside)}, 2**60)


@st.composite
def questions(
    draw: st.DrawFn, actions: list[Action], keys: tuple[str, ...], *, now: bool = False
) -> Question:
    """Questions about intervals near the rows, for histories that are kept by the keys."""
    times = [0]
    for action in actions:
        if isinstance(action, Heartbeat):
            times.append(action.to_us)
        else:
            times += [round(row["ts"].timestamp() * 1e6) for row in action.rows]
    since, until = sorted(
        draw(st.sampled_from(times)) // 500_000 * 500_000
        + draw(st.sampled_from([0, 0, 0, 1, -1, 2, 7, -9])) * TICK_US
        + draw(st.sampled_from([0, 0, 0, 1, -1, 170_000]))
        for _ in range(2)
    )
    chosen = [key for key in keys if draw(st.booleans())]
    where = draw(st.sampled_from([None, *(text for key in keys for text in CONDITIONS[key])]))
    items = draw(st.lists(st.sampled_from(ITEMS), min_size=1, max_size=3, unique=True))
    to_now = now or draw(st.integers(0, 2)) == 0
    return Question(
        ("COUNT(*)", *(item for item in items if item != "COUNT(*)")),
        tuple(draw(st.sampled_from(GROUPS[key])) for key in chosen),
        where,
        since,
        None if to_now else max(until, since + 1),
    )


def session_of(memory: str = "64 MB") -> EmbeddedSession:
    session = windrow.connect(memory=memory)
    for stream in STREAMS.values():
        columns = {column.name: str(column.type) for column in stream.columns}
        session.stream(
            stream.name, columns, time="ts", lateness=f"{stream.lateness_us} microseconds"
        )
    return session


def give(session: EmbeddedSession, action: Action) -> None:
    if isinstance(action, Heartbeat):
        session.advance(action.stream, to=action.to_us)
    else:
        session.push(action.stream, batch_of(action.stream, action.rows))


def through_of(model: Model) -> int:
    """How far stream a is complete."""
    return model.streams["a"].through


def check(
    table: pa.Table, question: Question, until_us: int, rows: pa.Table, *, forgets: bool
) -> None:
    """What an answer says holds of all rows there ever were in its interval."""
    count = len(question.groups)
    truth = {_key(row[:count]): row for row in question.truth(rows, until_us)}
    rows_shown = [dict(zip(table.column_names, row, strict=True)) for row in rows_of(table)]
    shown = {_key([row[f"g{i}"] for i in range(count)]): row for row in rows_shown}
    if not forgets and table.num_rows and table["exact"][0].as_py():
        assert set(truth) <= set(shown), (truth, shown)
    for group, row in shown.items():
        true = truth.get(group)
        if row["exact"]:
            assert true is not None, (row, truth)
            found = [row[f"c{i}"] for i in range(len(question.items))]
            for value, right in zip(found, true[count:], strict=True):
                assert _same(value, right), (question, row, true)
        values = true[count:] if true is not None else [0, *([None] * (len(question.items) - 1))]
        for i, right in enumerate(values):
            check_bounds(row[f"c{i}"], row[f"c{i}_low"], row[f"c{i}_high"], right)


def check_bounds(value: Any, low: Any, high: Any, true: Any) -> None:
    """The true value and the one that is shown lie between the bounds."""
    for each in (true, value):
        if each is not None and low is not None:
            assert _at_most(low, each), (value, low, high, true)
        if each is not None and high is not None:
            assert _at_most(each, high), (value, low, high, true)


def _at_most(left: Any, right: Any) -> bool:
    return order_of(left) <= order_of(right) or _same(left, right)


def _same(left: Any, right: Any) -> bool:
    if isinstance(left, float) and isinstance(right, float) and math.isfinite(left + right):
        return math.isclose(left, right, rel_tol=1e-9, abs_tol=1e-9)
    return same_value(left, right)


def _key(values: Any) -> tuple[object, ...]:
    return tuple("NaN" if value != value else value for value in values)
