"""Reads topics in this process: rows, and the numbers of the records that follow them."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from windrow.connectors.kafka.client_settings import client_settings
from windrow.connectors.kafka.failures import is_transient, named_failures, raised
from windrow.connectors.kafka.partitions import (
    Partition,
    first_offsets,
    partitions_of,
    stored_offsets,
)
from windrow.connectors.kafka.record_columns import (
    RecordColumn,
    beside_columns,
    check_record_columns,
    value_columns,
)
from windrow.connectors.live import Lag, LiveReader, Polled, Position
from windrow.connectors.values.formats import Values, value_format
from windrow.connectors.values.messages import Messages, rows_of_messages
from windrow.errors import BindingError

if TYPE_CHECKING:
    from confluent_kafka import Message

    from windrow.connectors.kafka.connector import KafkaSource
    from windrow.schema import StreamSchema

__all__ = ["KafkaReader"]

_LOGGER = logging.getLogger(__name__)

# Of values that wait in Kafka's client, for each partition; kafka.queued.max.messages.kbytes.
WAITING_KBYTES = "16384"
# What fails is raised here; the client's own log would say it again, many times a second.
QUIET = "2"
# A batch ends with the record that brings its values beyond so much.
BATCH_BYTES = 8 << 20
# So long records are gathered after the first has come, and so many are taken at once.
GATHERING_S = 0.005
TAKEN_AT_ONCE = 2_000
# So often partitions that were added are looked for.
PARTITIONS_S = 30.0
# No more often than this the group is told how far the reader is.
COMMITS_S = 1.0


class KafkaReader(LiveReader):
    """Reads all partitions itself: its position is that of the session's state, not of a group."""

    def __init__(
        self, source: KafkaSource, schema: StreamSchema, position: Position | None
    ) -> None:
        check_record_columns(schema, source)
        self._source, self._schema = source, schema
        self._format = value_format(_values(source, schema))
        self._beside = beside_columns(schema, source)
        self._next: dict[Partition, int] = {}  # the record after those that were given
        self._ended: set[Partition] = set()  # of which all was given that was there
        self._looked_s = self._told_s = time.monotonic()
        self._untold: Position | None = None
        self._problem: KafkaError | None = None  # since the last records came
        callbacks = {"on_commit": self._commit_failed, "error_cb": self._failed}
        self._consumer = _consumer(source, schema, callbacks)
        try:
            with named_failures(source):
                stored = None if position is None else stored_offsets(position)
                self._assign(partitions_of(self._consumer, source), stored)
        except BaseException:
            self._consumer.close()
            raise

    def poll(self, most_rows: int, timeout_s: float) -> Polled | None:
        """The records that came, of all partitions."""
        with named_failures(self._source):
            self._look_for_partitions()
            self._tell_group()
            records = self._taken(most_rows, timeout_s)
        if not records:
            self._raise_problem()
            return None
        self._problem = None
        rows = rows_of_messages(
            self._schema, self._messages(records), self._format, self._source.place
        )
        for record in records:
            self._next[_partition(record)] = _offset(record) + 1
        return Polled(rows, self._position(), self._lag())

    @property
    def is_done(self) -> bool:
        """Whether all was given that was there when it began; never where more may come."""
        return self._source.bounded and self._ended >= self._next.keys()

    def confirmed(self, position: Position) -> None:
        """The group, if there is one, is told: for those who watch it, and not for the reader."""
        if self._source.group is not None:
            self._untold = position
            self._tell_group()

    def close(self) -> None:
        """Lets go of the connections."""
        try:
            self._tell_group(at_once=True)
        finally:
            self._consumer.close()

    def _assign(self, partitions: list[Partition], stored: dict[Partition, int] | None) -> None:
        self._next |= first_offsets(self._consumer, self._source, partitions, stored)
        told = [TopicPartition(*each, self._next[each]) for each in partitions]
        self._consumer.incremental_assign(told)

    def _look_for_partitions(self) -> None:
        """Reads partitions that were added from their beginning: nobody has read them."""
        if self._source.bounded or time.monotonic() < self._looked_s + PARTITIONS_S:
            return
        self._looked_s = time.monotonic()
        found = partitions_of(self._consumer, self._source)
        added = [each for each in found if each not in self._next]
        if added:
            self._assign(added, {})

    def _taken(self, most_rows: int, timeout_s: float) -> list[Message]:
        most = min(most_rows, self._source.max_offsets_per_batch or most_rows)
        records = self._first(timeout_s)
        size, is_full = 0, bool(records)
        while is_full and len(records) < most and size < BATCH_BYTES:
            asked = min(TAKEN_AT_ONCE, most - len(records))
            given = self._consumer.consume(asked, GATHERING_S)
            is_full = len(given) == asked
            more = self._sifted(given)
            size += sum(map(len, more))
            records += more
        return records

    def _first(self, timeout_s: float) -> list[Message]:
        """The first record, if one comes within the time: ends of partitions are none."""
        deadline = time.monotonic() + timeout_s
        while given := self._consumer.consume(1, max(0.0, deadline - time.monotonic())):
            records = self._sifted(given)
            if records or self.is_done:
                return records
        return []

    def _sifted(self, given: Iterable[Message]) -> list[Message]:
        """The records among what the client says; ends of partitions are noted, errors raised."""
        records = []
        for each in given:
            error = each.error()
            if error is None:
                records.append(each)
            elif error.code() == KafkaError._PARTITION_EOF:
                self._ended.add(_partition(each))
            else:
                raise raised(error, self._source)
        return records

    def _messages(self, records: list[Message]) -> Messages:
        shown = {each: f"topic {each[0]!r}, partition {each[1]}" for each in self._next}
        return Messages(
            [_value(each) for each in records],
            [shown[_partition(each)] for each in records],
            [each.offset() for each in records],
            {name: RecordColumn(records, made) for name, made in self._beside.items()},
        )

    def _position(self) -> Position:
        offsets: dict[str, list[int]] = {}
        for (topic, _), next_ in sorted(self._next.items()):
            offsets.setdefault(topic, []).append(next_)
        return {"offsets": offsets}

    def _lag(self) -> Lag:
        behind = 0
        for each, next_ in self._next.items():
            ends = self._consumer.get_watermark_offsets(TopicPartition(*each), cached=True)
            behind += max(0, ends[1] - next_) if ends is not None else 0
        return Lag(behind, "rows")

    def _failed(self, error: KafkaError) -> None:
        """What the client says beside records: one broker of several may be away."""
        is_nobody = error.code() == KafkaError._ALL_BROKERS_DOWN
        if is_nobody or not is_transient(error):
            self._problem = error

    def _raise_problem(self) -> None:
        if self._problem is not None:
            raise raised(self._problem, self._source)

    def _tell_group(self, *, at_once: bool = False) -> None:
        if self._untold is None or not (at_once or time.monotonic() > self._told_s + COMMITS_S):
            return
        offsets = [TopicPartition(*each, at) for each, at in stored_offsets(self._untold).items()]
        self._told_s, self._untold = time.monotonic(), None
        try:
            if at_once:
                self._consumer.commit(offsets=offsets, asynchronous=False)
            else:
                self._consumer.commit(offsets=offsets)
        except KafkaException as problem:
            self._commit_failed(problem.args[0], offsets)

    def _commit_failed(self, error: KafkaError | None, _offsets: object) -> None:
        """Nothing depends on it: only what watches the group is behind."""
        if error is not None:
            _LOGGER.warning("group %s was not told: %s", self._source.group, error.str())


