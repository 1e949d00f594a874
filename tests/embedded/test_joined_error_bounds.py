"""Joins with ERROR whose windows are narrower than asked: every answer is within its bound."""

from __future__ import annotations

import math
from datetime import timedelta

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.oracle import Oracle, same_value
from support.relative_errors import relative_error
from support.runners import Model, grouped
from support.streams import (
    STREAMS,
    TICK_US,
    Action,
    Heartbeat,
    batch_of,
    instant,
    plan_of,
    scenarios,
)
from windrow.embedded.query import EmbeddedQuery
from windrow.embedded.session import EmbeddedSession
from windrow.errors import DataError
from windrow.governor.error_bounds.arrival_cells import first_pane_us
from windrow.rows.prepare import lifetime_of

AGGREGATES = (
    *("COUNT(*)", "COUNT(a.d)", "SUM(a.d)", "AVG(b.d)", "MIN(a.d)", "MAX(b.k)", "SUM(a.k)"),
    *("STDDEV(a.d)", "VAR_POP(b.k)", "SUM(b.p)", "AVG(a.k)", "COUNT_IF(b.d > 0)"),
)
JOINS = (
    "a [5 SECONDS] JOIN b [3 SECONDS] ON a.k = b.k",
    "a [4 SECONDS] JOIN b [5 SECONDS] ON a.k = b.k AND a.s = b.s",
    "a [RANGE 4 SECONDS SLIDE 1 SECOND] JOIN b [3 SECONDS] ON a.k = b.k",
    "a [4 SECONDS] JOIN b [3 SECONDS] ON a.k = b.k JOIN c [5 SECONDS] ON b.l = c.l",
    "a [4 SECONDS] JOIN b [3 SECONDS] ON a.k = b.k JOIN c [5 SECONDS] ON a.k = c.k",
    "a [5 SECONDS] JOIN a [2 SECONDS] AS b ON a.k = b.k",
)


@st.composite
def texts(draw: st.DrawFn) -> str:
    chosen = draw(st.lists(st.sampled_from(AGGREGATES), min_size=1, max_size=2, unique=True))
    groups = draw(st.sampled_from([[], ["a.k AS g0"], ["b.o AS g0"], ["a.s AS g0", "b.o AS g1"]]))
    items = [*groups, *(f"{item} AS c{number}" for number, item in enumerate(chosen))]
    where = draw(st.sampled_from(["", "", " WHERE a.d > 0.2 OR a.d IS NULL"]))
    group = f" GROUP BY {', '.join(each.split()[0] for each in groups)}" if groups else ""
    every = draw(st.sampled_from(["", " EVERY (1 SECOND)"]))
    join = draw(st.sampled_from(JOINS))
    return f"SELECT {', '.join(items)} FROM {join}{where}{group} ERROR (10%){every}"


# After which action which windows become how wide, in ticks.
changes = st.dictionaries(
    st.integers(0, 10), st.tuples(st.integers(0, 2), st.integers(0, 10)), max_size=5
)


def changed(query: EmbeddedQuery, input_index: int, width: int) -> None:
    """Another width for one of the windows."""
    number = input_index % len(query.plan.inputs)
    window = query.plan.inputs[number].window
    length = min(window.length_us, width * TICK_US)
    if window.kind == "slide":
        length = max(window.slide_us, length - length % window.slide_us)
    query.change_lifetime(number, lifetime_of(window).narrowed(length, query.clock))


@given(texts(), scenarios(streams="abc"), changes)
def test_bounds_hold_whatever_the_widths(
    text: str, actions: list[Action], wanted: dict[int, tuple[int, int]]
) -> None:
    plan = plan_of(text)
    session = EmbeddedSession("1 GB")
    for name, stream in STREAMS.items():
        session.stream(name, stream.arrow, time="ts", lateness=stream.lateness_us / 1e6)
    query, model, oracle = session.query(text), Model(), Oracle(plan)
    found = []
    try:
        for number, action in enumerate([*actions, None]):
            if action is None:
                session.finish()
            elif isinstance(action, Heartbeat):
                model.take(action)
                session.advance(action.stream, to=action.to_us)
            else:
                model.take(action)
                session.push(action.stream, batch_of(action.stream, action.rows))
            if number in wanted:
                changed(query, *wanted[number])
            if number % 3 == 0 or action is None:
                found += query.answers().to_pylist()
    except DataError as refused:
        if refused.code not in ("WD302", "WD304"):
            raise
        return
    _judge_all(oracle, model, found)


