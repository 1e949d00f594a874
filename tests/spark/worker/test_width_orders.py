"""Orders that change widths: the same answers as in one process, whatever is lost in between."""

from __future__ import annotations

import math
import tempfile
from collections import Counter
from datetime import timedelta
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from embedded.test_error_bounds import _judge as judge
from embedded.test_error_bounds import texts
from support.oracle import Oracle
from support.runners import grouped
from support.spark.driven_job import DrivenJob, heartbeat, order
from support.streams import ROWS, STREAMS, TICK_US, batch_of, instant, plan_of
from windrow.embedded.session import EmbeddedSession
from windrow.errors import DataError
from windrow.event_time import END_OF_TIME, START_OF_TIME
from windrow.plan.model import QueryPlan
from windrow.rows.prepare import lifetime_of
from windrow.spark.worker import shard_segments
from windrow.spark.worker.live_cache import LiveCache
from windrow.spark.worker.pieces import pieces_of
from windrow.spark.worker.shard_output import ShardOutput
from windrow.windows.lifetime import Lifetime

SECOND = 1_000_000
Width = tuple[int, int, int]


@st.composite
def batches(draw: st.DrawFn) -> list[pa.RecordBatch]:
    """Batches of stream a, none of whose rows is late; ticks of disorder within its lateness."""
    now = draw(st.sampled_from([0, -7 * SECOND]))
    made = []
    for _ in range(draw(st.integers(1, 8))):
        ticks = sorted(draw(st.lists(st.integers(-3, 4), max_size=6)))
        rows = [{"ts": instant(now + each * TICK_US), **draw(ROWS["a"])} for each in ticks]
        made.append(batch_of("a", tuple(rows)))
        now += draw(st.sampled_from([1, 4, 4, 30])) * TICK_US
        now = max([now, *(now + (each + 1) * TICK_US for each in ticks)])
    return made


widths = st.dictionaries(
    st.integers(0, 8), st.tuples(st.integers(0, 9), st.sampled_from([0, 0, 2]), st.integers(0, 3))
)


