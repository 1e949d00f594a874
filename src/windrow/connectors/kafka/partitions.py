"""Where a reader of topics begins in each partition, and whether the records are still there.

A position has the number of the next record of every partition: {"offsets": {"topic": [5, 0]}}.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from confluent_kafka import Consumer, KafkaException, TopicPartition

from windrow.connectors.kafka.failures import is_transient
from windrow.connectors.live import TransientError
from windrow.errors import DataError

if TYPE_CHECKING:
    from windrow.connectors.kafka.connector import KafkaSource
    from windrow.connectors.live import Position

__all__ = ["ASKING_S", "Partition", "first_offsets", "partitions_of", "stored_offsets"]

Partition = tuple[str, int]

# So long the brokers may take to answer one question.
ASKING_S = 10.0
MICROSECONDS_PER_MILLISECOND = 1_000


def partitions_of(consumer: Consumer, source: KafkaSource) -> list[Partition]:
    """All partitions of the topics, as the brokers know them now; refused if a topic has none."""
    found = []
    for topic in source.topics:
        about = consumer.list_topics(topic, timeout=ASKING_S).topics[topic]
        if about.error is not None and is_transient(about.error):
            raise TransientError(f"topic {topic!r}: {about.error.str()}")
        if about.error is not None or not about.partitions:
            why = "it has no partitions" if about.error is None else about.error.str()
            raise DataError(
                "WD871",
                f"topic {topic!r} cannot be read at {source.servers}: {why}",
                hint="create the topic, correct its name, or let this user read it",
                place=source.place,
            )
        found += [(topic, number) for number in sorted(about.partitions)]
    return found


def stored_offsets(position: Position) -> dict[Partition, int]:
    """The next record of each partition that a position knows."""
    offsets: Mapping[str, list[int]] = position["offsets"]
    return {
        (topic, number): next_
        for topic, each in offsets.items()
        for number, next_ in enumerate(each)
    }


def first_offsets(
    consumer: Consumer,
    source: KafkaSource,
    partitions: list[Partition],
    stored: Mapping[Partition, int] | None,
) -> dict[Partition, int]:
    """The next record of each partition: behind those that were read, or where a query begins.

    stored: None for a query that begins. A partition that is not among them came later: it is read
    from its beginning, for nobody has read its records.
    """
    if stored is not None:
        ends = {each: _ends(consumer, each) for each in partitions}
        for each, next_ in stored.items():
            _check_kept(source, each, next_, ends.get(each))
        return {each: stored.get(each, first) for each, (first, _) in ends.items()}
    starting_us = source.starting_us()
    if starting_us is None:
        place = 0 if source.starting == "earliest" else 1
        return {each: _ends(consumer, each)[place] for each in partitions}
    return dict(_offsets_at(consumer, partitions, starting_us))


def _ends(consumer: Consumer, partition: Partition) -> tuple[int, int]:
    """The numbers of the first record of a partition, and of the one after the last."""
    asked = TopicPartition(*partition)
    return consumer.get_watermark_offsets(asked, timeout=ASKING_S)


def _offsets_at(
    consumer: Consumer, partitions: list[Partition], time_us: int
) -> Iterator[tuple[Partition, int]]:
    """The first record in each that is not older; those to come if there is none."""
    # A millisecond that has begun already is not at the instant.
    time_ms = -(-time_us // MICROSECONDS_PER_MILLISECOND)
    asked = [TopicPartition(*each, time_ms) for each in partitions]
    for found in consumer.offsets_for_times(asked, timeout=ASKING_S):
        if found.error is not None:
            raise KafkaException(found.error)
        partition = (found.topic, found.partition)
        yield partition, found.offset if found.offset >= 0 else _ends(consumer, partition)[1]


def _check_kept(
    source: KafkaSource, partition: Partition, next_: int, ends: tuple[int, int] | None
) -> None:
    topic, number = partition
    if ends is None:
        problem = "the topic has no such partition any more"
    elif not ends[0] <= next_ <= ends[1]:
        problem = f"it has the records {ends[0]} to {ends[1] - 1}, and {next_} is the next to read"
    else:
        return
    raise DataError(
        "WD872",
        f"partition {number} of topic {topic!r} cannot be read on: {problem}",
        hint="records were deleted before they were read (retention), or the topic was made anew: "
        "begin with a new state, or have the topic keep its records for longer",
        place=source.place,
    )