def _judge_all(oracle: Oracle, model: Model, found: list[dict[str, object]]) -> None:
    names = [column.name for column in oracle.plan.select]
    groups = [name for name in names if name.startswith("g")]
    instants = [(row["at"] - instant(0)) // timedelta(microseconds=1) for row in found]  # type: ignore[operator]
    answers = oracle.answers(model.rows(), instants)
    for row, at in zip(found, instants, strict=True):
        truth = grouped([(at, *each) for each in answers[at]]).get(at, [])
        told = [dict(zip(names, each, strict=True)) for each in truth]
        own = [each for each in told if all(same_value(each[g], row[g]) for g in groups)]
        bound = row["error_bound"]
        if not own:
            assert bound == math.inf, f"{row} is of a group that has no rows"
            continue
        error = max(relative_error(row[n], own[0][n]) for n in names if n not in groups)
        if row["level"] == "A":
            assert bound is None
            assert error <= 1e-12, (row, own)
        else:
            assert isinstance(bound, float)
            assert error <= bound * (1 + 1e-9), (row, own)
    for at in set(instants):
        told_groups = sum(each == at for each in instants)
        assert told_groups >= len(answers[at]), "a group with rows has no answer"


def test_a_narrowed_join_is_exact_where_no_edge_cuts_a_pane() -> None:
    text = "SELECT COUNT(*) AS n, SUM(a.l) AS s FROM a [10 SECONDS] JOIN b [6 SECONDS] ON a.k = b.k"
    session = EmbeddedSession("1 GB")
    for name in ("a", "b"):
        session.stream(name, STREAMS[name].arrow, time="ts")
    query = session.query(f"{text} ERROR (5%) EVERY (2 SECONDS)")
    exact = session.query(f"{text} EVERY (2 SECONDS)")
    random = np.random.default_rng(5)
    for second in range(40):
        for name in ("a", "b"):
            rows = [
                {"ts": instant(second * 1_000_000 + int(at)), "k": int(k), "l": int(k) - 1}
                for at, k in zip(
                    np.sort(random.integers(0, 1_000_000, 5)), random.integers(0, 3, 5), strict=True
                )
            ]
            session.push(name, batch_of(name, tuple(rows)))
        if second == 15:
            for number in (0, 1):
                changed(query, number, 1)
    mine, theirs = query.answers(), exact.answers()
    assert mine.select(["at", "n", "s"]).equals(theirs.select(["at", "n", "s"]))
    assert set(mine["level"].to_pylist()) == {"A", "B"}
    assert set(mine["error_bound"].to_pylist()) == {None, 0.0}
    assert query.windows[0].row_count < exact.windows[0].row_count
    held = {row["queries"][0]: row["cells"] for row in session.windows().to_pylist()}
    assert sum(held.values()) > 0, held
    assert "coarse tail of a:" in query.explain()


@pytest.mark.parametrize(
    ("range_us", "every_us"), [(3_600, 300), (100, 7), (1_000_000, 1_000_000), (999, None)]
)
def test_panes_divide_what_ticks_are_made_of(range_us: int, every_us: int | None) -> None:
    width = first_pane_us(range_us, every_us)
    assert width >= 1
    assert -(-range_us // width) <= 512
    if every_us and math.gcd(range_us, every_us) * 512 >= range_us:
        assert range_us % width == every_us % width == 0


def test_rows_pass_into_cells_and_back_under_a_budget() -> None:
    """A session that is short of memory narrows a join with ERROR, and answers within it."""
    session = EmbeddedSession("400 KB")
    for name in ("a", "b"):
        session.stream(name, pa.schema([("ts", pa.timestamp("us")), ("k", pa.int64())]), time="ts")
    text = "SELECT COUNT(*) AS n FROM a [60 SECONDS] JOIN b [60 SECONDS] ON a.k = b.k"
    query = session.query(f"{text} ERROR (10%) EVERY (5 SECONDS)")
    random, keys = np.random.default_rng(3), {"a": [], "b": []}
    times: dict[str, list[int]] = {"a": [], "b": []}
    for second in range(200):
        rate = 250 if 60 <= second < 130 else 20
        for name in ("a", "b"):
            at = np.sort(random.integers(second * 1_000_000, (second + 1) * 1_000_000, rate))
            k = random.integers(0, 10, rate)
            times[name] += at.tolist()
            keys[name] += k.tolist()  # type: ignore[attr-defined]
            session.push(name, pa.table({"ts": pa.array(at).cast(pa.timestamp("us")), "k": k}))
    found = query.answers().to_pylist()
    assert {row["level"] for row in found} == {"A", "B"}
    assert found[-1]["level"] == "A"
    for row in found:
        at = (row["at"] - instant(0)) // timedelta(microseconds=1)
        counts = []
        for name in ("a", "b"):
            inside = [at - 60_000_000 <= t <= at for t in times[name]]
            chosen = np.array(keys[name])[inside]
            counts.append(np.bincount(chosen, minlength=10))
        exact = int((counts[0] * counts[1]).sum())
        bound = row["error_bound"] or 0.0
        assert relative_error(row["n"], exact) <= bound * (1 + 1e-9) <= 0.1
