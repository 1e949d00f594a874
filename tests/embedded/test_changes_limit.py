"""changes(limit): the same changes, so many at a time, in whole instants."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import windrow
from support.oracle import rows_of
from support.runners import Model, ShardRunner, exactly, outcome
from support.streams import Action, plan_of, queries, scenarios
from windrow.errors import BindingError, DataError
from windrow.output.publish import Publisher

START = datetime(2026, 1, 1, tzinfo=UTC)


@given(queries, scenarios(), st.integers(1, 7), st.booleans())
def test_limited_reads_add_up_to_one_read(
    text: str, actions: list[Action], limit: int, restarts: bool
) -> None:
    plan = plan_of(text)
    runner, model = ShardRunner(plan), Model()
    try:
        for action in actions:
            batches = model.take(action)
            runner.step(batches, model.clock(plan))
        runner.step({}, model.last(plan))
    except DataError:
        return  # a row or a sum without a value: what is left is compared elsewhere
    found: list[str] = []
    while (piece := runner.publisher.changes(limit)).num_rows:
        assert piece.num_rows <= limit
        found += exactly(piece)
        if restarts:
            runner.restart()
    assert found == outcome(plan, actions)[1]


def test_whole_instants_and_one_that_is_too_large() -> None:
    session = windrow.connect()
    session.stream("s", "ts timestamp, x int", time="ts")
    query = session.query("SELECT x FROM s [UNBOUNDED]")
    seconds = [0, 0, 1, 1, 1, 1, 1, 2]
    rows = [{"ts": START + timedelta(seconds=at), "x": i} for i, at in enumerate(seconds)]
    session.push("s", rows)
    session.finish()
    read = [rows_of(query.changes(3).select(["x"])) for _ in range(5)]
    assert read == [[(0,), (1,)], [(2,), (3,), (4,)], [(5,), (6,)], [(7,)], []]


def test_what_a_limit_cut_off_comes_first() -> None:
    session = windrow.connect()
    session.stream("s", "ts timestamp, x int", time="ts")
    query = session.query("SELECT x FROM s [UNBOUNDED]")
    session.push("s", [{"ts": START, "x": x} for x in range(5)])
    session.finish()
    assert query.changes(2)["x"].to_pylist() == [0, 1]
    assert query.changes()["x"].to_pylist() == [2, 3, 4]
    assert query.changes().num_rows == 0


def test_dropped_changes_are_dropped_whole() -> None:
    plan = plan_of("SELECT b.k AS k FROM b [UNBOUNDED]")
    publisher = Publisher(plan)
    publisher._cut = pa.table({"at": [1]})
    publisher.drop_changes()
    assert publisher.changes(3).num_rows == 0


@pytest.mark.parametrize("limit", [0, -1, 2.5, True, "3"])
def test_no_limit(limit: object) -> None:
    session = windrow.connect()
    session.stream("s", "ts timestamp, x int", time="ts")
    query = session.query("SELECT x FROM s [UNBOUNDED]")
    with pytest.raises(BindingError) as caught:
        query.changes(limit)
    assert caught.value.code == "WB422"
