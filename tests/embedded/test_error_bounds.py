"""Answers of queries with ERROR whose window is narrower than asked: level and bound hold."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from support.oracle import Oracle, same_value
from support.relative_errors import relative_error
from support.runners import BEGINNING, Model, grouped
from support.streams import (
    STREAMS,
    TICK_US,
    Action,
    Heartbeat,
    Push,
    batch_of,
    instant,
    plan_of,
    scenarios,
)
from windrow.embedded.query import EmbeddedQuery
from windrow.embedded.session import EmbeddedSession
from windrow.errors import DataError
from windrow.rows.prepare import lifetime_of

AGGREGATES = (
    *("COUNT(*)", "COUNT(d)", "SUM(d)", "AVG(d)", "MIN(d)", "MAX(k)", "SUM(k)", "AVG(k)"),
    *(
        "STDDEV(d)",
        "VAR_POP(k)",
        "STDDEV_POP(k)",
        "SUM(p)",
        "MAX(f)",
        "COUNT(s)",
        "COUNT_IF(d > 0)",
    ),
)
WINDOWS = ("5 SECONDS", "3 SECONDS", "RANGE 4 SECONDS SLIDE 1 SECOND")
Change = tuple[int, int, int]


@st.composite
def texts(draw: st.DrawFn) -> str:
    chosen = draw(st.lists(st.sampled_from(AGGREGATES), min_size=1, max_size=2, unique=True))
    groups = draw(st.sampled_from([[], [], ["k"], ["s"], ["k", "o"]]))
    items = [*groups, *(f"{item} AS c{number}" for number, item in enumerate(chosen))]
    where = draw(st.sampled_from(["", "", " WHERE d > 0.2 OR d IS NULL"]))
    group = f" GROUP BY {', '.join(groups)}" if groups else ""
    every = draw(st.sampled_from(["", " EVERY (1 SECOND)"]))
    window = draw(st.sampled_from(WINDOWS))
    return f"SELECT {', '.join(items)} FROM a [{window}]{where}{group} ERROR (10%){every}"


changes = st.dictionaries(
    st.integers(0, 12), st.tuples(st.integers(0, 9), st.sampled_from([0, 0, 2]), st.integers(0, 3))
)


def changed(query: EmbeddedQuery, width: int, growth: int, rest: int) -> None:
    """Narrow the window, or let it take turns."""
    window = query.plan.inputs[0].window
    full = lifetime_of(window)
    if window.kind == "slide":
        length = min(window.length_us, max(1, width // 2) * window.slide_us)
        query.change_lifetime(0, full.narrowed(length, query.clock))
        return
    narrow = min(window.length_us, width * TICK_US)
    lifetime = full.narrowed(narrow, query.clock)
    fits = narrow + growth * TICK_US <= window.length_us
    if growth and fits and query.plan.every_us and query.clock > BEGINNING:
        period = (growth + rest) * TICK_US
        lifetime = lifetime.turning(query.clock + TICK_US, period, growth * TICK_US)
    query.change_lifetime(0, lifetime)


def play(text: str, actions: list[Action], after: Callable[[EmbeddedQuery, int], None]) -> None:
    """Run a query, and compare each of its answers with the truth over all rows."""
    plan = plan_of(text)
    session = EmbeddedSession("1 GB")
    session.stream("a", STREAMS["a"].arrow, time="ts", lateness="2 seconds")
    query, model, oracle = session.query(text), Model(), Oracle(plan)
    found = []
    for number, action in enumerate([*actions, None]):
        if action is None:
            session.finish()
        elif isinstance(action, Heartbeat):
            model.take(action)
            session.advance("a", to=action.to_us)
        else:
            model.take(action)
            session.push("a", batch_of("a", action.rows))
        after(query, number)
        if number % 3 == 0 or action is None:
            found += query.answers().to_pylist()
    rows = model.rows()
    names = [column.name for column in plan.select]
    groups = [name for name in names if not name.startswith("c")]
    for row in found:
        at = (row["at"] - instant(0)) // timedelta(microseconds=1)
        truth = grouped([(at, *each) for each in oracle.answer_at(rows, at)])[at]
        _judge(row, [dict(zip(names, each, strict=True)) for each in truth], groups)


def _judge(row: dict[str, object], truth: list[dict[str, object]], groups: list[str]) -> None:
    own = [each for each in truth if all(same_value(each[g], row[g]) for g in groups)]
    assert len(own) == 1, f"{row} is of a group that has no rows"
    errors = [relative_error(row[name], own[0][name]) for name in own[0] if name not in groups]
    if row["level"] == "A":
        assert row["error_bound"] is None
        assert max(errors, default=0) <= 1e-12, (row, own)
    else:
        bound = row["error_bound"]
        assert isinstance(bound, float)
        assert max(errors, default=0) <= bound * (1 + 1e-9), (row, own)


@given(texts(), scenarios(streams="a"), changes)
def test_bounds_hold_whatever_the_width(
    text: str, actions: list[Action], wanted: dict[int, Change]
) -> None:
    def after(query: EmbeddedQuery, number: int) -> None:
        if number in wanted:
            changed(query, *wanted[number])

    try:
        play(text, actions, after)
    except DataError as refused:
        if refused.code not in ("WD302", "WD304"):
            raise


def ramp(count: int) -> list[Action]:
    return [
        Push("a", ({"ts": instant(n * 500_000), "k": n % 5, "d": float(n)},)) for n in range(count)
    ]


def test_a_narrow_window_says_how_narrow() -> None:
    session = EmbeddedSession("1 GB")
    session.stream("a", STREAMS["a"].arrow, time="ts")
    query = session.query("SELECT COUNT(*) AS n FROM a [10 SECONDS] ERROR (50%) EVERY (5 SECONDS)")
    for action in ramp(61):
        session.push("a", batch_of("a", action.rows))  # type: ignore[union-attr]
        if query.clock == 15_000_000 - 1:
            query.change_lifetime(
                0, lifetime_of(query.plan.inputs[0].window).narrowed(6_000_000, query.clock)
            )
    session.advance("a", to=30_000_000)
    told = [
        (row["at"].second, row["level"], row["n"], row["error_bound"])
        for row in query.answers().to_pylist()
    ]
    exact = [(0, "A", 1, None), (5, "A", 11, None), (10, "A", 21, None)]
    assert told[:3] == exact
    # 13 of 21 rows are held: at most 8 are lacking, and two panes are cut.
    assert [each[:3] for each in told[3:]] == [(s, "B", 13) for s in (15, 20, 25)] + [(30, "B", 13)]
    assert all(8 / 21 <= each[3] <= 10 / 23 for each in told[3:])


def test_turns_answer_at_their_ends() -> None:
    session = EmbeddedSession("1 GB")
    session.stream("a", STREAMS["a"].arrow, time="ts")
    query = session.query("SELECT COUNT(*) AS n FROM a [10 SECONDS] ERROR (10%) EVERY (5 SECONDS)")
    narrow = lifetime_of(query.plan.inputs[0].window).narrowed(7_000_000, 0)
    for number, action in enumerate(ramp(81)):
        session.push("a", batch_of("a", action.rows))  # type: ignore[union-attr]
        if number == 30:
            query.change_lifetime(0, narrow.turning(16_000_000, 5_000_000, 3_000_000))
    session.advance("a", to=40_000_000)
    told = [
        (row["at"].second, row["level"], row["n"], row["error_bound"])
        for row in query.answers().to_pylist()
    ]
    # At the end of a turn the window has its whole range again: an exact answer, at another time.
    # Before the first turn it answers once more, so that nobody waits longer than EVERY.
    assert told == [
        *[(0, "A", 1, None), (5, "A", 11, None), (10, "A", 21, None), (14, "A", 20, None)],
        *[(second, "C", 21, 0.0) for second in (19, 24, 29, 34, 39)],
    ]
    assert query.result().to_pylist() == [{"n": 15}]
