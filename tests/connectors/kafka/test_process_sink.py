"""A topic written in this process: each batch once, whatever is killed, and as Spark writes it."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from confluent_kafka import KafkaException

from support.servers.live_topics import LiveTopics, values_of
from windrow import sinks
from windrow.connectors.kafka import process_sink
from windrow.connectors.kafka.process_records import Record, records_of
from windrow.connectors.kafka.process_sink import ProcessKafkaWriter
from windrow.connectors.kafka.producer import TransactionalProducer
from windrow.connectors.process_run import ProcessRun
from windrow.errors import DataError
from windrow.plan.binder import bind
from windrow.plan.catalog import Catalog
from windrow.schema import StreamSchema, columns_of
from windrow.sql import parse_query

pytestmark = pytest.mark.kafka

CATALOG = Catalog().with_stream(StreamSchema("s", columns_of("ts timestamp, k string"), "ts"))
COUNTS = "SELECT k, COUNT(*) AS n FROM s [1 MINUTE] GROUP BY k"
AT = datetime(2026, 1, 1, tzinfo=UTC)


def run_of(state: str = "a state") -> ProcessRun:
    return ProcessRun("q", bind(parse_query(COUNTS), CATALOG), batches=0, state=state)


def answers(*rows: tuple[str, int]) -> dict[str, pa.Table]:
    return {"answers": pa.table({"k": [k for k, _ in rows], "n": [n for _, n in rows]})}


def changes(*rows: tuple[int, str, int]) -> dict[str, pa.Table]:
    columns = {
        "at": [AT] * len(rows),
        "change": [change for change, _, _ in rows],
        "k": [k for _, k, _ in rows],
        "n": [n for _, _, n in rows],
    }
    return {"changes": pa.table(columns)}


def test_a_batch_that_comes_again_is_known(live_topics: LiveTopics) -> None:
    topic = live_topics.made("out", 2)
    sink = sinks.kafka(topic, live_topics.servers)
    first = ProcessKafkaWriter(sink, run_of())
    first.write(answers(("a", 1), ("b", 2)), 0)
    first.write(answers(("a", 3)), 1)
    first.close()
    again = ProcessKafkaWriter(sink, run_of())
    for batch, n in ((0, 1), (1, 3), (2, 4)):
        again.write(answers(("a", n)), batch)
    again.close()
    found = live_topics.read(topic)
    assert sorted((row["k"], row["n"]) for row in values_of(found)) == [
        ("a", 1),
        ("a", 3),
        ("a", 4),
        ("b", 2),
    ]
    assert {json.loads(each.key())["k"] for each in found} == {"a", "b"}
    batches = {dict(each.headers())["windrow-batch"].decode() for each in found}
    assert batches == {f"windrow-q-a state-{number}" for number in range(3)}
    # Another state is another query: its batches are its own.
    other = ProcessKafkaWriter(sink, run_of("another"))
    other.write(answers(("c", 1)), 0)
    other.close()
    assert len(live_topics.read(topic)) == 5


class FailingProducer(TransactionalProducer):
    """Fails at one step of the first batch; what the brokers then know is what counts."""

    fails_at = ""

    def write_batch(self, records: Any, batch_id: int) -> None:
        step, FailingProducer.fails_at = FailingProducer.fails_at, ""
        if step == "in the middle":
            self._producer.begin_transaction()
            for record in records:
                self._send(record)
            self._producer.flush(10)
        else:
            super().write_batch(records, batch_id)
        if step:
            from confluent_kafka import KafkaError  # noqa: PLC0415 - beside its only use

            raise KafkaException(KafkaError(KafkaError._TRANSPORT, "pulled"))


@pytest.mark.parametrize("step", ["in the middle", "behind the commit"])
def test_a_batch_that_is_cut_off_is_there_once(
    live_topics: LiveTopics, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    monkeypatch.setattr(process_sink, "TransactionalProducer", FailingProducer)
    topic = live_topics.made("out", 1)
    writer = ProcessKafkaWriter(sinks.kafka(topic, live_topics.servers), run_of())
    FailingProducer.fails_at = step
    writer.write(answers(("a", 1), ("b", 1)), 0)
    writer.write(answers(("a", 2)), 1)
    writer.close()
    assert [(row["k"], row["n"]) for row in values_of(live_topics.read(topic, 1))] == [
        ("a", 1),
        ("b", 1),
        ("a", 2),
    ]


def test_a_process_that_was_taken_for_dead_writes_no_more(live_topics: LiveTopics) -> None:
    topic = live_topics.made("out", 1)
    sink = sinks.kafka(topic, live_topics.servers)
    old = ProcessKafkaWriter(sink, run_of())
    old.write(answers(("a", 1)), 0)
    new = ProcessKafkaWriter(sink, run_of())
    new.write(answers(("a", 2)), 1)
    with pytest.raises(DataError, match=r"WD480.*batch 1") as raised:
        old.write(answers(("a", 2)), 1)
    assert "another run" in (raised.value.hint or "")
    new.write(answers(("a", 3)), 2)
    old.close()
    new.close()
    assert [row["n"] for row in values_of(live_topics.read(topic, 1))] == [1, 2, 3]


def test_upserts_and_keys_that_went(live_topics: LiveTopics) -> None:
    topic = live_topics.made("out", 1)
    sink = sinks.kafka(topic, live_topics.servers, feed="upserts")
    writer = ProcessKafkaWriter(sink, run_of())
    writer.write(changes((1, "a", 1), (1, "b", 1)), 0)
    writer.write(changes((-1, "a", 1), (1, "a", 2), (-1, "b", 1)), 1)
    writer.write(changes((1, "a", 3), (-1, "a", 3)), 2)
    writer.close()
    found = [(each.key(), each.value()) for each in live_topics.read(topic, 1)]
    assert found == [
        (b'{"k":"a"}', b'{"k":"a","n":1}'),
        (b'{"k":"b"}', b'{"k":"b","n":1}'),
        (b'{"k":"a"}', b'{"k":"a","n":2}'),
        (b'{"k":"b"}', None),
    ]


def test_without_transactions_and_without_state(live_topics: LiveTopics) -> None:
    topic = live_topics.made("out", 1)
    plain = sinks.kafka(topic, live_topics.servers, transactional=False)
    assert plain.replay == "repeated"
    for sink in (plain, sinks.kafka(topic, live_topics.servers)):
        for _ in range(2):
            run = replace(run_of(), state="", batches=None)
            writer = ProcessKafkaWriter(sink, run)
            writer.write(answers(("a", 1)), 0)
            writer.close()
    assert len(live_topics.read(topic, 1)) == 4


def test_what_kafka_refuses_is_told(live_topics: LiveTopics) -> None:
    sink = sinks.kafka("out", live_topics.servers, options={"kafka.message.max.bytes": "1000"})
    writer = ProcessKafkaWriter(sink, run_of())
    with pytest.raises(DataError, match="WD480"):
        writer.write(answers(("a" * 2_000, 1)), 0)
    writer.close()
    with pytest.raises(DataError, match="WD481"):
        ProcessKafkaWriter(sinks.kafka("out", "127.0.0.1:1"), run_of())


def test_records_of_all_types() -> None:
    table = pa.table(
        {
            "t": pa.array([AT]),
            "f": pa.array([0.1], pa.float32()),
            "d": [0.1],
            "nan": [float("nan")],
            "m": [Decimal("1.50")],
            "b": [b"x"],
            "a": [[1, None]],
            "none": pa.array([None], pa.string()),
            "q": ['say "é"'],
        }
    )
    (record,) = records_of(table, None, ["q"], "b-0")
    assert record == Record(
        '{"q":"say \\"é\\""}'.encode(),
        b'{"t":"2026-01-01T00:00:00.000000Z","f":0.1,"d":0.1,"nan":"NaN","m":1.50,"b":"eA==",'
        b'"a":[1,null],"none":null,"q":"say \\"\xc3\xa9\\""}',
        [("windrow-batch", b"b-0"), ("windrow-row", b"0")],
    )
