"""Hot keys: answers are the same wherever their rows go, from the start and from a restart on."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from support.join_texts import TAME, general_joins, small_scenarios
from support.live_texts import general_negations, general_selects
from support.spark.driven_job import FEEDS, DrivenJob, heartbeat
from support.streams import Action, Heartbeat, batch_of, instant, plan_of, queries
from windrow.errors import BindingError, DataError, UnsupportedError
from windrow.event_time import END_OF_TIME
from windrow.plan.model import QueryPlan
from windrow.rows.prepare import Preparer, key_words
from windrow.spark.shuffle.packets import Packet
from windrow.spark.shuffle.routing import HotKey, Router, Routing
from windrow.spark.shuffle.splitting import routing_with, since_us, split_refusal

SECOND = 1_000_000
JOIN = "SELECT a.k, COUNT(*) AS n FROM a [5 SECONDS], b [2 SECONDS] WHERE a.k = b.k GROUP BY a.k"

MEETING_TEXTS = (
    JOIN,
    "SELECT COUNT(*) AS n, SUM(a.d) AS c0 FROM a [1 SECOND], b [5 SECONDS] WHERE a.k = b.k",
    "SELECT MAX(x.d) AS c0, COUNT(*) AS n FROM a [3 SECONDS] x, a [2 SECONDS] y WHERE x.s = y.s",
    "SELECT a.s, b.d FROM a [RANGE 3 SECONDS SLIDE 3 SECONDS], b [2 SECONDS] WHERE a.s = b.s",
    "SELECT AVG(b.d) AS c0 FROM a [5 SECONDS], b [5 SECONDS] WHERE a.o = b.o EVERY (1 SECOND)",
)


def hot_words(plan: QueryPlan, actions: list[Action]) -> list[int]:
    """Every key that occurs."""
    words: set[int] = set()
    for action in actions:
        for position, entry in enumerate(plan.inputs):
            if not isinstance(action, Heartbeat) and action.stream == entry.stream.name:
                rows = batch_of(action.stream, action.rows)
                prepared = Preparer(plan, position).prepared_batch(rows)
                words |= set(key_words(plan, position, prepared).tolist())
    return sorted(words)


@dataclass
class Drawn:
    """What a run depends on."""

    words: list[int]
    positions: list[int]
    at: int  # the batch with which the routing begins
    is_repeated: bool = False  # the one before it is run again, too


@st.composite
def splits(draw: st.DrawFn, plan: QueryPlan, actions: list[Action]) -> Drawn:
    """Some of the keys are hot, each by one of the inputs that allow it."""
    allowed = [i for i in range(len(plan.inputs)) if split_refusal(plan, i) is None]
    assume(allowed)
    words = hot_words(plan, actions)
    chosen = [word for word in words if draw(st.booleans())]
    positions = [draw(st.sampled_from(allowed)) for _ in chosen]
    at = draw(st.integers(0, len(actions)) | st.just(0))
    return Drawn(chosen, positions, at, draw(st.booleans()))


def run(
    plan: QueryPlan, actions: list[Action], buckets: int, drawn: Drawn | None
) -> list[list[str]] | str:
    """Everything that comes out, batch by batch; rows of an instant in any order."""
    steps = [step_of(action) for action in actions if action.stream in plan.streams]
    steps.append(({}, [heartbeat(each, END_OF_TIME) for each in plan.streams]))
    given: list[dict[str, pa.Table]] = []
    with tempfile.TemporaryDirectory() as folder:
        job = DrivenJob(plan, Path(folder), buckets)
        before = [state.copy() for state in job.states]
        try:
            for number, step in enumerate(steps):
                if drawn is not None and number == drawn.at:
                    job.routing = begun(plan, job, drawn)
                    if drawn.is_repeated and given:  # Spark had not committed the last batch
                        job.states, job.batch_id = before, job.batch_id - 1
                    job.restart()
                    if drawn.is_repeated and given:
                        given[-1] = job.batch(*steps[number - 1])
                before = [state.copy() for state in job.states]
                given.append(job.batch(*step))
        except DataError as error:
            return error.code
        ledgers = repr(job.publication.status.ledgers)
    return [*(shown(each[feed]) for feed in FEEDS for each in given), [ledgers]]


def step_of(action: Action) -> tuple[dict[str, pa.RecordBatch], list[Packet]]:
    """Rows and orders of a batch."""
    if isinstance(action, Heartbeat):
        return {}, [heartbeat(action.stream, action.to_us)]
    return {action.stream: batch_of(action.stream, action.rows)}, []


def shown(table: pa.Table) -> list[str]:
    return sorted(map(repr, table.to_pylist()))


def begun(plan: QueryPlan, job: DrivenJob, drawn: Drawn) -> Routing:
    """The routing from here on."""
    status = job.publication.status
    complete = status.complete_us if status.batch_id >= 0 else None
    try:
        return Routing(
            tuple(
                HotKey(position, word, "", since_us(plan, position, complete))
                for word, position in zip(drawn.words, drawn.positions, strict=True)
            )
        )
    except UnsupportedError:
        return Routing()


some_queries = st.one_of(queries, general_joins(3), general_selects(3), general_negations())


@given(st.data(), some_queries, st.integers(1, 4))
def test_answers_do_not_depend_on_hot_keys(data: st.DataObject, text: str, buckets: int) -> None:
    plan = plan_of(text)
    assume(any(split_refusal(plan, i) is None for i in range(len(plan.inputs))))
    actions = data.draw(small_scenarios())
    drawn = data.draw(splits(plan, actions))
    assert run(plan, actions, buckets, drawn) == run(plan, actions, 1, None)


@given(st.data(), st.sampled_from(MEETING_TEXTS), st.integers(2, 4))
def test_a_split_that_begins_later_loses_no_pair(
    data: st.DataObject, text: str, buckets: int
) -> None:
    plan = plan_of(text)
    actions = data.draw(small_scenarios(TAME))
    words = hot_words(plan, actions)
    positions = [data.draw(st.integers(0, 1)) for _ in words]
    at = data.draw(st.integers(0, len(actions)))
    drawn = Drawn(words, positions, at, data.draw(st.booleans()))
    assert run(plan, actions, buckets, drawn) == run(plan, actions, 1, None)


def test_rows_of_a_hot_key_are_dealt_out_and_those_they_meet_are_copied() -> None:
    plan, count = plan_of(JOIN), 4
    routing = routing_with(plan, {"a": [7]})
    router = Router(plan, count, routing)
    rows = tuple({"ts": instant(number), "k": number % 2 * 7} for number in range(400))
    for position, stream in enumerate("ab"):
        prepared = Preparer(plan, position).prepared_batch(batch_of(stream, rows))
        keys = [part.column("k0").to_pylist() for part in router.parts(position, prepared)]
        assert sorted(each.count(0) for each in keys) == [0, 0, 0, 200]
        hot = [each.count(7) for each in keys]
        assert (sum(hot) == 200 and min(hot) > 25) if stream == "a" else hot == [200] * count


def test_rows_stay_at_home_while_others_came_without_copies() -> None:
    plan = plan_of(JOIN)
    complete = {"a": 100 * SECOND, "b": 50 * SECOND}
    (key,) = routing_with(plan, {"a": [7]}, complete_us=complete).keys
    assert key.from_us == 52 * SECOND + 2  # b is [2 SECONDS] and not late
    (other,) = routing_with(plan, {"b": [7]}, complete_us=complete).keys
    assert other.from_us == 107 * SECOND + 2  # a is [5 SECONDS] and two seconds late
    untouched = Routing((HotKey(0, 1, "one"),))
    added = routing_with(plan, {"a": [7]}, untouched, complete)
    assert added.keys == (*untouched.keys, key)
    assert routing_with(plan, {"a": [7]}, added) == added
    assert Routing.from_json(added.to_json()) == added


def test_a_task_that_reads_its_rows_in_another_order_deals_them_out_alike() -> None:
    plan = plan_of(JOIN)
    router = Router(plan, 3, routing_with(plan, {"a": [7]}))
    rows = [{"ts": instant(number // 3), "k": 7, "d": number / 3} for number in range(60)]
    parts = []
    for each in (rows, rows[::-1]):
        prepared = Preparer(plan, 0).prepared_batch(batch_of("a", tuple(each)))
        parts.append([shown(pa.Table.from_batches([part])) for part in router.parts(0, prepared)])
    assert parts[0] == parts[1]


@pytest.mark.parametrize(
    ("text", "split", "code"),
    [
        (JOIN, {"c": [1]}, "WB460"),
        (JOIN, {"a": ["seven"]}, "WB461"),
        (JOIN, {"a": [(1, 2)]}, "WB461"),
        (JOIN, {"a": [1], "b": [1]}, "WB462"),
    ],
)
def test_keys_that_cannot_be(text: str, split: dict[str, list[object]], code: str) -> None:
    with pytest.raises(BindingError, match=code):
        routing_with(plan_of(text), split)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("SELECT COUNT(*) AS n FROM a [5 SECONDS]", "already go to any bucket"),
        ("SELECT COUNT(*) AS n FROM a [ROWS 3]", "one bucket sees all"),
        ("SELECT k, COUNT(DISTINCT s) AS n FROM a [5 SECONDS] GROUP BY k", "DISTINCT"),
        ("SELECT k, COUNT(*) AS n FROM a [PARTITION BY k ROWS 2] GROUP BY k", "PARTITION BY"),
        ("SELECT b.k FROM b [5 SECONDS] LEFT ANTI JOIN a [1 SECOND] ON a.k = b.k", "negated"),
    ],
)
def test_queries_whose_keys_must_stay_together(text: str, reason: str) -> None:
    plan = plan_of(text)
    with pytest.raises(UnsupportedError, match="WU460") as refused:
        routing_with(plan, {"a": [1]})
    assert reason in str(refused.value)


def test_a_query_that_has_begun_waits_for_no_row_that_never_leaves() -> None:
    plan = plan_of(
        "SELECT COUNT(*) AS n FROM a [5 SECONDS], b [PARTITION BY k ROWS 2] WHERE a.k = b.k"
    )
    assert routing_with(plan, {"a": [1]}).keys
    with pytest.raises(UnsupportedError, match="WU461"):
        routing_with(plan, {"a": [1]}, complete_us={"a": 0, "b": 0})
