"""Where the rows of a stream may come from on Spark and in jobs: files, Kafka, a rate, a socket."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from windrow.connectors.adbc.source import AdbcSource
from windrow.connectors.contract import Source
from windrow.connectors.files.connector import FileSource
from windrow.connectors.kafka.connector import KafkaSource
from windrow.connectors.listening import Listening, Stdin
from windrow.connectors.mqtt.connector import MqttSource
from windrow.connectors.postgres.changes import PostgresChanges
from windrow.connectors.postgres.source import PostgresSource
from windrow.connectors.rate import Rate
from windrow.connectors.record_cutter import Framing
from windrow.connectors.socket_lines import Socket
from windrow.connectors.spark_table import SparkTable
from windrow.errors import BindingError

__all__ = [
    "FileSource",
    "KafkaSource",
    "Listening",
    "MqttSource",
    "PostgresSource",
    "Rate",
    "Socket",
    "Source",
    "SparkTable",
    "Stdin",
    "adbc",
    "csv",
    "jsonl",
    "kafka",
    "mqtt",
    "parquet",
    "postgres",
    "postgres_changes",
    "rate",
    "socket",
    "source_given",
    "spark_table",
    "stdin",
    "tcp",
    "udp",
    "unix",
]


def parquet(
    path: str | Path, files_per_batch: int | None = None, follow: bool = False
) -> FileSource:
    """Parquet files; files_per_batch: at most this many in one batch on Spark.

    follow: in this process, files that come later are read too.

    >>> parquet("data/temp", files_per_batch=10).path
    'data/temp'
    """
    return FileSource("parquet", str(path), files_per_batch=files_per_batch, follow=follow)


def csv(
    path: str | Path,
    header: bool = True,
    delimiter: str = ",",
    files_per_batch: int | None = None,
    follow: bool = False,
) -> FileSource:
    """CSV files, with a line of column names on top unless header is False.

    follow: in this process, lines and files that come later are read too.

    >>> csv("data/*.csv", delimiter=";").delimiter
    ';'
    """
    return FileSource("csv", str(path), header, delimiter, files_per_batch, follow=follow)


def jsonl(
    path: str | Path,
    files_per_batch: int | None = None,
    format: str = "json",  # noqa: A002 - as in scripts
    follow: bool = False,
) -> FileSource:
    """Files with one JSON object a line.

    format: 'json'; of a table also 'changelog', 'debezium-json' or 'upsert-json'. follow: in this
    process, lines and files that come later are read too.

    >>> jsonl("data/temp.jsonl").format
    'jsonl'
    """
    changelog = None if format == "json" else format
    made = FileSource("jsonl", str(path), changelog=changelog, follow=follow)
    return replace(made, files_per_batch=files_per_batch)


def kafka(
    topic: str,
    servers: str,
    format: str = "json",  # noqa: A002 - as in scripts
    avro_schema: str | None = None,
    time_from: str = "column",
    starting: str = "earliest",
    max_offsets_per_batch: int | None = None,
    options: Mapping[str, str] | None = None,
    from_record: Mapping[str, str] | None = None,
    bounded: bool = False,
    group: str | None = None,
    delimiter: str = ",",
    registry: str | None = None,
) -> KafkaSource:
    """Records of a Kafka topic, or of several ("a, b"); what cannot be read counts as bad_time.

    format: of the values, 'json', 'avro' or 'confluent-avro', in this process also 'csv',
    'confluent-json' or 'confluent-protobuf'; of a table 'changelog', 'debezium-json' or
    'upsert-json' too. avro_schema: the schema that they
    were written with, or the path of its file. time_from: 'column' of the value, or 'record': the
    record's own timestamp. starting: 'earliest' or 'latest', where a new query begins, or an
    instant: with the first records that are not older. max_offsets_per_batch: at most this many
    records in one batch. options: settings of Kafka's client, such as
    {"kafka.security.protocol": "SSL"}. from_record: columns that are not in the value, each with
    'key', 'headers', 'topic', 'partition', 'offset' or 'timestamp'. bounded: a job ends with the
    records that are there when it begins. group: in this process, told how far the job is.
    registry: the address of a schema registry.

    >>> kafka("readings", "broker:9092", starting="latest").topic
    'readings'
    """
    return KafkaSource(
        topic,
        servers,
        format,
        avro_schema,
        time_from,
        starting,
        max_offsets_per_batch,
        bounded,
        options=dict(options or {}),
        from_record=dict(from_record or {}),
        group=group,
        delimiter=delimiter,
        registry=registry,
    )


def mqtt(
    topic: str,
    server: str,
    client: str,
    format: str = "json",  # noqa: A002 - as in scripts
    acknowledged: bool = True,
    kept_for: str = "7 days",
    time_from: str = "column",
    from_message: Mapping[str, str] | None = None,
    delimiter: str = ",",
    avro_schema: str | None = None,
    registry: str | None = None,
    ca: str | None = None,
) -> MqttSource:
    """Messages of an MQTT broker, in this process; topics with + and # for parts of them.

    client: the name under which the broker keeps what comes while nobody reads, for kept_for.
    acknowledged: False reads with QoS 0: what a crash hits is lost. time_from: 'column' of the
    payload, or 'arrival'. from_message: columns that are not in the payload, each with 'topic',
    'retain' or 'arrival'. ca: a file of certificates, for mqtts://.

    >>> mqtt("rooms/+/temp", "mqtt://broker", "building").guarantee
    'at least once'
    """
    return MqttSource(
        topic,
        server,
        client,
        format,
        int(acknowledged),
        kept_for,
        time_from,
        dict(from_message or {}),
        delimiter,
        avro_schema,
        registry,
        ca,
    )


def postgres(
    query: str,
    url: str,
    position: str,
    every: str = "1 second",
    overlap: str = "0",
    starting: str = "earliest",
    bounded: bool = False,
) -> PostgresSource:
    """Rows of a table of PostgreSQL, or of a SELECT, in this process: those that were not read.

    position: a column that new rows have larger. every: how often is asked. overlap: how far behind
    the largest rows may still come, a number or a span: those of transactions that end late.

    >>> postgres("readings", "postgresql://host/db", position="id", overlap="1000").overlap
    '1000'
    """
    return PostgresSource(query, url, position, every, overlap, starting, bounded)


def postgres_changes(table: str, url: str, slot: str = "windrow") -> PostgresChanges:
    """Rows that are inserted into a table of PostgreSQL, in this process, in order of commit.

    slot: what PostgreSQL keeps changes for until they are read; it is made where there is none.

    >>> postgres_changes("readings", "postgresql://host/db").slot
    'windrow'
    """
    return PostgresChanges(table, url, slot)


def adbc(
    query: str,
    driver: str,
    url: str,
    position: str,
    every: str = "1 second",
    starting: str = "earliest",
    bounded: bool = False,
) -> AdbcSource:
    """Rows of any database with a driver of ADBC, in this process: those that were not read.

    driver: 'sqlite', 'postgresql' or another that is installed. position: a column that is larger
    in each new row, a whole number or a text, and tells rows apart. every: how often is asked.

    >>> adbc("readings", "sqlite", "building.db", position="id").driver
    'sqlite'
    """
    return AdbcSource(query, driver, url, position, every, starting, bounded)


def rate(rows_per_second: int = 1) -> Rate:
    """Rows made by the clock, to try a query out: a time and a BIGINT that counts from 0.

    >>> rate(100).rows_per_second
    100
    """
    return Rate(rows_per_second)


def socket(host: str, port: int, format: str = "jsonl") -> Socket:  # noqa: A002 - as in scripts
    """Lines that a server sends; in this process it is connected to again when it goes away.

    After a restart lines of before are lost.

    >>> socket("localhost", 9999, format="csv").port
    9999
    """
    return Socket(host, port, format)


def tcp(
    port: int,
    host: str = "127.0.0.1",
    format: str = "jsonl",  # noqa: A002 - as in scripts
    framing: Framing = "lines",
) -> Listening:
    """In this process: lines that others send to a port of this machine, over TCP.

    host: the address to listen on; "0.0.0.0" lets other machines send. format: 'jsonl' or 'csv',
    without a header. framing: 'lines', or 'length': four bytes before each record have its length.

    >>> tcp(9000).framing
    'lines'
    """
    return Listening("tcp", host, port, format, framing)


def udp(port: int, host: str = "127.0.0.1", format: str = "jsonl") -> Listening:  # noqa: A002
    """In this process: datagrams of one or several lines each; some may get lost on their way.

    >>> udp(9000, format="csv").format
    'csv'
    """
    return Listening("udp", host, port, format)


def unix(
    path: str | Path,
    format: str = "jsonl",  # noqa: A002 - as in scripts
    framing: Framing = "lines",
) -> Listening:
    """In this process: the same as tcp() at a path, which this user's programs can send to.

    >>> unix("rows.sock").shown
    "unix('rows.sock')"
    """
    return Listening("unix", str(path), 0, format, framing)


def stdin(
    format: str = "jsonl",  # noqa: A002 - as in scripts
    header: bool = True,
    delimiter: str = ",",
) -> Stdin:
    """In this process: lines that are piped into it, until their end.

    >>> stdin("csv").header
    True
    """
    return Stdin(format, header, delimiter)


def spark_table(
    name: str,
    format: str = "",  # noqa: A002 - as in scripts
    options: Mapping[str, str] | None = None,
) -> SparkTable:
    """On Spark: a table of its catalogue, or what a format of Spark's reads.

    name: in the catalogue; with a format a path, or with 'jdbc' a table of the database. options:
    of Spark's reader.

    >>> spark_table("rooms", "jdbc", {"url": "jdbc:derby:building"}).format
    'jdbc'
    """
    return SparkTable(name, format, dict(options or {}))


def source_given(source: object) -> Source:
    """The source itself; refused when it is something else.

    >>> source_given(rate()) == rate()
    True
    """
    if isinstance(source, Source) and not isinstance(source, type):
        return source
    raise BindingError(
        "WB441",
        f"{source!r} is not a source",
        hint="use windrow.sources.parquet(path), csv(path), jsonl(path), kafka(topic, servers), "
        "mqtt(topic, server, client), postgres(query, url, position), rate(), socket(host, port), "
        "spark_table(name), tcp(port), udp(port), unix(path) or stdin()",
    )
