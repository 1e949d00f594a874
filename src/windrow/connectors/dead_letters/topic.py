"""Bad rows sent to a topic, each as one JSON object."""

from __future__ import annotations

from collections.abc import Sequence

from confluent_kafka import KafkaException

from windrow.connectors.dead_letters.letters import DeadLetters, letter_of
from windrow.connectors.kafka.client_settings import client_settings
from windrow.connectors.kafka.process_records import Record
from windrow.connectors.kafka.producer import PlainProducer
from windrow.connectors.kafka.reach import check_servers
from windrow.errors import DataError
from windrow.rows.bad_rows import BadRow

__all__ = ["LetterTopic"]


class LetterTopic(DeadLetters):
    """A topic to which bad rows of one stream are added; its limits are those of the topic."""

    def __init__(self, stream: str, address: str) -> None:
        self._stream = stream
        servers, _, self._topic = address.partition("://")[2].rpartition("/")
        check_servers(servers, {})
        self._producer = PlainProducer(self._topic, client_settings(servers, {}))

    def add(self, rows: Sequence[BadRow]) -> None:
        """Sends a record for each; all are confirmed when it returns."""
        if not rows:
            return
        key = self._stream.encode()
        try:
            self._producer.write(Record(key, letter_of(self._stream, row), []) for row in rows)
        except KafkaException as problem:
            raise DataError(
                "WD514",
                f"bad rows of stream {self._stream!r} cannot be written to topic "
                f"{self._topic!r}: {problem.args[0].str()}",
                hint="check the topic and its brokers",
            ) from None