def lifetime_after(plan: QueryPlan, wanted: Width, clock: int) -> Lifetime:
    """A narrower window, or one that takes turns."""
    width, growth, rest = wanted
    window = plan.inputs[0].window
    full = lifetime_of(window)
    if window.kind == "slide":
        length = min(window.length_us, max(1, width // 2) * window.slide_us)
        return full.narrowed(length, clock)
    narrow = min(window.length_us, width * TICK_US)
    changed = full.narrowed(narrow, clock)
    fits = narrow + growth * TICK_US <= window.length_us
    if growth and fits and plan.every_us and clock > START_OF_TIME:
        period = (growth + rest) * TICK_US
        changed = changed.turning(clock + TICK_US, period, growth * TICK_US)
    return changed


def in_this_process(
    text: str, made: list[pa.RecordBatch], wanted: dict[int, Width]
) -> tuple[pa.Table, pa.Table, pa.Table]:
    """Answers, changes and result of the embedded session."""
    session = EmbeddedSession("1 GB")
    session.stream("a", STREAMS["a"].arrow, time="ts", lateness="2 seconds")
    query = session.query(text)
    for number, batch in enumerate(made):
        if number in wanted:
            lifetime = lifetime_after(query.plan, wanted[number], query.clock)
            query.change_lifetime(0, lifetime)
        session.push("a", batch)
    session.finish()
    return query.answers(), query.changes(), query.result()


def same_but_bounds(plan: QueryPlan, found: pa.Table, expected: pa.Table, rows: pa.Table) -> None:
    """The same rows. Bounds may be wider, as squares are given up where cells meet.

    Where the one process knew no bound, as its steps are others, the truth is asked.
    """
    names = [name for name in expected.schema.names if name != "error_bound"]
    assert exactly(found.select(names)) == exactly(expected.select(names))
    oracle = Oracle(plan)
    for row, other in zip(found.to_pylist(), expected.to_pylist(), strict=True):
        bound, least = row["error_bound"], other["error_bound"]
        assert (bound is None) == (least is None)
        if least == math.inf and bound < least:
            at = (row["at"] - instant(0)) // timedelta(microseconds=1)
            truth = grouped([(at, *each) for each in oracle.answer_at({"a": rows}, at)])[at]
            columns = [column.name for column in plan.select]
            groups = [name for name in columns if not name.startswith("c")]
            judge(row, [dict(zip(columns, each, strict=True)) for each in truth], groups)
        elif bound is not None:
            assert bound >= least * (1 - 1e-9)


def exactly(table: pa.Table) -> list[str]:
    return [repr(row) for row in table.to_pylist()]


def net(changes: pa.Table) -> dict[str, int]:
    """How often each row came at an instant, less how often it went.

    Two orders at one instant make a row come with one batch and go with the next; a session that is
    asked only afterwards has seen neither.
    """
    found: Counter[str] = Counter()
    for row in changes.to_pylist():
        found[repr({**row, "change": 0})] += row["change"]
    return {row: copies for row, copies in found.items() if copies}


@given(texts(), batches(), widths, st.integers(1, 3), st.data())
def test_orders_are_what_changed_lifetimes_are(
    text: str,
    made: list[pa.RecordBatch],
    wanted: dict[int, Width],
    buckets: int,
    data: st.DataObject,
) -> None:
    try:
        expected = in_this_process(text, made, wanted)
    except DataError:
        return  # a sum beyond its type
    with tempfile.TemporaryDirectory() as folder:
        job = DrivenJob(plan_of(text), Path(folder), buckets)
        given_so_far: list[dict[str, pa.Table]] = []
        for number, batch in enumerate([*made, None]):
            orders = []
            if batch is None:
                orders = [heartbeat("a", END_OF_TIME)]
            elif number in wanted:
                lifetime = lifetime_after(
                    job.plan, wanted[number], job.publication.status.clock_us or START_OF_TIME
                )
                orders = [order(number + 1, lifetime)]
            tables = {} if batch is None else {"a": batch}
            before = [state.copy() for state in job.states]
            given_so_far.append(job.batch(tables, orders))
            if data.draw(st.sampled_from([False, False, True])):
                # The batch was never committed: it is given again, perhaps to others.
                job.states, job.batch_id = before, number
                if data.draw(st.booleans()):
                    job.restart()
                again = job.batch(tables, orders)
                for feed, table in given_so_far[-1].items():
                    assert exactly(again[feed]) == exactly(table), feed
    answers, changes = (
        pa.concat_tables([each[feed] for each in given_so_far]) for feed in ("answers", "changes")
    )
    rows = pa.Table.from_batches(made, STREAMS["a"].arrow)
    same_but_bounds(job.plan, answers, expected[0], rows)
    assert net(changes) == net(expected[1])
    assert exactly(given_so_far[-1]["result"]) == exactly(expected[2])


COUNT = "SELECT k, COUNT(*) AS c0 FROM a [60 SECONDS] GROUP BY k ERROR (50%)"


def steady(seconds: int, begin: int = 0) -> pa.RecordBatch:
    """Five rows a second."""
    rows = [
        {"ts": instant(begin * SECOND + n * SECOND // 5), "k": n % 3} for n in range(5 * seconds)
    ]
    return batch_of("a", tuple(rows))


def test_segments_of_a_narrowed_window_are_dropped_at_once(tmp_path: Path) -> None:
    job = DrivenJob(plan_of(COUNT), tmp_path)
    for number in range(12):
        job.batch({"a": steady(5, 5 * number)})
    assert len(job.states[0].segments) == 12
    full = lifetime_of(job.plan.inputs[0].window)
    job.batch({"a": steady(5, 60)}, [order(1, full.narrowed(10 * SECOND, 0))])
    assert len(job.states[0].segments) == 3
    held = job.publication.status.windows[0]
    assert 50 <= held.rows <= 75
    assert held.capacity < 150  # room for the rows that went is given back
    before = [state.copy() for state in job.states]
    given_at_once = job.batch({}, [order(2, full)])
    job.states, job.batch_id = before, job.batch_id - 1
    job.restart()
    again = job.batch({}, [order(2, full)])
    # Rows that went do not come back, however the shard was built.
    assert job.publication.status.windows[0].rows == held.rows
    assert exactly(again["result"]) == exactly(given_at_once["result"])


def test_an_order_that_comes_after_a_newer_one_is_not_obeyed(tmp_path: Path) -> None:
    job = DrivenJob(plan_of(COUNT), tmp_path)
    full = lifetime_of(job.plan.inputs[0].window)
    job.batch({"a": steady(30)})
    job.batch({}, [order(7, full.narrowed(10 * SECOND, 0)), order(5, full)])
    assert job.publication.status.limits.number == 7
    held = job.publication.status.windows[0].rows
    job.batch({}, [order(6, full.narrowed(SECOND, 0))])
    assert job.publication.status.windows[0].rows == held
    assert held == 50


@pytest.mark.parametrize("is_lent", [False, True])
@pytest.mark.parametrize("spare_rows", [0, 10_000])
def test_shards_from_segments_snapshots_and_lenders_obey_orders(
    is_lent: bool, spare_rows: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shard_segments, "SPARE_ROWS", spare_rows)
    plan = plan_of(COUNT)
    full = lifetime_of(plan.inputs[0].window)
    kept, other = DrivenJob(plan, tmp_path / "kept"), DrivenJob(plan, tmp_path / "other")
    caches = [LiveCache(), LiveCache()]
    for number, width in enumerate([None, 9, None, 30, 5, None, None, 60, None]):
        orders = [] if width is None else [order(number, full.narrowed(width * SECOND, 0))]
        other.restart()
        if is_lent:
            other.steps[0].cache = caches[number % 2]
        rows = {"a": steady(20, 20 * number)}
        for one, twin in zip(kept.outputs(rows, orders), other.outputs(rows, orders), strict=True):
            assert twin.was_rebuilt == (number > 0 and not is_lent)
            assert updates(one) == updates(twin)
            assert one.windows[0].rows == twin.windows[0].rows


def updates(output: ShardOutput) -> list[object]:
    """What the pieces say, without the numbers that a shard happens to give its groups."""
    found = []
    for piece in pieces_of(output.partial):
        partial = piece.partial()
        groups = [repr(row) for row in partial.groups.to_pylist()]
        named = [groups[number] for number in partial.group]
        states = zip(partial.at.tolist(), named, partial.count.tolist(), strict=True)
        found.append((piece.until_us, sorted(states)))
    return found