def _values(source: KafkaSource, schema: StreamSchema) -> Values:
    return Values(
        source.format,
        schema,
        value_columns(schema, source),
        f"topic {source.topic!r}",
        source.delimiter,
        source.avro_schema,
        source.registry,
        source.place,
    )


def _consumer(
    source: KafkaSource, schema: StreamSchema, callbacks: Mapping[str, object]
) -> Consumer:
    settings = {
        "group.id": source.group or f"windrow-{schema.name}",
        "isolation.level": "read_committed",
        "queued.max.messages.kbytes": WAITING_KBYTES,
        "log_level": QUIET,
        **client_settings(source.servers, source.options, source.place),
        "enable.auto.commit": "false",
        "enable.partition.eof": "true",
        "auto.offset.reset": "error",
        "logger": _LOGGER,
        **callbacks,
    }
    try:
        return Consumer(settings)
    except KafkaException as problem:
        raise BindingError(
            "WB871",
            f"Kafka's client refuses the options of {source.shown}: {problem.args[0].str()}",
            hint="in this process kafka.* options are settings of librdkafka",
            place=source.place,
        ) from None


def _partition(record: Message) -> Partition:
    topic, number = record.topic(), record.partition()
    assert topic is not None
    assert number is not None
    return topic, number


def _offset(record: Message) -> int:
    offset = record.offset()
    assert offset is not None
    return offset


def _value(record: Message) -> bytes | None:
    value = record.value()
    return value.encode() if isinstance(value, str) else value
