"""What nobody reads is bounded in bytes: what is lost is counted, and what is left is true."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import windrow
from support.live_texts import general_selects
from support.oracle import assert_same_rows, rows_of
from support.runners import REFUSED, Model, ShardRunner, listed, outcome, replay
from support.streams import Action, plan_of, queries, scenarios
from windrow.embedded import unread_answers
from windrow.output.feed_columns import STARTS_OVER
from windrow.output.publish import Publisher

BASE_US = 1_700_000_000_000_000


@pytest.mark.parametrize("texts", [queries, general_selects()], ids=["queries", "selects"])
@given(
    data=st.data(),
    actions=scenarios(),
    limit=st.sampled_from([0, 100, 1_000]),
    reads=st.frozensets(st.integers(0, 12)),
    answers=st.frozensets(st.integers(0, 12)),
    restarts=st.booleans(),
)
def test_what_is_left_is_true(
    texts: st.SearchStrategy[str],
    data: st.DataObject,
    actions: list[Action],
    limit: int,
    reads: frozenset[int],
    answers: frozenset[int],
    restarts: bool,
) -> None:
    plan = plan_of(data.draw(texts))
    wanted = outcome(plan, actions)
    if wanted == REFUSED:
        return
    runner, model = ShardRunner(plan), Model()
    runner.publisher.unread_limit = limit
    held: Counter = Counter()
    told: list[str] = []
    for number, action in enumerate(actions):
        runner.step(model.take(action), model.clock(plan))
        if number in reads:
            read(runner.publisher, held)
        if number in answers:
            told += [repr(row) for row in rows_of(runner.publisher.answers())]
        if restarts:
            runner.publisher = Publisher.restore(plan, runner.publisher.snapshot())
            runner.publisher.unread_limit = limit
    runner.step({}, model.last(plan))
    told += [repr(row) for row in rows_of(runner.publisher.answers())]
    assert Counter(told) <= Counter(wanted[0])
    if len(told) < len(wanted[0]):
        assert runner.publisher.instants_lost > 0
    read(runner.publisher, held)
    result = rows_of(runner.publisher.result())
    if wanted[1] or result:
        assert_same_rows(result, listed(held))
    assert [repr(row) for row in result] == wanted[2]


def read(publisher: Publisher, held: Counter) -> None:
    changes = publisher.changes()
    if changes.schema.metadata == STARTS_OVER:
        held.clear()
    replay(changes, held)


WIDE = 20_000


@pytest.mark.parametrize(
    "text",
    [
        "SELECT t FROM s [3 SECONDS]",
        "SELECT t, COUNT(*) AS n FROM s [3 SECONDS] GROUP BY t",
        "SELECT MAX(k) AS k, COUNT(*) AS n FROM s [3 SECONDS]",
        "SELECT COUNT(*) AS n FROM s [3 SECONDS] ERROR (10%)",
    ],
)
def test_a_session_keeps_a_part_of_its_budget_for_what_is_unread(text: str) -> None:
    limit = 10 * WIDE if " t" in text else 2_000
    session = opened(limit)
    query = session.query(text, name="wide")
    for number in range(100):
        push(session, number)
        assert query.unread_bytes <= limit + 2 * WIDE
    with pytest.warns(RuntimeWarning, match="'wide': answers at [0-9,]+ instants"):
        answers = query.answers()
    assert 0 < len(set(answers["at"].to_pylist())) < 100
    with pytest.warns(RuntimeWarning, match="'wide': [0-9,]+ changes were netted"):
        changes = query.changes()
    held: Counter = Counter()
    replay(changes, held)
    assert_same_rows(rows_of(query.result()), listed(held))
    push(session, 100)
    query.answers()
    query.changes()  # a warning would be an error here


def test_a_part_of_the_budget_is_for_what_is_unread() -> None:
    limits = [windrow.connect(memory=text)._governing.unread.limit for text in ("1 KB", "64 MB")]
    assert limits == [unread_answers.UNREAD_FLOOR, 16 << 20]


def test_changes_start_over_where_even_the_net_ones_are_too_many() -> None:
    session = opened(5 * WIDE)
    query = session.query("SELECT t FROM s [3 SECONDS]", name="wide")
    for number in range(4):
        push(session, number)
    assert query.changes().num_rows > 0
    query.answers()
    for number in range(4, 40):
        push(session, number)
    with pytest.warns(RuntimeWarning, match="'wide': [0-9,]+ changes were dropped: these are all"):
        changes = query.changes()
    assert changes.schema.metadata == STARTS_OVER
    assert set(changes["change"].to_pylist()) == {1}
    assert changes.drop_columns(["at", "change"]).equals(query.result())
    with pytest.warns(RuntimeWarning, match="were dropped"):
        query.answers()
    push(session, 40)
    after = query.changes()
    assert not after.schema.metadata
    assert sorted(after["change"].to_pylist()) == [-1, 1]


def opened(limit: int) -> Any:
    session = windrow.connect()
    session._governing.unread.limit = limit
    session.stream("s", "ts timestamp, k bigint, t string", time="ts")
    return session


def push(session: Any, number: int) -> None:
    times = pa.array([BASE_US + number * 1_000_000], pa.timestamp("us"))
    rows = {"ts": times, "k": [number], "t": [f"{number:05}" * (WIDE // 5)]}
    session.push("s", pa.table(rows))
