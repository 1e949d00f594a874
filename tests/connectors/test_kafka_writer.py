"""The writer of a topic when Kafka fails, without Kafka."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.errors import PySparkException

from spark.worker.test_shard_step import JOIN, plan_of
from windrow import sinks
from windrow.connectors.kafka import spark_sink as kafka_sink
from windrow.errors import DataError
from windrow.spark.checkpoint.query_checkpoint import QueryCheckpoint
from windrow.storage import Storage


class Producer:
    """Fails at its first batch, and closes itself then, as Kafka's does."""

    made = 0

    def __init__(self, *_given: object) -> None:
        Producer.made += 1
        self.next_batch = 0
        self._fails = Producer.made == 1
        self._is_closed = False

    def write(self, _records: object, batch_id: int) -> None:
        assert not self._is_closed
        if self._fails:
            self._is_closed = True
            raise PySparkException("no broker")
        self.next_batch = batch_id + 1


def test_a_batch_that_failed_is_written_by_another_producer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session: Any = None
    monkeypatch.setattr(kafka_sink.SparkSession, "active", lambda: session)
    for name in ("require_kafka", "require_producer", "records_frame"):
        monkeypatch.setattr(kafka_sink, name, lambda *_given: None)
    monkeypatch.setattr(kafka_sink, "TransactionalProducer", Producer)
    checkpoint = QueryCheckpoint(Storage(tmp_path), "q")
    writer = kafka_sink.KafkaWriter(sinks.kafka("topic", "host:1"), plan_of(JOIN), checkpoint)
    answers = {"answers": pa.table({"n": [1]})}
    with pytest.raises(DataError, match="WD480"):
        writer.write(answers, 0)
    for batch_id in (0, 1):
        writer.write(answers, batch_id)
    assert Producer.made == 2
