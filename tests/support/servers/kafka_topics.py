"""Topics of a test: records are put there, and read back as a plain reader sees them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession

from windrow.connectors.kafka.spark_java import Java

BYTES = "org.apache.kafka.common.serialization.ByteArraySerializer"
Record = tuple[bytes | None, int | None]  # a value, and its time in milliseconds


@dataclass
class Topics:
    """Names are new for each test."""

    spark: SparkSession
    servers: str
    suffix: str

    def name(self, word: str) -> str:
        return f"{word}-{self.suffix}"

    def put(self, topic: str, records: Iterable[Record]) -> None:
        """Adds records, in turn to each of the two partitions."""
        java = Java(self.spark)
        serializers = {"key.serializer": BYTES, "value.serializer": BYTES}
        settings = java.map({"bootstrap.servers": self.servers, **serializers})
        producer = java.new("org.apache.kafka.clients.producer.KafkaProducer", settings)
        record = java.name("org.apache.kafka.clients.producer.ProducerRecord")
        for number, (value, time_ms) in enumerate(records):
            producer.send(record(topic, number % 2, time_ms, None, value))
        producer.close()

    def put_rows(self, topic: str, rows: pa.Table) -> None:
        """Adds rows as JSON."""
        self.put(topic, [(as_json(row), None) for row in rows.to_pylist()])

    def read(self, topic: str) -> list[dict[str, Any]]:
        """Committed records: partition, key, value (both from JSON) and headers."""
        options = {
            "kafka.bootstrap.servers": self.servers,
            "kafka.isolation.level": "read_committed",
            "subscribe": topic,
            "includeHeaders": "true",
        }
        found = self.spark.read.format("kafka").options(**options).load()
        records = found.orderBy("partition", "offset").toArrow().to_pylist()
        return [_shown(record) for record in records]


def as_json(row: dict[str, Any]) -> bytes:
    """A row as JSON; times as their ISO text."""
    return json.dumps(row, default=lambda time: time.isoformat()).encode()


def _shown(record: dict[str, Any]) -> dict[str, Any]:
    read = {part: record[part] and json.loads(record[part]) for part in ("key", "value")}
    headers = {header["key"]: header["value"].decode() for header in record["headers"] or ()}
    return {"partition": record["partition"], **read, "headers": headers}
