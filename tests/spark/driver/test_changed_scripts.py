"""Scripts and sessions that change between two runs on one checkpoint: nothing begins anew."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from spark.driver.test_shared_session import QUERIES, registered
from support.spark.stream_files import (
    Files,
    Sessions,
    embedded,
    in_order,
    random_batches,
    read_sink,
)
from windrow import sinks
from windrow.errors import BindingError, CheckpointError
from windrow.jobs.job import job_of
from windrow.spark.driver.job import _started

pytestmark = pytest.mark.spark

NOBODY: Any = None  # queries into files are watched by nobody
STREAMS = """
CREATE STREAM h (room STRING, ts TIMESTAMP, value DOUBLE) TIME ts;
CREATE STREAM c (room STRING, ts TIMESTAMP, value DOUBLE) TIME ts;
"""


def script(folder: Path, *names: str) -> str:
    queries = [
        f"CREATE QUERY {name} AS {QUERIES[name]} INTO parquet('{folder / name}');" for name in names
    ]
    return STREAMS + "\n".join(queries)


@pytest.mark.slow
def test_queries_come_and_go_with_the_script(
    files: Files, sessions: Sessions, tmp_path: Path
) -> None:
    batches = random_batches(6, seed=41)
    runs = [("rooms",), ("rooms", "total", "means"), ("means",)]
    for number, names in enumerate(runs):
        files.put_all(batches[2 * number : 2 * number + 2])
        session = sessions.open(files)
        job = job_of(script(tmp_path / "out", *names))
        for query in _started(job, session, NOBODY, "available").values():
            query.await_end()
        assert session.recorded() == [[], ["total", "means"], ["means"]][number]
        if number < 2:
            session.stop()
    session.finish()
    means, _ = embedded(QUERIES["means"], batches)
    found = read_sink(tmp_path / "out" / "means").to_pylist()
    assert found == means.answers().to_pylist()
    rooms, _ = embedded(QUERIES["rooms"], batches)
    seen = read_sink(tmp_path / "out" / "rooms").to_pylist()
    assert seen == rooms.answers().to_pylist()[: len(seen)]
    assert session._queries.keys() == {"means"}


@pytest.mark.long_spark
def test_a_query_of_a_shared_operator_does_not_begin_anew_on_its_own(
    files: Files, sessions: Sessions, tmp_path: Path
) -> None:
    batches = random_batches(4, seed=42)
    files.put_all(batches[:2])
    given = {name: sinks.parquet(tmp_path / name) for name in ("rooms", "total")}
    first = registered(sessions.open(files), QUERIES)
    first.start(given, trigger="available")["rooms"].await_end()
    first.stop()
    files.put_all(batches[2:])
    second = sessions.open(files)
    rooms = second.query(QUERIES["rooms"], name="rooms")
    with pytest.raises(BindingError, match=r"(?s)WB453.*session.start\(\{'rooms': None\}\)"):
        rooms.start(given["rooms"])
    with pytest.raises(BindingError, match="WB452"):
        second.start({"rooms": given["rooms"], "nobody": None})
    second.start({"rooms": given["rooms"], "total": None}, trigger="available")
    rooms.await_end()
    second.finish()
    expected, _ = embedded(QUERIES["rooms"], batches)
    found = read_sink(tmp_path / "rooms")
    assert in_order(found) == in_order(expected.answers())
    assert second.start({"rooms": None}) == {"rooms": rooms}
    assert second.recorded() == []


def test_a_query_whose_sink_cannot_be_opened_has_not_begun(
    files: Files, sessions: Sessions, tmp_path: Path
) -> None:
    session = registered(sessions.open(files), QUERIES)
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(CheckpointError, match="WC206"):
        session.start({"rooms": sinks.parquet(tmp_path / "file")})
    assert session.recorded() == []


@pytest.mark.long_spark
def test_what_was_stopped_is_not_started_by_the_end_of_its_streams(
    files: Files, sessions: Sessions
) -> None:
    files.put_all(random_batches(1, seed=43))
    session = registered(sessions.open(files), QUERIES)
    alone = session._queries["rooms"].start("memory", trigger="available")
    shared = session.start({"total": "memory"}, trigger="available")["total"]
    for query in (alone, shared):
        query.await_end()
        query.stop()
    files.put_all(random_batches(1, seed=44))
    session.finish()
    assert [query.progress()["batch_id"] for query in (alone, shared)] == [0, 0]


def test_a_session_is_stopped_whole_though_a_part_of_it_fails(
    files: Files, sessions: Sessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    sessions.checkpoint = None
    session = registered(sessions.open(files), QUERIES)
    for name in ("rooms", "means"):
        session._queries[name].start("memory", trigger="1 hour")

    def fail(_timeout: float) -> None:
        raise OSError("no broker")

    with monkeypatch.context() as patch:
        patch.setattr(session._queries["rooms"], "stop", fail)
        with pytest.raises(OSError, match="no broker"):
            session.stop()
    assert not session._queries["means"].is_running
    assert not session._metrics._is_following
    assert session._temporary is not None
    assert not session._temporary.exists()
