"""Answers from narrowed windows that a history completes: nearly exact, and within bounds."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.oracle import Oracle, same_value
from support.relative_errors import relative_error
from support.runners import Model
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
from windrow.embedded.session import EmbeddedSession
from windrow.errors import DataError
from windrow.governor.bounded.fill_in import _added, reason_against_filling
from windrow.history.history import History
from windrow.history.spec import HistorySpec, levels_of
from windrow.rows.prepare import lifetime_of
from windrow.schema import Column

SECOND_US = 1_000_000
AGGREGATES = (
    *("COUNT(*)", "COUNT(d)", "SUM(k)", "AVG(k)", "MIN(k)", "MAX(k)", "STDDEV(k)", "VAR_POP(k)"),
    *("SUM(d)", "AVG(d)", "MIN(d)", "MAX(d)"),
)


def history_of(text: str, levels: list[tuple[int, int | None]]) -> History:
    plan = plan_of(text)
    schema = STREAMS["a"]
    measures = tuple(Column(name, schema.column(name).type) for name in ("k", "d"))
    keys = tuple(
        Column(part.column, part.type)  # type: ignore[union-attr]
        for part in plan.group_by
    )
    measures = tuple(each for each in measures if each.name not in {key.name for key in keys})
    return History(HistorySpec(levels_of(levels), measures, keys))


@st.composite
def texts(draw: st.DrawFn) -> str:
    chosen = draw(st.lists(st.sampled_from(AGGREGATES), min_size=1, max_size=2, unique=True))
    group = draw(st.sampled_from(["", "", "s"]))
    items = [*([group] if group else []), *(f"{each} AS c{i}" for i, each in enumerate(chosen))]
    by = f" GROUP BY {group}" if group else ""
    return f"SELECT {', '.join(items)} FROM a [5 SECONDS]{by} ERROR (10%)"


@given(
    texts(),
    scenarios(streams="a"),
    st.dictionaries(st.integers(0, 9), st.integers(0, 9)),
    st.sampled_from([[(SECOND_US, None)], [(TICK_US, 3 * SECOND_US), (3 * SECOND_US, None)]]),
)
def test_completed_answers_stay_within_their_bounds(
    text: str,
    actions: list[Action],
    widths: dict[int, int],
    levels: list[tuple[int, int | None]],
) -> None:
    plan, history, model = plan_of(text), history_of(text, levels), Model()
    session = EmbeddedSession("1 GB")
    session.stream("a", STREAMS["a"].arrow, time="ts", lateness="2 seconds")
    query = session.query(text)
    query.fill_from(history, -(2**61))
    found = []
    try:
        for number, action in enumerate([*actions, None]):
            applied = [] if action is None else list(model.take(action).values())
            for rows in applied:
                times = rows.column("ts").cast(pa.int64()).to_numpy()
                named = {name: rows.column(name) for name in rows.schema.names}
                history.insert(times, named)
            if action is None:
                session.finish()
            elif isinstance(action, Heartbeat):
                session.advance("a", to=action.to_us)
            else:
                session.push("a", batch_of("a", action.rows))
            if number in widths:
                narrow = min(5 * SECOND_US, widths[number] * TICK_US)
                full = lifetime_of(plan.inputs[0].window)
                query.change_lifetime(0, full.narrowed(narrow, query.clock))
            if number % 3 == 0 or action is None:
                found += query.answers().to_pylist()
    except DataError as refused:
        if refused.code not in ("WD302", "WD304"):
            raise
        return
    rows, oracle = model.rows(), Oracle(plan)
    names = [column.name for column in plan.select]
    for row in found:
        at = (row["at"] - instant(0)) // timedelta(microseconds=1)
        truth = [dict(zip(names, each, strict=True)) for each in oracle.answer_at(rows, at)]
        own = [each for each in truth if "s" not in each or same_value(each["s"], row["s"])]
        errors = [relative_error(row[n], own[0][n]) for n in own[0] if n != "s"]
        bound = row["error_bound"]
        assert max(errors) <= (1e-12 if bound is None else bound * (1 + 1e-9) + 1e-12), (row, own)


def test_at_node_borders_nothing_is_lost() -> None:
    text = (
        "SELECT COUNT(*) AS n, SUM(k) AS t, AVG(d) AS m FROM a [10 SECONDS] ERROR (90%) EVERY (1)"
    )
    history = history_of(text, [(SECOND_US, None)])
    sessions = [EmbeddedSession("1 GB") for _ in range(2)]
    queries = []
    for session in sessions:
        session.stream("a", STREAMS["a"].arrow, time="ts")
        queries.append(session.query(text))
    queries[0].fill_from(history, 0)
    generator = np.random.default_rng(4)
    for second in range(60):
        rows = tuple(
            {
                "ts": instant(second * SECOND_US + 50_000 * n + 1),
                "k": n,
                "d": generator.normal(9, 2),
            }
            for n in range(20)
        )
        batch = batch_of("a", rows)
        times = batch.column("ts").cast(pa.int64()).to_numpy()
        history.insert(times, {name: batch.column(name) for name in batch.schema.names})
        for query, session in zip(queries, sessions, strict=True):
            session.push("a", batch)
            if second == 30:
                full = lifetime_of(query.plan.inputs[0].window)
                query.change_lifetime(0, full.narrowed(3 * SECOND_US, query.clock))
    filled, plain = (query.answers().to_pylist()[35:] for query in queries)
    assert {row["level"] for row in filled} == {row["level"] for row in plain} == {"B"}
    assert all(row["n"] == 200 and row["t"] == 1900 for row in filled)
    assert all(row["error_bound"] <= 1e-12 for row in filled)
    assert all(row["n"] < 70 and row["error_bound"] > 0.6 for row in plain)
    assert queries[0].result().to_pylist()[0]["n"] == 200


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("SELECT COUNT(*) AS n FROM a [5] WHERE k > 1 ERROR (1%)", "WHERE"),
        ("SELECT k, COUNT(*) AS n FROM a [5] GROUP BY k HAVING COUNT(*) > 1 ERROR (1%)", "HAVING"),
        ("SELECT COUNT(*) AS n FROM a [RANGE 4 SLIDE 2] ERROR (1%)", "move with every row"),
        ("SELECT k, COUNT(*) AS n FROM a [5] GROUP BY k ERROR (1%)", "kept by s"),
        ("SELECT SUM(p) AS t FROM a [5] ERROR (1%)", "it keeps d, k"),
        ("SELECT SUM(d + 1) AS t FROM a [5] ERROR (1%)", "it keeps d, k"),
    ],
)
def test_what_a_history_cannot_complete(text: str, reason: str) -> None:
    spec = history_of("SELECT s, COUNT(*) FROM a [5] GROUP BY s", [(SECOND_US, None)]).spec
    found = reason_against_filling(plan_of(text), spec)
    assert found is not None
    assert reason in found


def test_a_sum_beyond_64_bits_is_not_completed() -> None:
    held, more = pa.array([2**62, None, 5, None]), pa.array([2**62, 7, 1, 0])
    may_lack = np.array([False, False, True, True])
    for kind in (pa.int64(), pa.decimal128(38, 0)):
        found = _added(held, [more.cast(kind)] * 3, may_lack)
        assert found.shown.to_pylist() == [None, 7, 6, 0]
        assert found.is_beyond.tolist() == [True, False, False, False]  # type: ignore[union-attr]
        # The last one may be NULL: nothing is held, and what is missing may not be missing.
        assert np.isnan(found.low).tolist() == [True, False, False, True]
    wide = pa.array([2**70], pa.decimal128(38, 0))
    assert _added(pa.array([1]), [wide] * 3).shown.to_pylist() == [None]
