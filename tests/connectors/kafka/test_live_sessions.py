"""Topics as live sources of a session with a path: each record counts once, whatever happens."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import windrow
from support.servers.kafka_broker import Broker
from support.servers.killed_reader import KINDS, TOTALS
from support.servers.live_topics import LiveTopics, Record
from windrow import sources

pytestmark = pytest.mark.kafka

PROGRAM = Path(__file__).parents[2] / "support" / "servers" / "killed_reader.py"
ROWS = 6_000
FETCHED = Path(__file__).parents[3] / ".venv" / "kafka"


def records(start: int, stop: int) -> list[Record]:
    return [
        Record({"ts": f"2026-01-01T00:00:{x % 60:02}", "k": f"k{x % 7}", "x": x}, partition=x % 2)
        for x in range(start, stop)
    ]


def expected(stop: int) -> list[dict[str, Any]]:
    return [
        {"k": f"k{k}", "n": len(range(k, stop, 7)), "x": sum(range(k, stop, 7))} for k in range(7)
    ]


def totals(session: Any, query: Any) -> list[dict[str, Any]]:
    session.finish()
    return sorted(query.result().to_pylist(), key=lambda row: str(row["k"]))


def test_a_process_that_is_killed_counts_each_record_once(
    live_topics: LiveTopics, tmp_path: Path
) -> None:
    topic = live_topics.made("in", 2)
    live_topics.put(topic, records(0, ROWS))
    given = {
        "path": str(tmp_path / "state"),
        "topic": topic,
        "servers": live_topics.servers,
        "rows": ROWS,
    }
    chance = random.Random(7)
    for patience_s in (*(chance.uniform(1.5, 4.0) for _ in range(3)), 120.0):
        reader = subprocess.Popen([sys.executable, str(PROGRAM), json.dumps(given)])
        try:
            assert reader.wait(patience_s) == 0
            break
        except subprocess.TimeoutExpired:
            reader.kill()
            reader.wait()
    assert reader.returncode == 0, "it has not read all rows"
    session = windrow.connect(path=tmp_path / "state")
    source = sources.kafka(topic, live_topics.servers, group="killed", max_offsets_per_batch=200)
    session.stream("s", KINDS, time="ts", lateness="1 day", source=source)
    assert totals(session, session.query(TOTALS, name="totals")) == expected(ROWS)
    assert session.ledger()["rows_in"].to_pylist() == [ROWS]
    session.stop()
    # The group was told what is in the state, for those who watch it.
    assert live_topics.committed("killed", topic, 2) == [ROWS // 2] * 2


@pytest.fixture
def own_broker(broker: Broker, tmp_path: Path) -> Iterator[Broker]:  # noqa: ARG001 - what it needs is fetched
    made = Broker(FETCHED / "broker", tmp_path)
    try:
        made.start()
        yield made
    finally:
        made.stop()


def test_a_broker_that_goes_away_is_waited_for(own_broker: Broker) -> None:
    live_topics = LiveTopics(own_broker.servers, "x")
    topic = live_topics.made("in", 2)
    live_topics.put(topic, records(0, 700))
    session = windrow.connect()
    source = sources.kafka(topic, own_broker.servers)
    session.stream("s", KINDS, time="ts", lateness="1 day", source=source)
    query = session.query(TOTALS, name="totals")
    session.start_sources()
    _await_rows(session, 700)
    own_broker.stop()
    _await_state(session, "failing")
    own_broker.restart()
    live_topics.put(topic, records(700, 1_400))
    _await_rows(session, 1_400)
    _await_state(session, "live")
    assert session.progress()["sources"]["s"]["retries"] > 0
    session.stop_sources()
    assert totals(session, query) == expected(1_400)


def _await_rows(session: Any, rows: int) -> None:
    limit = time.monotonic() + 60
    while session.ledger()["rows_in"].to_pylist() != [rows]:
        assert time.monotonic() < limit, session.progress()
        time.sleep(0.05)


def _await_state(session: Any, state: str) -> None:
    limit = time.monotonic() + 60
    while session.progress()["sources"]["s"]["state"] != state:
        assert time.monotonic() < limit, session.progress()
        time.sleep(0.05)
