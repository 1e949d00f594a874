"""A producer by librdkafka: batches in transactions, each once, or records without them.

A batch and the fact that it was written are one transaction: the number of the next batch is
committed as an offset of a consumer group that has the producer's name. Whoever reads committed
records sees a batch whole or not at all, and a batch that is given again is known and left out.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from contextlib import suppress

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, Producer, TopicPartition

from windrow.connectors.kafka.process_records import Record

__all__ = ["PlainProducer", "TransactionalProducer", "is_fenced"]

_LOGGER = logging.getLogger(__name__)

# So long the brokers have for each step of a transaction.
STEP_S = 60.0
SERVING_S = 1.0
# Keys go to the partitions to which the Java client takes them. What fails is raised: the client's
# own log would say it again.
_SETTINGS = {
    "log_level": "2",
    "partitioner": "murmur2_random",
    "acks": "all",
    "enable.idempotence": "true",
}


def is_fenced(error: KafkaError) -> bool:
    """Whether another producer of the same name has begun since: this one may write no more."""
    codes = (
        KafkaError._FENCED,
        KafkaError.PRODUCER_FENCED,
        KafkaError.INVALID_PRODUCER_EPOCH,
    )
    return error.code() in codes


class PlainProducer:
    """Adds records to a topic."""

    def __init__(self, topic: str, settings: Mapping[str, str]) -> None:
        self._topic = topic
        self._producer = Producer({**_SETTINGS, **settings, "logger": _LOGGER})
        self._problem: KafkaError | None = None

    def write(self, records: Iterable[Record]) -> None:
        """Adds the records; they are there when it returns."""
        self._problem = None
        for record in records:
            self._send(record)
        left = self._producer.flush(STEP_S)
        if self._problem is not None:
            raise KafkaException(self._problem)
        if left:
            raise KafkaException(KafkaError(KafkaError._TIMED_OUT, "records were not confirmed"))

    def close(self) -> None:
        """Lets go of what was not sent."""
        self._producer.purge()
        with suppress(KafkaException):  # one that was fenced off has failed already
            self._producer.flush(0)

    def _send(self, record: Record) -> None:
        while True:
            try:
                self._producer.produce(
                    self._topic,
                    record.value,
                    record.key,
                    headers=[*record.headers],
                    on_delivery=self._delivered,
                )
            except BufferError:
                # It holds as much as it may: what was sent makes room.
                self._producer.poll(SERVING_S)
                if self._problem is not None:
                    raise KafkaException(self._problem) from None
                continue
            self._producer.poll(0)
            return

    def _delivered(self, error: KafkaError | None, _record: Message) -> None:
        if error is not None:
            self._problem = self._problem or error


class TransactionalProducer(PlainProducer):
    """Writes batches of one query into one topic, each once.

    Of several producers with one name only the youngest can write: a process that was taken for
    dead and is not gets an error from Kafka.
    """

    def __init__(
        self, topic: str, name: str, settings: Mapping[str, str], shared: Mapping[str, str]
    ) -> None:
        """shared: of the settings, those that a consumer has too."""
        super().__init__(topic, {**settings, "transactional.id": name})
        # Ends what a producer of this name has left open; the offset is stable afterwards.
        self._producer.init_transactions(STEP_S)
        self._marker = TopicPartition(topic, 0)
        self._group = Consumer({"log_level": "2", **shared, "group.id": name, "logger": _LOGGER})
        (found,) = self._group.committed([self._marker], timeout=STEP_S)
        if found.error is not None:
            raise KafkaException(found.error)
        self.next_batch = max(0, found.offset)

    def write_batch(self, records: Iterable[Record], batch_id: int) -> None:
        """Writes the records of a batch, and that it was written; or neither."""
        self._problem = None
        self._producer.begin_transaction()
        for record in records:
            self._send(record)
        told = TopicPartition(self._marker.topic, self._marker.partition, batch_id + 1)
        self._producer.send_offsets_to_transaction(
            [told], self._group.consumer_group_metadata(), STEP_S
        )
        self._producer.commit_transaction(STEP_S)
        self.next_batch = batch_id + 1

    def close(self) -> None:
        """Lets go of connections; an open transaction is ended by the next of this name."""
        try:
            super().close()
        finally:
            self._group.close()
