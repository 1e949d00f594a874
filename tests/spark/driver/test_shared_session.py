"""Several queries in one Spark query: started, joined by others, stopped, taken up again."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from support.spark.stream_files import (
    Files,
    Sessions,
    embedded,
    in_order,
    random_batches,
    read_sink,
)
from windrow import sinks
from windrow.embedded.session import EmbeddedSession
from windrow.errors import BindingError, CheckpointError
from windrow.spark.driver.session import SparkWindrowSession

pytestmark = pytest.mark.spark

JOIN = "SELECT h.room, COUNT(*) AS n FROM h [8 SECONDS], c [5 SECONDS] WHERE h.room = c.room"
QUERIES = {
    "rooms": f"{JOIN} GROUP BY h.room",
    "total": JOIN.replace("h.room, ", "").replace("8 SEC", "20 SEC"),
    "means": "SELECT AVG(h.value) AS m FROM h [3 SECONDS], c [5 SECONDS] "
    "WHERE h.room = c.room AND c.value > 2 EVERY (5 SECONDS)",
}
HEAT = "SELECT room, MAX(value) AS most FROM h [5 SECONDS] GROUP BY room"
LAST = "SELECT COUNT(*) AS n FROM h [ROWS 3]"


def registered(session: SparkWindrowSession, texts: dict[str, str]) -> SparkWindrowSession:
    for name, text in texts.items():
        session.query(text, name=name)
    return session


def active(session: SparkWindrowSession) -> int:
    """How many Spark queries are at work."""
    return len(session._spark.streams.active)


@pytest.mark.long_spark
def test_queries_that_are_dealt_out_alike_share_a_spark_query(
    files: Files, sessions: Sessions
) -> None:
    batches = random_batches(5, seed=1)
    files.put_all(batches)
    texts = {**QUERIES, "heat": HEAT, "last": LAST}
    session = registered(sessions.open(files), texts)
    running = session.start(dict.fromkeys(texts, "memory"))
    assert active(session) == 3  # the joins; one by rooms; one that counts rows
    session.finish()
    for name, query in running.items():
        twin, _ = embedded(texts[name], batches)
        assert query.answers().to_pylist() == twin.answers().to_pylist(), name
    assert running["rooms"].progress()["ledger"] == running["total"].progress()["ledger"]
    assert sum(running["rooms"].progress()["rows_in"].values()) == 600


def pushed(session: EmbeddedSession, batches: list[dict[str, pa.Table]]) -> None:
    for batch in batches:
        for stream, table in batch.items():
            session.push(stream, table)


@pytest.mark.long_spark
def test_a_query_joins_and_another_leaves_while_the_others_go_on(
    files: Files, sessions: Sessions, tmp_path: Path
) -> None:
    batches = random_batches(6, seed=2)
    twin = EmbeddedSession()
    for stream in ("h", "c"):
        twin.stream(stream, {"room": "string", "ts": "timestamp", "value": "double"}, time="ts")
    session = registered(sessions.open(files), QUERIES)
    expected: dict[str, Any] = {name: twin.query(QUERIES[name]) for name in ("rooms", "total")}
    sink = sinks.parquet(tmp_path / "rooms", feed="changes")
    session.start({"rooms": sink, "total": "memory"})
    caught_up(session, files, batches[:2])
    pushed(twin, batches[:2])
    session.start({"means": "memory"})  # reads a column that was not carried before
    expected["means"] = twin.query(QUERIES["means"])
    assert active(session) == 1
    caught_up(session, files, batches[2:4])
    pushed(twin, batches[2:4])
    means = session._queries["means"]
    assert means.progress()["first_batch"] > 0
    assert means.progress()["began"] is not None
    session._queries["total"].stop()
    expected["total"].stop()
    assert not session._queries["total"].is_running
    assert means.is_running
    caught_up(session, files, batches[4:])
    pushed(twin, batches[4:])
    session.finish()
    twin.finish()
    assert means.answers().to_pylist() == expected["means"].answers().to_pylist()
    total = session._queries["total"].answers()
    assert total.to_pylist() == expected["total"].answers().to_pylist()
    assert in_order(read_sink(tmp_path / "rooms")) == in_order(expected["rooms"].changes())


def caught_up(
    session: SparkWindrowSession, files: Files, batches: list[dict[str, pa.Table]]
) -> None:
    files.put_all(batches)
    bundles = session._bundles._known.values()
    for bundle in bundles:
        bundle.catch_up()


@pytest.mark.long_spark
def test_a_bundle_is_taken_up_again_with_all_its_queries(
    files: Files, sessions: Sessions, tmp_path: Path
) -> None:
    batches = random_batches(6, seed=3)
    paths = {name: tmp_path / name for name in QUERIES}
    given = {name: sinks.parquet(path, feed="answers") for name, path in paths.items()}
    first = registered(sessions.open(files), QUERIES)
    files.put_all(batches[:2])
    first.start({"rooms": given["rooms"], "total": given["total"]}, trigger="available")
    first._queries["rooms"].await_end()
    first.start({"means": given["means"]}, trigger="available")
    first._queries["means"].await_end()
    first.stop()
    files.put_all(batches[2:])
    second = registered(sessions.open(files), QUERIES)
    with pytest.raises(BindingError, match=r"WB451.*also runs means, rooms"):
        second.start({"total": given["total"]})
    with pytest.raises(BindingError, match="WB452"):
        second.start({"nobody": "memory"})
    second.start({**given, "total": None}, trigger="available")
    second._queries["rooms"].await_end()
    second.finish()
    rooms, _ = embedded(QUERIES["rooms"], batches)
    assert read_sink(paths["rooms"]).to_pylist() == rooms.answers().to_pylist()
    total, _ = embedded(QUERIES["total"], batches)
    seen = read_sink(paths["total"]).to_pylist()
    assert seen == total.answers().to_pylist()[: len(seen)]
    second.stop()
    third = sessions.open(files)
    registered(third, {**QUERIES, "means": QUERIES["means"].replace("3 SEC", "4 SEC")})
    with pytest.raises(CheckpointError, match="WC210"):
        third.start({name: given[name] for name in ("rooms", "means")})


def test_one_operator_has_one_trigger(files: Files, sessions: Sessions) -> None:
    session = registered(sessions.open(files), QUERIES)
    session.start({"rooms": "memory"}, trigger="1 hour")
    with pytest.raises(BindingError, match="WB412"):
        session.start({"rooms": "memory"}, trigger="1 hour")
    with pytest.raises(BindingError, match="WB450"):
        session.start({"total": "memory"}, trigger="2 hours")


@pytest.mark.long_spark
def test_a_folder_of_another_run_is_refused_to_a_query_that_joins(
    files: Files, sessions: Sessions, tmp_path: Path
) -> None:
    files.put_all(random_batches(2, seed=4))
    session = registered(sessions.open(files), QUERIES)
    session.start({"rooms": "memory"})
    caught_up(session, files, [])
    taken = tmp_path / "taken"
    taken.mkdir()
    (taken / "batch-000000000000.parquet").write_bytes(b"")
    with pytest.raises(CheckpointError, match="WC217"):
        session.start({"total": sinks.parquet(taken)})
    assert session.recorded() == ["rooms"]
    with pytest.raises(CheckpointError, match="WC218"):
        session.start(dict.fromkeys(["means", "total"], sinks.parquet(tmp_path / "one")))
    assert session._queries["rooms"].is_running


def test_a_heartbeat_is_one_order_for_all_queries_of_an_operator(
    files: Files, sessions: Sessions
) -> None:
    session = registered(sessions.open(files), QUERIES)
    session.start(dict.fromkeys(QUERIES, "memory"))
    session.advance("h", to=10)
    [bundle] = session._bundles._known.values()
    orders = [name for name in bundle._checkpoint.control.names() if "query-" not in name]
    assert len(orders) == 1


@pytest.mark.long_spark
def test_orders_go_once_their_batch_is_committed(files: Files, sessions: Sessions) -> None:
    files.put_all(random_batches(1, seed=5))
    session = registered(sessions.open(files), QUERIES)
    session.start(dict.fromkeys(["rooms", "total"], "memory"))
    [bundle] = session._bundles._known.values()
    for second in range(1, 4):
        session.advance("h", to=second)
        session.advance("c", to=second)
        bundle.catch_up()
    until = time.monotonic() + 60
    while len(bundle._checkpoint.control.names()) > 2:  # those of the last batch stay
        assert time.monotonic() < until
        time.sleep(0.05)
    session.stop()
    again = registered(sessions.open(files), QUERIES)
    running = again.start(dict.fromkeys(["rooms", "total"], "memory"))
    again.finish()
    assert running["rooms"].progress()["first_batch"] == 0
    assert again.recorded() == ["rooms", "total"]
