"""Where the rows of a stream may come from on Spark and in jobs: files, Kafka, a rate, a socket."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from windrow.connectors.contract import Source
from windrow.connectors.files.connector import FileSource
from windrow.connectors.kafka.connector import KafkaSource
from windrow.connectors.rate import Rate
from windrow.connectors.socket_lines import Socket
from windrow.errors import BindingError

__all__ = [
    "FileSource",
    "KafkaSource",
    "Rate",
    "Socket",
    "Source",
    "csv",
    "jsonl",
    "kafka",
    "parquet",
    "rate",
    "socket",
    "source_given",
]


def parquet(path: str | Path, files_per_batch: int | None = None) -> FileSource:
    """Parquet files; files_per_batch: at most this many in one batch on Spark.

    >>> parquet("data/temp", files_per_batch=10).path
    'data/temp'
    """
    return FileSource("parquet", str(path), files_per_batch=files_per_batch)


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
) -> KafkaSource:
    """Records of a Kafka topic, or of several ("a, b"); what cannot be read counts as bad_time.

    format: of the values, 'json', 'avro' or 'confluent-avro'; of a table also 'changelog',
    'debezium-json' or 'upsert-json'. avro_schema: the schema that they
    were written with, or the path of its file. time_from: 'column' of the value, or 'record': the
    record's own timestamp. starting: 'earliest' or 'latest', where a new query begins, or an
    instant: with the first records that are not older. max_offsets_per_batch: at most this many
    records in one batch. options: settings of Kafka's client, such as
    {"kafka.security.protocol": "SSL"}. from_record: columns that are not in the value, each with
    'key', 'headers', 'topic', 'partition', 'offset' or 'timestamp'.

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
        options=dict(options or {}),
        from_record=dict(from_record or {}),
    )


def rate(rows_per_second: int = 1) -> Rate:
    """Rows made by the clock, to try a query out: a time and a BIGINT that counts from 0.

    >>> rate(100).rows_per_second
    100
    """
    return Rate(rows_per_second)


def socket(host: str, port: int, format: str = "jsonl") -> Socket:  # noqa: A002 - as in scripts
    """Lines that a server sends, to try a query out; after a restart, lines of before are lost.

    >>> socket("localhost", 9999, format="csv").port
    9999
    """
    return Socket(host, port, format)


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
        "rate() or socket(host, port)",
    )
