"""Tables whose changes are the records of a topic: rows, envelopes, and records that delete."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.servers.kafka_topics import Topics
from support.spark.stream_files import SECOND, Files, Sessions, rows
from windrow import sources
from windrow.errors import DataError

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

QUERY = "SELECT h.room, t.n FROM h [1 HOUR] JOIN t ON h.room = t.k"
RECORDS: dict[str, list[tuple[bytes, bytes | None]]] = {
    "debezium-json": [
        (b"{}", b'{"payload": {"before": null, "after": {"k": "a", "n": 1}, "op": "c"}}'),
        (b"{}", b'{"before": {"k": "a", "n": 1}, "after": {"k": "a", "n": 2}, "op": "u"}'),
        (b"{}", b'{"before": null, "after": {"k": "b", "n": 3}, "op": "r"}'),
        (b"{}", b'{"before": {"k": "b"}, "after": null, "op": "d"}'),
        (b"{}", None),
    ],
    "upsert-json": [
        (b'"a"', b'{"n": 1}'),
        (b'"a"', b'{"n": 2}'),
        (b'{"k": "b"}', b'{"k": "b", "n": 3}'),
        (b'{"k": "b"}', None),
    ],
    "json": [(b"a", b'{"n": 1}'), (b"a", b'{"n": 2}'), (b"b", b'{"n": 3}'), (b"b", None)],
}


def put(topics: Topics, topic: str, records: list[tuple[bytes, bytes | None]]) -> None:
    """In order, as all are written by one task into one partition."""
    frame = topics.spark.createDataFrame(records, "key binary, value binary").coalesce(1)
    writer = frame.selectExpr("key", "value", "0 AS partition").write.format("kafka")
    writer.option("kafka.bootstrap.servers", topics.servers).option("topic", topic).save()


@pytest.mark.parametrize("form", RECORDS)
def test_a_table_follows_its_topic(
    form: str, topics: Topics, sessions: Sessions, tmp_path: Path
) -> None:
    topic = topics.name("table")
    put(topics, topic, RECORDS[form])
    files = Files(topics.spark, tmp_path / "in")
    files.put("h", rows(("a", SECOND, 0.0), ("b", 2 * SECOND, 0.0)))
    session = sessions.open()
    session.stream("h", files.stream("h"), time="ts")
    beside = {"k": "key"} if form == "json" else None
    source = sources.kafka(topic, topics.servers, format=form, from_record=beside)
    session.table("t", "k string, n int", key="k", source=source)
    query = session.query(QUERY, name="q").start("memory", trigger="available")
    session.finish()
    assert query.result().to_pylist() == [{"room": "a", "n": 2}]
    ledger = {row["stream"]: row["rows_in"] for row in session.ledger().to_pylist()}
    assert ledger["t"] == 4


def test_a_record_that_is_no_row_ends_the_query(
    topics: Topics, sessions: Sessions, tmp_path: Path
) -> None:
    topic = topics.name("damaged")
    put(topics, topic, [(b"a", b"oh")])
    session = sessions.open()
    session.stream("h", Files(topics.spark, tmp_path / "in").stream("h"), time="ts")
    source = sources.kafka(topic, topics.servers, from_record={"k": "key"})
    session.table("t", "k string, n int", key="k", source=source)
    query = session.query(QUERY, name="q").start("memory", trigger="available")
    with pytest.raises(DataError, match=r"WD717.*it is no row"):
        query.await_end()
