"""A query that is started in another number of buckets: nobody sees it, whatever breaks off."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from support.query_forms import PUSHES
from support.spark.carried_jobs import plan_in_buckets, ran
from support.spark.driven_job import DrivenJob
from support.spark.stream_files import Files, Sessions, embedded, random_batches
from windrow import sinks
from windrow.carryover.carryover import Carryover
from windrow.carryover.positions import Positions
from windrow.errors import CheckpointError
from windrow.plan.fingerprint import fingerprint
from windrow.spark.checkpoint.query_checkpoint import QueryCheckpoint
from windrow.spark.checkpoint.source_places import (
    places_after,
    put_places,
    read_places,
    save_places,
)
from windrow.spark.checkpoint.spark_part import last_commit
from windrow.spark.driver import first_batch, other_buckets
from windrow.spark.driver.handed_over import Stood, handed_over
from windrow.storage import Storage

JOIN = """SELECT a.k, COUNT(*) AS n, SUM(b.l) AS t FROM a [4 SECONDS], b [3 SECONDS]
          WHERE a.k = b.k GROUP BY a.k"""
PLACES = Positions(('{"logOffset":7}', '{"t":{"0":5}}', "-"), {"0/6": b"v1\nsix", "0/7": b"v1"})


def stood(folder: Path, text: str = JOIN, buckets: int = 2) -> tuple[QueryCheckpoint, Carryover]:
    """A checkpoint of a query that has run, and what it holds."""
    plan = plan_in_buckets(text)
    checkpoint = QueryCheckpoint(Storage(folder), "q")
    checkpoint.claim(fingerprint(plan), buckets, 1, plan)
    job = DrivenJob(plan, folder / "q" / "publish", buckets)
    ran(job, PUSHES[:20])
    for name in ("offsets", "commits"):
        checkpoint.spark_part.inside(name).write(str(job.batch_id - 1), b"v1")
    place = (job.batch_id - 1, job.states, job.publication, job.routing, 1)
    return checkpoint, handed_over(Stood("q", plan, *place))


def moved(checkpoint: QueryCheckpoint, carried: Carryover, monkeypatch: Any) -> None:
    monkeypatch.setattr(other_buckets, "carryover_of", lambda *_: carried)
    other_buckets.into_buckets(None, checkpoint, 3)


def test_a_write_that_fails_leaves_the_old_state_whole(tmp_path: Path, monkeypatch: Any) -> None:
    checkpoint, carried = stood(tmp_path)
    before = everything(tmp_path)
    write, left = Storage.write, [0]

    def failing(storage: Storage, name: str, data: bytes) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise OSError("killed")
        write(storage, name, data)

    writes = 0
    with monkeypatch.context() as patched:
        patched.setattr(Storage, "write", failing)
        while True:
            left[0] = writes
            try:
                moved(checkpoint, carried, patched)
                break
            except OSError:
                found = everything(tmp_path)
                assert {name: found.get(name) for name in before} == before
                again = QueryCheckpoint(Storage(tmp_path), "q")
                assert (again.claimed_buckets(), again.generation) == (2, 0)
                writes += 1
    assert writes == 5  # three buckets, the publication, and whom it belongs to
    after = QueryCheckpoint(Storage(tmp_path), "q")
    assert (after.claimed_buckets(), after.generation, after.is_begun()) == (3, 1, True)
    assert after.first_batch == last_commit(checkpoint.storage.under("spark"))
    after.forget_others()
    assert sorted(Storage(tmp_path / "q").folders()) == ["control", "generation-1"]


def everything(folder: Path) -> dict[str, bytes]:
    return {str(each): each.read_bytes() for each in folder.rglob("*") if each.is_file()}


def test_places_are_put_where_they_were(tmp_path: Path) -> None:
    save_places(Storage(tmp_path / "begin"), PLACES)
    assert read_places(Storage(tmp_path / "begin")) == PLACES
    spark = Storage(tmp_path / "spark")
    facts = '{"batchTimestampMs":1,"conf":{"partitions":"3"}}'
    pending = ('{"batchTimestampMs":9,"conf":{"partitions":"2"}}', *PLACES.lines[:2], "-")
    spark.inside("offsets").write("0", f"v1\n{facts}\n-\n-\n-".encode())
    spark.inside("sources").inside("2").write("0", b"of the order that said nothing")
    put_places(spark, Positions(PLACES.lines, PLACES.logs, pending))
    found = places_after(spark, 0)
    assert (found.lines, found.logs) == (PLACES.lines, PLACES.logs)
    assert found.pending == (
        '{"batchTimestampMs": 9, "conf": {"partitions": "3"}}',
        *pending[1:],
    )
    assert found.elsewhere == PLACES


def test_what_cannot_be_partitioned_anew_says_why(tmp_path: Path, monkeypatch: Any) -> None:
    checkpoint, carried = stood(tmp_path, "SELECT k, SUM(l) AS t FROM a [UNBOUNDED] GROUP BY k")
    with pytest.raises(CheckpointError, match=r"(?s)WC430.*2 buckets.*in 3"):
        moved(checkpoint, carried, monkeypatch)
    assert QueryCheckpoint(Storage(tmp_path), "q").claimed_buckets() == 2
    checkpoint.spark_part.under("commits").remove(str(last_commit(checkpoint.spark_part)))
    with pytest.raises(
        CheckpointError, match=r"(?s)WC434.*2 buckets.*in 3.*first batch.*buckets=2"
    ):
        moved(checkpoint, carried, monkeypatch)


def test_one_that_has_begun_nothing_is_taken_as_new(tmp_path: Path) -> None:
    plan = plan_in_buckets(JOIN)
    checkpoint = QueryCheckpoint(Storage(tmp_path), "q")
    checkpoint.claim(fingerprint(plan), 2, 1, plan)
    other_buckets.into_buckets(None, checkpoint, 3)
    checkpoint.claim(fingerprint(plan), 3, 1, plan)
    assert checkpoint.claimed_buckets() == 3


TEXT = """SELECT h.room, COUNT(*) AS n FROM h [8 SECONDS], c [5 SECONDS]
          WHERE h.room = c.room GROUP BY h.room"""


@pytest.mark.spark
@pytest.mark.long_spark
def test_a_query_is_started_in_other_buckets(
    files: Files, sessions: Sessions, tmp_path: Path, monkeypatch: Any
) -> None:
    batches = random_batches(6, seed=71)
    sink = sinks.parquet(str(tmp_path / "out"))

    def run(buckets: int, *, is_last: bool = False) -> None:
        session = sessions.open(files, buckets=buckets)
        session.query(TEXT, name="q").start(sink, trigger="available").await_end()
        if is_last:
            session.finish()
        session.stop()

    files.put_all(batches[:2])
    run(2)
    # The last batch was given to the sink, and the driver was killed before it was committed.
    commits = sessions.folder("q") / "spark" / "commits"
    newest = max(commits.iterdir(), key=lambda each: int(each.name.strip(".").split(".")[0]))
    for file in (newest, commits / f".{newest.name}.crc"):
        file.unlink(missing_ok=True)
    files.put_all(batches[2:4])
    with monkeypatch.context() as patched:
        patched.setattr(first_batch, "put_places", killed)
        with pytest.raises(KeyboardInterrupt):
            run(3)
    assert (sessions.folder("q") / "spark" / "commits").exists()
    run(3)
    assert sessions.folder("q").joinpath("generation-1").exists()
    assert not sessions.folder("q").joinpath("spark").exists()
    files.put_all(batches[4:])
    run(1, is_last=True)
    expected, _ = embedded(TEXT, batches)
    found = [
        row
        for file in sorted((tmp_path / "out").iterdir())
        for row in pq.read_table(file).to_pylist()
    ]
    assert found == expected.answers().to_pylist()


def killed(*_: object) -> None:
    raise KeyboardInterrupt
