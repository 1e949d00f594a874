"""Batches in a topic: each once, whole, whatever is given again."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from support.servers.kafka_topics import Topics
from windrow.connectors.kafka.connector import KafkaSink
from windrow.connectors.kafka.spark_producer import TransactionalProducer
from windrow.connectors.kafka.spark_sink import KafkaWriter
from windrow.embedded.session import EmbeddedSession
from windrow.errors import DataError
from windrow.plan.model import QueryPlan
from windrow.spark.checkpoint.query_checkpoint import QueryCheckpoint
from windrow.storage import Storage

pytestmark = [pytest.mark.kafka, pytest.mark.spark]


def plan_of(text: str) -> QueryPlan:
    session = EmbeddedSession()
    session.stream("h", {"room": "string", "ts": "timestamp", "value": "double"}, time="ts")
    return session.query(text).plan


COUNTS = "SELECT room, COUNT(*) AS n FROM h [8 SECONDS] GROUP BY room"


@pytest.fixture
def checkpoint(tmp_path: Path) -> QueryCheckpoint:
    return QueryCheckpoint(Storage(tmp_path / "checkpoint"), "counts")


def answers(first: int, count: int) -> dict[str, pa.Table]:
    numbers = range(first, first + count)
    at = pa.array(numbers, pa.int64()).cast(pa.timestamp("us", tz="UTC"))
    rooms = [f"r{number % 3}" for number in numbers]
    return {"answers": pa.table({"at": at, "room": rooms, "n": list(numbers)})}


def test_a_batch_that_is_given_again_is_written_once(
    topics: Topics, checkpoint: QueryCheckpoint
) -> None:
    topic = topics.name("once")
    sink = KafkaSink(topic, topics.servers)
    first = KafkaWriter(sink, plan_of(COUNTS), checkpoint)
    first.write(answers(0, 5), 0)
    first.write(answers(5, 2), 1)
    first.write(answers(5, 2), 1)
    # Another driver goes on from the same checkpoint.
    second = KafkaWriter(sink, plan_of(COUNTS), checkpoint)
    second.write(answers(5, 2), 1)
    second.write(answers(7, 1), 2)
    records = topics.read(topic)
    assert sorted(record["value"]["n"] for record in records) == list(range(8))
    for record in records:
        assert record["key"] == {"room": record["value"]["room"]}
        assert record["value"]["at"] == f"1970-01-01T00:00:00.{record['value']['n']:06d}Z"
        assert record["headers"]["windrow-batch"].startswith("windrow-counts-")
    assert sorted(record["headers"]["windrow-row"] for record in records) == sorted("01234010")
    by_key = {record["key"]["room"]: record["partition"] for record in records}
    assert {(record["key"]["room"], record["partition"]) for record in records} == set(
        by_key.items()
    )
    # The first one was taken for dead, and may write nothing more.
    with pytest.raises(DataError, match="WD480") as raised:
        first.write(answers(7, 1), 3)
    # A broker has been seen to leave a producer that is fenced off without an answer, too.
    refusals = ("Fenced", "InvalidProducerEpoch", "AddOffsetsToTxn")
    assert any(refusal in str(raised.value) for refusal in refusals)
    assert len(topics.read(topic)) == 8
    second.close()
    first.close()


def test_a_batch_that_fails_half_way_is_not_there(
    topics: Topics, checkpoint: QueryCheckpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    topic = topics.name("half")
    sink = KafkaSink(topic, topics.servers)
    writer = KafkaWriter(sink, plan_of(COUNTS), checkpoint)
    writer.write(answers(0, 3), 0)

    def fail(producer: TransactionalProducer, batch_id: int) -> None:  # noqa: ARG001
        raise RuntimeError("power cut")

    with monkeypatch.context() as patched:
        patched.setattr(TransactionalProducer, "_offsets", fail)
        with pytest.raises(RuntimeError, match="power cut"):
            writer.write(answers(3, 4), 1)
    again = KafkaWriter(sink, plan_of(COUNTS), checkpoint)
    assert sorted(record["value"]["n"] for record in topics.read(topic)) == [0, 1, 2]
    again.write(answers(3, 4), 1)
    assert sorted(record["value"]["n"] for record in topics.read(topic)) == list(range(7))
    again.close()


def test_without_transactions_repeated_records_have_the_same_headers(
    topics: Topics, checkpoint: QueryCheckpoint
) -> None:
    topic = topics.name("plain")
    sink = KafkaSink(topic, topics.servers, key=("n",), transactional=False)
    for _ in range(2):
        KafkaWriter(sink, plan_of(COUNTS), checkpoint).write(answers(0, 4), 7)
    records = topics.read(topic)
    assert len(records) == 8
    named = {(each["headers"]["windrow-batch"], each["headers"]["windrow-row"]) for each in records}
    assert len(named) == 4
    assert {each["key"]["n"] for each in records} == set(range(4))


def test_upserts_leave_the_result_under_its_keys(
    topics: Topics, checkpoint: QueryCheckpoint
) -> None:
    topic = topics.name("upserts")
    writer = KafkaWriter(KafkaSink(topic, topics.servers, "upserts"), plan_of(COUNTS), checkpoint)
    at = pa.array([1, 1, 2, 2], pa.int64()).cast(pa.timestamp("us", tz="UTC"))
    columns = {"at": at, "change": [1, 1, -1, 1], "room": ["a", "b", "a", "a"], "n": [1, 1, 1, 2]}
    writer.write({"changes": pa.table(columns)}, 0)
    columns = {"at": at[:1], "change": [-1], "room": ["b"], "n": [1]}
    writer.write({"changes": pa.table(columns)}, 1)
    writer.close()
    last = {record["key"]["room"]: record["value"] for record in topics.read(topic)}
    assert last == {"a": {"room": "a", "n": 2}, "b": None}
