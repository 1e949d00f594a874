"""Kafka in a script: FROM kafka('topic', servers = '...'), INTO kafka('topic', servers = '...')."""

from __future__ import annotations

from windrow.connectors.kafka.connector import (
    KAFKA_FEEDS,
    KAFKA_STARTS,
    KAFKA_TIMES,
    OPTION_PREFIX,
    VALUE_FORMATS,
    KafkaSink,
    KafkaSource,
)
from windrow.connectors.options import Options
from windrow.errors import Place

__all__ = ["KAFKA_SINK_OPTIONS", "KAFKA_SOURCE_OPTIONS", "kafka_sink", "kafka_source"]

KAFKA_SOURCE_OPTIONS = (
    "topic",
    "servers",
    "format",
    "avro_schema",
    "time_from",
    "starting",
    "max_offsets_per_batch",
    "bounded",
    "kafka.*",
)
KAFKA_SINK_OPTIONS = ("topic", "servers", "feed", "key", "transactional", "kafka.*")


def kafka_source(options: Options, place: Place | None) -> KafkaSource:
    """The topic that a stream is read from."""
    return KafkaSource(
        options.text("topic"),
        options.text("servers"),
        options.one_of("format", VALUE_FORMATS),
        options.text("avro_schema", "") or None,
        options.one_of("time_from", KAFKA_TIMES),
        options.one_of("starting", KAFKA_STARTS),
        options.count("max_offsets_per_batch"),
        options.flag("bounded", False),
        options.beginning(OPTION_PREFIX),
        place,
    )


def kafka_sink(options: Options) -> KafkaSink:
    """The topic that a query writes to; several key columns have commas between them."""
    key = options.text("key", "")
    return KafkaSink(
        options.text("topic"),
        options.text("servers"),
        options.one_of("feed", KAFKA_FEEDS),
        tuple(name.strip() for name in key.split(",")) if key else None,
        options.flag("transactional", True),
        options.beginning(OPTION_PREFIX),
    )
