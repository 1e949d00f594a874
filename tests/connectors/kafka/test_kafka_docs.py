"""The pages on Kafka, played against a broker: snippets, commands, and what they show."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import pytest
from pyspark.sql import SparkSession

from support.command_line import environment
from support.doc_pages import blocks_of, commands_in, play
from support.servers.kafka_topics import Topics, as_json
from support.servers.postgres_server import Server, programs

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

DOCS = Path(__file__).parents[3] / "docs"
BROKER = "localhost:9092"
DATABASE = "postgresql://windrow@localhost/building"
START = datetime(2026, 1, 1, 9, tzinfo=UTC)
WAIT_S = 180


@pytest.fixture(scope="module")
def building() -> Iterator[str]:
    """The address of the database that a page names."""
    found = programs()
    if found is None:
        pytest.skip("no PostgreSQL server is installed; `make test-postgres` says how to get one")
    server = Server.start(found)
    with server.connect() as connection:
        connection.execute("CREATE ROLE windrow LOGIN")
        connection.execute("CREATE DATABASE building OWNER windrow")
    yield f"postgresql://windrow@/building?host={server.folder}"
    server.stop()


def here(page: str, folder: Path, names: dict[str, str]) -> Path:
    """A copy of the page in the folder, with names of this machine."""
    text = (DOCS / page).read_text(encoding="utf-8")
    for written, meant in names.items():
        assert written in text
        text = text.replace(written, meant)
    copy = folder / Path(page).name
    copy.write_text(text, encoding="utf-8")
    return copy


def readings(celsius: float, seconds: range) -> list[tuple[bytes, None]]:
    rows = [
        {"location": "lab", "ts": START + timedelta(seconds=each), "celsius": celsius}
        for each in seconds
    ]
    return [(as_json(row), None) for row in rows]


def test_the_page_on_kafka(spark: SparkSession, topics: Topics, tmp_path: Path) -> None:
    source, target = topics.name("readings"), topics.name("hot")
    rows = [
        {"location": place, "ts": f"2026-01-01T00:00:0{second}Z", "celsius": celsius}
        for second, (place, celsius) in enumerate([("attic", 50.0), ("cellar", 12.0)] * 3)
    ]
    topics.put(source, [(as_json(row), None) for row in rows])
    written = {BROKER: topics.servers, '"readings"': f'"{source}"', '("hot"': f'("{target}"'}
    page = here("how-to/kafka.md", tmp_path, written)
    given = {"spark": spark, "folder": tmp_path / "checkpoint"}
    session = play(page, tmp_path, "py", given)["session"]
    session.finish()
    session.stop()
    records = topics.read(target)
    assert {record["key"]["location"] for record in records} == {"attic"}
    assert records[-1]["value"] == {"location": "attic", "n": 3}


def test_the_tutorial(topics: Topics, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = here("tutorial/spark-and-kafka.md", tmp_path, {BROKER: topics.servers})
    lines = [each for block in blocks_of(page) for each in commands_in(block)]
    for words in lines:
        if words[0] == "mvn":
            subprocess.run(words, cwd=tmp_path, check=True)
    assert len(list((tmp_path / "jars").glob("*.jar"))) == 4
    monkeypatch.chdir(tmp_path)
    play(page, tmp_path, "py")


def test_from_kafka_to_postgres(
    topics: Topics,
    building: str,
    jars: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    source = topics.name("readings")
    written = {BROKER: topics.servers, "readings": source, DATABASE: building}
    page = here("how-to/kafka-to-postgres.md", tmp_path, written)
    (tmp_path / "jars").symlink_to(Path(jars[0]).parent)
    topics.put(source, [*readings(45.0, range(5)), (b"no JSON", None)])
    monkeypatch.chdir(tmp_path)
    session = play(page, tmp_path, "py")["session"]
    command = [sys.executable, "-m", "windrow", "run", "hot.wql", "--jars", "jars"]
    job = subprocess.Popen(command, cwd=tmp_path, env=environment())
    try:
        # Both are complete through a second and a microsecond before their newest reading.
        await_rows(building, "SELECT location, n, mean FROM warm", [])
        topics.put(source, readings(20.0, range(100, 102)))
        await_rows(building, "SELECT location, n, mean FROM warm", [("lab", 5, 45.0)])
        await_rows(building, "SELECT location, n, top FROM hot", [("lab", 5, 45.0)])
        assert session.ledger()["bad_time"].to_pylist() == [1]
        topics.put(source, readings(20.0, range(700, 702)))
        await_rows(building, "SELECT location, n, top FROM hot", [])
        await_rows(building, "SELECT location, n, mean FROM warm", [("lab", 2, 20.0)])
    finally:
        session.stop()
        job.send_signal(signal.SIGTERM)
        assert job.wait(WAIT_S) in (0, 143)


def await_rows(url: str, text: str, wanted: list[tuple[object, ...]]) -> None:
    """Returns once the query gives these rows; the table may not be there yet."""
    limit, found = time.monotonic() + WAIT_S, None
    while found != wanted:
        assert time.monotonic() < limit, f"{text}: {found}"
        time.sleep(0.2)
        with psycopg.connect(url) as connection, suppress(psycopg.errors.UndefinedTable):
            found = connection.execute(text).fetchall()  # type: ignore[call-overload]
