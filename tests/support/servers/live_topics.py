"""Topics of a test by librdkafka: made, written to with all that a record has, and read back."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewPartitions, NewTopic

Headers = list[tuple[str, bytes]]
PATIENCE_S = 30.0


@dataclass(frozen=True)
class Record:
    """What is put into a topic; a value that is no bytes is put as JSON."""

    value: Any
    key: bytes | None = None
    partition: int = 0
    time_ms: int = 0
    headers: Headers | None = None

    @property
    def data(self) -> bytes | None:
        is_raw = self.value is None or isinstance(self.value, bytes)
        return self.value if is_raw else json.dumps(self.value).encode()


@dataclass(frozen=True)
class LiveTopics:
    """Topics of one test, whose names are new."""

    servers: str
    suffix: str

    def made(self, word: str, partitions: int = 2) -> str:
        name = f"{word}-{self.suffix}"
        admin = self._admin
        for done in admin.create_topics([NewTopic(name, partitions, 1)]).values():
            done.result(PATIENCE_S)
        return name

    def widen(self, topic: str, partitions: int) -> None:
        admin = self._admin
        for done in admin.create_partitions([NewPartitions(topic, partitions)]).values():
            done.result(PATIENCE_S)

    def put(self, topic: str, records: Iterable[Record], **settings: Any) -> None:
        producer = Producer({"bootstrap.servers": self.servers, **settings})
        for each in records:
            producer.produce(
                topic, each.data, each.key, each.partition, timestamp=each.time_ms,
                headers=each.headers,
            )  # fmt: skip
        assert producer.flush(PATIENCE_S) == 0

    def put_in_transaction(self, topic: str, records: Iterable[Record], *, commits: bool) -> None:
        producer = Producer(
            {"bootstrap.servers": self.servers, "transactional.id": f"t-{self.suffix}"}
        )
        producer.init_transactions(PATIENCE_S)
        producer.begin_transaction()
        for each in records:
            producer.produce(topic, each.data, each.key, each.partition)
        producer.flush(PATIENCE_S)
        if commits:
            producer.commit_transaction(PATIENCE_S)
        else:
            producer.abort_transaction(PATIENCE_S)

    def delete_before(self, topic: str, partition: int, offset: int) -> None:
        asked = [TopicPartition(topic, partition, offset)]
        admin = self._admin
        for done in admin.delete_records(asked).values():
            done.result(PATIENCE_S)

    def committed(self, group: str, topic: str, partitions: int) -> list[int]:
        consumer = Consumer({"bootstrap.servers": self.servers, "group.id": group})
        asked = [TopicPartition(topic, number) for number in range(partitions)]
        found = [each.offset for each in consumer.committed(asked, timeout=PATIENCE_S)]
        consumer.close()
        return found

    def read(self, topic: str, partitions: int = 2) -> list[Any]:
        """All committed records as messages of the client, by partition and number."""
        consumer = Consumer(
            {"bootstrap.servers": self.servers, "group.id": "readers", "enable.partition.eof": True}
        )
        consumer.assign([TopicPartition(topic, number, 0) for number in range(partitions)])
        found, ended = [], 0
        while ended < partitions:
            message = consumer.poll(PATIENCE_S)
            assert message is not None, "the topic does not end"
            if message.error() is None:
                found.append(message)
            else:
                ended += 1
        consumer.close()
        return sorted(found, key=lambda each: (each.partition(), each.offset()))

    @property
    def _admin(self) -> AdminClient:
        return AdminClient({"bootstrap.servers": self.servers})


def values_of(messages: Sequence[Any]) -> list[Any]:
    """The values of messages, from JSON."""
    return [json.loads(each.value()) for each in messages]
