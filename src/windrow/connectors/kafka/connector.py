"""Kafka described: the topic that a stream is read from, the topic that a query writes to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, cast

from windrow.connectors.contract import Replay, Sink, SinkCheckpoint, Source, Writer
from windrow.connectors.kafka.client_settings import OPTION_PREFIX
from windrow.connectors.loading import loaded, loaded_with_client
from windrow.connectors.scripted import Scripted
from windrow.errors import BindingError, Place, UnsupportedError, WindrowError
from windrow.event_time import instant_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from windrow.connectors.live import Guarantee, LiveReader, Position
    from windrow.connectors.options import Options
    from windrow.connectors.process_run import ProcessRun
    from windrow.plan.model import QueryPlan
    from windrow.schema import StreamSchema
    from windrow.table_schema import TableSchema

__all__ = ["SINKS", "SOURCES", "KafkaSink", "KafkaSource"]

VALUE_FORMATS = ("json", "avro", "confluent-avro", "confluent-json", "confluent-protobuf", "csv")
# Of these Spark reads all values.
SPARK_FORMATS = ("json", "avro", "confluent-avro")
# Of tables alone.
TABLE_FORMATS = ("changelog", "debezium-json", "upsert-json")
KAFKA_TIMES = ("column", "record")
KAFKA_STARTS = ("earliest", "latest")
KAFKA_FEEDS = ("answers", "changes", "upserts")
CLIENT, EXTRA = "Kafka", "kafka"
# What a column of a stream may be instead of a field of the value.
RECORD_PARTS = ("key", "headers", "topic", "partition", "offset", "timestamp")

_SOURCE_OPTIONS = (
    "topic",
    "servers",
    "format",
    "avro_schema",
    "time_from",
    "starting",
    "max_offsets_per_batch",
    "bounded",
    "from_record",
    "group",
    "delimiter",
    "registry",
    "kafka.*",
)
_SINK_OPTIONS = ("topic", "servers", "feed", "key", "transactional", "kafka.*")

# What Windrow itself gives the client: an option that changed these would break its promises.
_OWN_OPTIONS = ("bootstrap.servers", "transactional.id", "enable.idempotence", "group.id")


@dataclass(frozen=True)
class KafkaSource(Source):
    """A topic, or several with commas between, whose records are the rows of a stream.

    starting: 'earliest', 'latest' or an instant. from_record: columns of the stream, each with the
    part of the record that it is. delimiter: of CSV. registry: of the schemas of values.
    """

    is_live: ClassVar[bool] = True
    guarantee: ClassVar[Guarantee] = "exactly once"

    topic: str
    servers: str
    format: str = "json"
    avro_schema: str | None = None  # the schema itself, or the path of its file
    time_from: str = "column"
    starting: str = "earliest"
    max_offsets_per_batch: int | None = None
    bounded: bool = False
    options: Mapping[str, str] = field(default_factory=dict, repr=False)  # passwords are among them
    place: Place | None = field(default=None, compare=False)
    from_record: Mapping[str, str] = field(default_factory=dict)
    group: str | None = None  # which is told how far a job in this process is
    delimiter: str = ","
    registry: str | None = field(default=None, repr=False)  # the address, perhaps with a password

    def __post_init__(self) -> None:
        _check_address(self.topic, self.servers, self.options, self.place)
        for part in self.from_record.values():
            _check_word("a column from the record", part, RECORD_PARTS, self.place)
        if self.format not in TABLE_FORMATS:
            _check_word("format", self.format, VALUE_FORMATS, self.place)
        _check_word("time_from", self.time_from, KAFKA_TIMES, self.place)
        self.starting_us()
        limit = self.max_offsets_per_batch
        if limit is not None and limit < 1:
            message = f"max_offsets_per_batch cannot be {limit}"
            raise BindingError("WB480", message, hint="give 1 or more", place=self.place)
        if self.group == "":
            message = "group cannot be an empty text"
            raise BindingError("WB480", message, hint="name the group", place=self.place)
        if self.is_confluent and not self.registry:
            raise BindingError(
                "WB872",
                f"values of topic {self.topic!r} are {self.format!r}, whose schemas are in a "
                "registry",
                hint="give its address: registry = 'http://host:8081'",
                place=self.place,
            )
        is_told = self.avro_schema or (self.registry and self.format == "confluent-avro")
        if self.is_avro and not is_told:
            raise BindingError(
                "WB481",
                f"values of topic {self.topic!r} cannot be read as Avro without their schema",
                hint="give avro_schema: the schema that they were written with, or its file; "
                "or, of confluent-avro in this process, the registry",
                place=self.place,
            )

    def starting_us(self) -> int | None:
        """The time of the first records that a new query reads; None: all, or those to come."""
        if self.starting in KAFKA_STARTS:
            return None
        try:
            return instant_of(self.starting)
        except WindrowError:
            raise BindingError(
                "WB480",
                f"starting cannot be {self.starting!r} for Kafka",
                hint="use 'earliest', 'latest', or an instant such as '2026-01-01 12:00:00'",
                place=self.place,
            ) from None

    @property
    def topics(self) -> list[str]:
        """The names of the topics."""
        return [name.strip() for name in self.topic.split(",")]

    @property
    def is_avro(self) -> bool:
        """Whether values are Avro, with or without a header."""
        return self.format in ("avro", "confluent-avro")

    @property
    def is_confluent(self) -> bool:
        """Whether the schema of a value may only be told by a registry."""
        return self.format in ("confluent-json", "confluent-protobuf")

    @property
    def is_endless(self) -> bool:
        """Whether a job waits for records to come, after those that are there when it begins."""
        return not self.bounded

    @property
    def shown(self) -> str:
        """The topic, without servers and options."""
        return f"kafka('{self.topic}')"

    @property
    def address(self) -> str:
        """The brokers."""
        return self.servers

    def check(self, schema: StreamSchema) -> None:
        """Refuses brokers that do not answer, and what no stream in this process can read."""
        if self.format in TABLE_FORMATS:
            raise _of_tables(schema, self)
        loaded_with_client("kafka.reader", CLIENT, EXTRA)
        self.check_reached()

    def open_live(self, schema: StreamSchema, position: Position | None) -> LiveReader:
        """A reader by librdkafka."""
        reader = loaded_with_client("kafka.reader", CLIENT, EXTRA)
        return cast("LiveReader", reader.KafkaReader(self, schema, position))

    def check_on_spark(self, schema: StreamSchema) -> None:
        """Refuses brokers that do not answer: Spark would try for minutes."""
        self.check_reached()

    def check_reached(self) -> None:
        """Refuses brokers that do not answer."""
        loaded("kafka.reach").check_servers(self.servers, self.options, self.place)

    def read_on_spark(self, spark: SparkSession, schema: StreamSchema) -> DataFrame:
        """The records as rows."""
        if self.format in TABLE_FORMATS:
            raise _of_tables(schema, self)
        self._check_spark_format()
        return cast("DataFrame", loaded("kafka.spark_source").kafka_frame(spark, schema, self))

    def read_table_on_spark(
        self, spark: SparkSession, schema: TableSchema
    ) -> tuple[DataFrame, str | None]:
        """The records as rows, with those that delete, or as a changelog."""
        source = loaded("kafka.spark_source")
        if self.format in TABLE_FORMATS:
            return cast("DataFrame", source.changelog_frame(spark, self)), self.format
        self._check_spark_format()
        return cast("DataFrame", source.kafka_frame(spark, schema, self)), None

    def _check_spark_format(self) -> None:
        if self.format not in SPARK_FORMATS:
            raise UnsupportedError(
                "WU870",
                f"on Spark the values of {self.shown} cannot be read as {self.format!r}",
                hint=f"use {', '.join(map(repr, SPARK_FORMATS))}, or run the script in this "
                "process: windrow run --embedded",
                place=self.place,
            )


def _of_tables(schema: StreamSchema, source: KafkaSource) -> BindingError:
    return BindingError(
        "WB710",
        f"{schema.name!r} is a stream, and format = {source.format!r} is of tables",
        hint="omit the format, or declare the columns of the envelope: before STRUCT<...>, "
        "after STRUCT<...>, op STRING, ts_ms BIGINT",
        place=source.place,
    )


@dataclass(frozen=True)
class KafkaSink(Sink):
    """A topic that takes a record for each row that a query gives."""

    in_process: ClassVar[bool] = True

    topic: str
    servers: str
    feed: str = "answers"
    key: tuple[str, ...] | None = None
    transactional: bool = True
    options: Mapping[str, str] = field(default_factory=dict, repr=False)  # passwords are among them
    place: Place | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        _check_address(self.topic, self.servers, self.options, self.place)
        _check_word("feed", self.feed, KAFKA_FEEDS, self.place)

    @property
    def bad_rows_folder(self) -> str | None:
        """The topic: a stream's bad rows may go there, if the brokers take them from anybody."""
        return None if self.options else f"kafka://{self.servers}/{self.topic}"

    @property
    def replay(self) -> Replay:
        """In a transaction stands which batch it was."""
        return "known" if self.transactional else "repeated"

    def open_in_process(self, run: ProcessRun) -> Writer:
        """A writer by librdkafka."""
        sink = loaded_with_client("kafka.process_sink", CLIENT, EXTRA)
        return cast("Writer", sink.ProcessKafkaWriter(self, run))

    def open_on_spark(self, plan: QueryPlan, checkpoint: SinkCheckpoint) -> Writer:
        """A writer by Kafka's client in the JVM."""
        return cast("Writer", loaded("kafka.spark_sink").KafkaWriter(self, plan, checkpoint))


