"""DURATION on Spark: rows, clock and ledger of a query that begins and ends."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.spark.driven_job import DrivenJob, heartbeat
from support.streams import ROWS, STREAMS, TICK_US, batch_of, instant, plan_of
from windrow.embedded.session import EmbeddedSession
from windrow.event_time import END_OF_TIME, START_OF_TIME

SECOND = 1_000_000
TEXTS = [
    "SELECT k, COUNT(*) AS n FROM b [2 SECONDS] GROUP BY k DURATION {life}",
    "SELECT COUNT(*) AS n FROM b [RANGE 4 SECONDS SLIDE 2 SECONDS] DURATION {life}",
    "SELECT SUM(k) AS n FROM b [3 SECONDS] WHERE d > 0 EVERY (1 SECOND) DURATION {life}",
    "SELECT b.s, COUNT(*) AS n FROM b [3], c [2] WHERE b.k = c.k GROUP BY b.s DURATION {life}",
    "SELECT COUNT(*) AS n FROM b [ROWS 3] DURATION {life}",
]
LIVES = [
    *("[0, 3]", "[1, 4]", "[2, 2]", "[0, 90]", "[50, 90]"),
    "['1970-01-01 00:00:01', '1970-01-01 00:00:04']",
]


@st.composite
def batches(draw: st.DrawFn) -> list[dict[str, pa.RecordBatch]]:
    """Rows of streams b and c in order of time; the first stream may come later."""
    now, made = 0, []
    for _ in range(draw(st.integers(1, 7))):
        batch = {}
        for stream in draw(st.sampled_from(["b", "bc", "c", "bc"])):
            ticks = sorted(draw(st.lists(st.integers(0, 3), max_size=4)))
            rows = [{"ts": instant(now + each * TICK_US), **draw(ROWS[stream])} for each in ticks]
            batch[stream] = batch_of(stream, tuple(rows))
        made.append(batch)
        now += 4 * TICK_US
    return made


@given(st.sampled_from(TEXTS), st.sampled_from(LIVES), batches(), st.integers(1, 2), st.data())
def test_a_life_is_that_of_the_embedded_session(
    text: str, life: str, made: list[dict[str, pa.RecordBatch]], buckets: int, data: st.DataObject
) -> None:
    text = text.format(life=life)
    session = EmbeddedSession("1 GB")
    for stream in ("b", "c"):
        session.stream(stream, STREAMS[stream].arrow, time="ts", lateness=0)
    query = session.query(text)
    plan = plan_of(text)
    with tempfile.TemporaryDirectory() as folder:
        job = DrivenJob(plan, Path(folder), buckets if "ROWS" not in text else 1)
        given_so_far = []
        for batch in made:
            read = {stream: rows for stream, rows in batch.items() if stream in plan.streams}
            # Those of the first stream first, as its first row begins the life.
            for stream, rows in sorted(read.items()):
                session.push(stream, rows)
            given_so_far.append(job.batch(read))
            if data.draw(st.booleans()):
                job.restart()
        session.finish()
        ends = [heartbeat(stream, END_OF_TIME) for stream in plan.streams]
        given_so_far.append(job.batch({}, ends))
        last = job.publication.status
    answers = pa.concat_tables([each["answers"] for each in given_so_far])
    assert answers.to_pylist() == query.answers().to_pylist()
    assert given_so_far[-1]["result"].to_pylist() == query.result().to_pylist()
    for ledger in last.ledgers.values():
        assert ledger.waiting == 0
        assert ledger.rows_in == ledger.applied + ledger.late


def rows_at(*seconds: float) -> pa.RecordBatch:
    return batch_of("b", tuple({"ts": instant(int(each * SECOND)), "k": 1} for each in seconds))


def test_seconds_count_from_the_smallest_time_of_the_first_batch(tmp_path: Path) -> None:
    job = DrivenJob(plan_of("SELECT COUNT(*) AS n FROM b [9] DURATION [1, 3]"), tmp_path, 2)
    job.batch({})
    assert job.publication.status.clock_us == START_OF_TIME
    job.batch({"b": rows_at(12, 10, 11)})
    assert job.publication.status.first_us == 10 * SECOND
    answers = job.batch({"b": rows_at(13, 14, 20)})["answers"]
    assert job.publication.status.clock_us == 13 * SECOND
    assert [each["n"] for each in answers.to_pylist()] == [2, 3]
    # The life is over: no row is held, those that come are counted and set aside.
    assert job.publication.status.windows[0].rows == 0
    job.restart()
    given = job.batch({"b": rows_at(21, 30)})
    assert given["answers"].num_rows == 0
    assert given["result"].to_pylist() == [{"n": 3}]
    ledger = job.publication.status.ledgers["b"]
    assert (ledger.rows_in, ledger.applied, ledger.waiting) == (8, 7, 1)
    stored = [len(data) for state in job.states for data in state.segments.values()]
    assert sum(stored) < 4_000


def test_rows_that_are_late_do_not_begin_a_life(tmp_path: Path) -> None:
    job = DrivenJob(plan_of("SELECT COUNT(*) AS n FROM b [9] DURATION [0, 3]"), tmp_path)
    job.batch({}, [heartbeat("b", 10 * SECOND)])
    job.batch({"b": rows_at(4, 5)})
    assert job.publication.status.first_us is None
    job.batch({"b": rows_at(5, 12)})
    assert job.publication.status.first_us == 10 * SECOND + 1


@pytest.mark.parametrize("buckets", [1, 3])
def test_all_buckets_know_the_life(buckets: int, tmp_path: Path) -> None:
    job = DrivenJob(plan_of("SELECT COUNT(*) AS n FROM b [9] DURATION [1, 3]"), tmp_path, buckets)
    outputs = job.outputs({"b": rows_at(4, 4.5, 9)})
    assert {output.first_us for output in outputs} == {4 * SECOND}
    assert {output.clock_us for output in outputs} == {7 * SECOND}
