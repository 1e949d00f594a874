"""Kafka's own transactional producer, in the JVM of the driver.

A batch and the fact that it was written are one transaction: the number of the next batch is
committed as an offset of a consumer group that has the producer's name. Whoever reads committed
records sees a batch whole or not at all, and a batch that is given again is known and left out.

Calls from Python into the JVM for each record would cost some twenty times what sending costs. So
sending a row is put together from method handles, once, and the JVM walks over the rows itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from windrow.connectors.kafka.record_headers import BATCH_HEADER, ROW_HEADER
from windrow.connectors.kafka.spark_java import Java

__all__ = ["TransactionalProducer"]

_BYTES = "org.apache.kafka.common.serialization.ByteArraySerializer"
_CLIENTS = "org.apache.kafka.clients"
_HEADERS = "org.apache.kafka.common.header"


class TransactionalProducer:
    """Writes batches of one query into one topic, each once.

    Of several producers with one name only the youngest can write: a driver that was taken for
    dead and is not gets an error from Kafka.
    """

    def __init__(
        self, spark: SparkSession, topic: str, name: str, settings: Mapping[str, str]
    ) -> None:
        self._java = Java(spark)
        self._name = name
        self._topic = topic
        self._settings = {
            "acks": "all",
            **settings,
            "transactional.id": name,
            "key.serializer": _BYTES,
            "value.serializer": _BYTES,
        }
        producer = self._java.new(
            f"{_CLIENTS}.producer.KafkaProducer", self._java.map(self._settings)
        )
        self._producer = producer
        try:
            # Ends what a producer of this name has left open; the offset is stable afterwards.
            producer.initTransactions()
            self.next_batch = self._committed()
            self._send = _sender(self._java, producer, topic)
        except BaseException:
            producer.close()
            raise

    def write(self, records: DataFrame, batch_id: int) -> None:
        """Writes the records of a batch, and that it was written; or neither."""
        rows = records._jdf.collectAsList()
        self._producer.beginTransaction()
        try:
            rows.forEach(self._send)
            self._producer.sendOffsetsToTransaction(self._offsets(batch_id + 1), self._group())
            self._producer.commitTransaction()
        except BaseException:
            self.close()
            raise
        self.next_batch = batch_id + 1

    def close(self) -> None:
        """Lets go of threads and connections; an open transaction is given up."""
        self._producer.close(self._java.name("java.time.Duration").ofSeconds(5))

    def _committed(self) -> int:
        """The number of the batch after the last that was written; 0 when there is none."""
        client = self._java.name(f"{_CLIENTS}.admin.AdminClient").create(
            self._java.map(_client_settings(self._settings))
        )
        try:
            found = client.listConsumerGroupOffsets(self._name).partitionsToOffsetAndMetadata()
            offset = found.get().get(self._partition())
            return 0 if offset is None else int(offset.offset())
        finally:
            client.close()

    def _partition(self) -> Any:
        return self._java.new("org.apache.kafka.common.TopicPartition", self._topic, 0)

    def _offsets(self, batch_id: int) -> Any:
        offset = self._java.new(f"{_CLIENTS}.consumer.OffsetAndMetadata", batch_id)
        offsets = self._java.new("java.util.HashMap")
        offsets.put(self._partition(), offset)
        return offsets

    def _group(self) -> Any:
        return self._java.new(f"{_CLIENTS}.consumer.ConsumerGroupMetadata", self._name)


def _client_settings(settings: Mapping[str, str]) -> dict[str, str]:
    """Of a producer's settings, those that an administrating client has too."""
    shared = ("bootstrap.", "client.", "sasl.", "security.", "ssl.", "request.", "default.api.")
    return {name: value for name, value in settings.items() if name.startswith(shared)}


def _sender(java: Java, producer: Any, topic: str) -> Any:
    """A java.util.function.Consumer that sends a row of key, value, batch and row number."""
    row, record = java.type("org.apache.spark.sql.Row"), f"{_CLIENTS}.producer.ProducerRecord"
    nothing = java.name("java.lang.Void").TYPE
    text, iterable = java.type("java.lang.String"), java.type("java.lang.Iterable")
    anything, number = java.type("java.lang.Object"), java.type("java.lang.Integer")
    create = java.lookup.findConstructor(
        java.type(record), java.method(nothing, text, number, anything, anything, iterable)
    )
    made = java.of_row(
        java.filled(create, topic, None),
        row,
        _column(java, row, 0, anything),
        _column(java, row, 1, anything),
        _headers(java, row).asType(java.method(iterable, row)),
    )
    promise = java.type("java.util.concurrent.Future")
    send = java.lookup.bind(producer, "send", java.method(promise, java.type(record)))
    whole = java.of_row(send, row, made).asType(java.method(nothing, anything))
    consumer = java.type("java.util.function.Consumer")
    return java.name("java.lang.invoke.MethodHandleProxies").asInterfaceInstance(consumer, whole)


def _headers(java: Java, row: Any) -> Any:
    """A handle from a row to its record's headers."""
    several = java.type(f"[L{_HEADERS}.Header;")
    create = java.lookup.findConstructor(
        java.type(f"{_HEADERS}.internals.RecordHeaders"),
        java.method(java.name("java.lang.Void").TYPE, several),
    )
    named = ((2, BATCH_HEADER), (3, ROW_HEADER))
    headers = [_header(java, row, index, name) for index, name in named]
    return java.of_row(create.asCollector(several, len(headers)), row, *headers)


def _header(java: Java, row: Any, index: int, name: str) -> Any:
    text, data = java.type("java.lang.String"), java.type("[B")
    create = java.lookup.findConstructor(
        java.type(f"{_HEADERS}.internals.RecordHeader"),
        java.method(java.name("java.lang.Void").TYPE, text, data),
    )
    made = java.of_row(java.filled(create, name), row, _column(java, row, index, data))
    return made.asType(java.method(java.type(f"{_HEADERS}.Header"), row))


def _column(java: Java, row: Any, index: int, kind: Any) -> Any:
    """A handle from a row to one of its values."""
    whole_number = java.name("java.lang.Integer").TYPE
    anything = java.type("java.lang.Object")
    get = java.lookup.findVirtual(row, "get", java.method(anything, whole_number))
    chosen = java.handles.insertArguments(get, 1, java.array("java.lang.Object", index))
    return chosen.asType(java.method(kind, row))