def _check_address(
    topic: str, servers: str, options: Mapping[str, str], place: Place | None
) -> None:
    if not topic or not servers:
        raise BindingError(
            "WB482",
            f"Kafka needs {'servers' if topic else 'a topic'}",
            hint="give the topic's name, and servers='host:port', several separated by commas",
            place=place,
        )
    for name in options:
        own = name.removeprefix(OPTION_PREFIX)
        if own == name or own in _OWN_OPTIONS:
            raise BindingError(
                "WB483",
                f"{name!r} is not an option for Kafka's client",
                hint=f"names begin with {OPTION_PREFIX!r}, such as 'kafka.security.protocol'; "
                "Windrow sets servers and ids",
                place=place,
            )


def _check_word(name: str, word: str, possible: tuple[str, ...], place: Place | None) -> None:
    if word not in possible:
        shown = " or ".join(map(repr, possible))
        message = f"{name} cannot be {word!r} for Kafka"
        raise BindingError("WB480", message, hint=f"use {shown}", place=place)


def _source(options: Options) -> KafkaSource:
    return KafkaSource(
        options.text("topic"),
        options.text("servers"),
        options.one_of("format", (*VALUE_FORMATS, *TABLE_FORMATS)),
        options.text("avro_schema", "") or None,
        options.one_of("time_from", KAFKA_TIMES),
        _start(options.text("starting", KAFKA_STARTS[0])),
        options.count("max_offsets_per_batch"),
        options.flag("bounded", False),
        options.beginning(OPTION_PREFIX),
        options.place,
        _from_record(options),
        options.text("group", "") or None,
        options.text("delimiter", ","),
        options.text("registry", "") or None,
    )


def _start(text: str) -> str:
    return text.lower() if text.lower() in KAFKA_STARTS else text


def _from_record(options: Options) -> dict[str, str]:
    """Columns and parts of the record, as in 'device = key, tags = headers'."""
    found = {}
    for entry in options.names("from_record") or ():
        column, equals, part = (word.strip() for word in entry.partition("="))
        if not equals or not column:
            raise BindingError(
                "WB488",
                f"from_record of kafka() has {entry!r}, which names no column and its part",
                hint="write 'column = part' with commas between, where a part is "
                + ", ".join(RECORD_PARTS),
                place=options.place,
            )
        found[column] = part.lower()
    return found


def _sink(options: Options) -> KafkaSink:
    key = options.text("key", "")
    return KafkaSink(
        options.text("topic"),
        options.text("servers"),
        options.one_of("feed", KAFKA_FEEDS),
        tuple(name.strip() for name in key.split(",")) if key else None,
        options.flag("transactional", True),
        options.beginning(OPTION_PREFIX),
    )


SOURCES = {"kafka": Scripted(_SOURCE_OPTIONS, _source)}
SINKS = {"kafka": Scripted(_SINK_OPTIONS, _sink)}
