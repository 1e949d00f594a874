"""Where a query on Spark may send what it gives: files, Kafka, PostgreSQL, the console, functions.

Any callable that takes a pyarrow.Table and a batch id serves too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from windrow.connectors.console import Console
from windrow.connectors.contract import Sink as DescribedSink
from windrow.connectors.delta.connector import Delta
from windrow.connectors.folders.connector import CsvFiles, JsonlFiles
from windrow.connectors.functions.connector import Foreach, ForeachBatch, Upserts
from windrow.connectors.iceberg.connector import Iceberg
from windrow.connectors.kafka.connector import KafkaSink
from windrow.connectors.memory import Memory
from windrow.connectors.parquet.connector import Parquet
from windrow.connectors.postgres.connector import Postgres
from windrow.connectors.sql_tables.connector import Duckdb, Sqlite
from windrow.connectors.webhook.connector import RETRIES, TIMEOUT_S, Webhook
from windrow.errors import BindingError

__all__ = [
    "Console",
    "CsvFiles",
    "Delta",
    "Duckdb",
    "Foreach",
    "ForeachBatch",
    "Iceberg",
    "JsonlFiles",
    "KafkaSink",
    "Memory",
    "Parquet",
    "Postgres",
    "Sink",
    "Sqlite",
    "Upserts",
    "Webhook",
    "console",
    "csv",
    "delta",
    "duckdb",
    "foreach",
    "foreach_batch",
    "iceberg",
    "jsonl",
    "kafka",
    "memory",
    "parquet",
    "postgres",
    "sink_of",
    "slack",
    "sqlite",
    "upserts",
    "webhook",
]

Sink = DescribedSink | Callable[[pa.Table, int], object]


def parquet(
    path: str | Path,
    feed: str = "answers",
    batches_per_file: int = 1,
    partition_by: Sequence[str] = (),
) -> Parquet:
    """A sink of Parquet files; a batch that is replayed replaces its own file.

    batches_per_file: files of so many batches become one, once none of them can come again.
    partition_by: columns, each of whose values has a folder of its own, named as those of Hive;
    'date' and 'hour' are parts of the column `at`.

    >>> parquet("alarms", feed="changes", partition_by=["date"]).partition_by
    ('date',)
    """
    return Parquet(str(path), feed, batches_per_file, _names(partition_by))


def csv(
    path: str | Path,
    feed: str = "answers",
    batches_per_file: int = 1,
    partition_by: Sequence[str] = (),
    header: bool = True,
    delimiter: str = ",",
) -> CsvFiles:
    """A sink of CSV files in a folder, one for each batch that has rows, as parquet().

    >>> csv("alarms", delimiter=";").delimiter
    ';'
    """
    partitions = _names(partition_by)
    return CsvFiles(
        str(path), feed, partitions, batches_per_file, header=header, delimiter=delimiter
    )


def jsonl(
    path: str | Path,
    feed: str = "answers",
    batches_per_file: int = 1,
    partition_by: Sequence[str] = (),
) -> JsonlFiles:
    """A sink of files of JSON lines in a folder, one for each batch that has rows, as parquet().

    >>> jsonl("alarms", feed="changes", batches_per_file=100).feed
    'changes'
    """
    return JsonlFiles(str(path), feed, _names(partition_by), batches_per_file)


def _names(given: Sequence[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)


def delta(path: str | Path, feed: str = "answers") -> Delta:
    """A sink that adds rows to a Delta table, each batch once, in one commit.

    path: of a table or of one to be made; an address such as s3://... serves too.

    >>> delta("tables/alarms")
    Delta(path='tables/alarms', feed='answers')
    """
    return Delta(str(path), feed)


def iceberg(
    table: str,
    catalog: str = "default",
    feed: str = "answers",
    options: Mapping[str, str] | None = None,
) -> Iceberg:
    """A sink that adds rows to an Iceberg table, on Spark each batch once, in one commit.

    table: namespace.name; it is made where it is not there. catalog: its name in PyIceberg's
    configuration; options: of the catalog, such as {"catalog.uri": "http://localhost:8181"}.

    >>> iceberg("office.alarms", catalog="lake").table
    'office.alarms'
    """
    return Iceberg(table, catalog, feed, dict(options or {}))


def kafka(
    topic: str,
    servers: str,
    feed: str = "answers",
    key: Sequence[str] | None = None,
    transactional: bool = True,
    options: Mapping[str, str] | None = None,
) -> KafkaSink:
    """A sink of records in a Kafka topic, keys and values in JSON; each batch is there once.

    feed: 'answers', 'changes', or 'upserts': per key what holds now, and no value for keys that
    went. key: columns; None: what tells rows of the result apart. transactional: False writes
    without transactions, at least once. options: settings of Kafka's client.

    >>> kafka("alarms", "broker:9092", feed="upserts", key=["location"]).key
    ('location',)
    """
    columns = None if key is None else tuple(key)
    return KafkaSink(topic, servers, feed, columns, transactional, dict(options or {}))


def foreach(function: Callable[[pa.Table, int], object], feed: str = "answers") -> Foreach:
    """A sink that calls function(table, batch_id); changes have their sign in `change`.

    >>> foreach(lambda table, batch_id: print(table.num_rows), feed="changes").feed
    'changes'
    """
    return Foreach(function, feed)


def foreach_batch(function: Callable[[Any, int], object], feed: str = "answers") -> ForeachBatch:
    """A sink that calls function(frame, batch_id), as Spark's foreachBatch, if a batch has rows.

    frame: a DataFrame of Spark, which any of its writers takes: JDBC, tables, other formats.

    >>> def put(frame, batch_id):
    ...     frame.write.jdbc("jdbc:sqlite:alarms.db", "alarms", mode="append")
    >>> foreach_batch(put, feed="changes").feed
    'changes'
    """
    return ForeachBatch(function, feed)


def upserts(
    function: Callable[[pa.Table, pa.Table, int], object], key: Sequence[str] | None = None
) -> Upserts:
    """A sink that calls function(upserts, deletes, batch_id) for every batch that changes rows.

    key: what tells rows apart; None: the GROUP BY columns, or all columns of a SELECT DISTINCT.

    >>> def put(upserts, deletes, batch_id):
    ...     print(upserts.num_rows, "rows to put,", deletes.num_rows, "to remove")
    >>> upserts(put, key=["location"]).key
    ('location',)
    """
    return Upserts(function, None if key is None else tuple(key))


def postgres(
    url: str, table: str, feed: str = "upserts", key: Sequence[str] | None = None
) -> Postgres:
    """A sink that keeps a table of PostgreSQL: each batch reaches it once, in one transaction.

    table: a name, or schema.name. feed: 'upserts' makes the table equal the result; 'changes' and
    'answers' add rows to it. key: what tells rows apart, as for upserts().

    >>> postgres("postgresql://host/db", "public.alarms").feed
    'upserts'
    """
    return Postgres(url, table, feed, None if key is None else tuple(key))


def sqlite(
    path: str | Path, table: str, feed: str = "upserts", key: Sequence[str] | None = None
) -> Sqlite:
    """A sink that keeps a table in a file of SQLite: each batch reaches it once.

    feed and key: as for postgres().

    >>> sqlite("office.db", "rooms", feed="answers").table
    'rooms'
    """
    return Sqlite(str(path), table, feed, None if key is None else tuple(key))


def duckdb(
    path: str | Path, table: str, feed: str = "upserts", key: Sequence[str] | None = None
) -> Duckdb:
    """A sink that keeps a table in a file of DuckDB: each batch reaches it once.

    table: a name, or schema.name. feed and key: as for postgres().

    >>> duckdb("office.duckdb", "rooms").feed
    'upserts'
    """
    return Duckdb(str(path), table, feed, None if key is None else tuple(key))


def webhook(
    url: str,
    feed: str = "answers",
    timeout_s: float = TIMEOUT_S,
    retries: int = RETRIES,
    headers: Mapping[str, str] | None = None,
) -> Webhook:
    """A sink that posts each batch as JSON, at least once, with an Idempotency-Key.

    headers: of each request, such as {"Authorization": "Bearer ..."}; no error shows them.

    >>> webhook("https://ops.example/hooks/7").shown
    'ops.example'
    """
    return Webhook(url, feed, "json", timeout_s, retries, dict(headers or {}))


def slack(
    url: str, feed: str = "answers", timeout_s: float = TIMEOUT_S, retries: int = RETRIES
) -> Webhook:
    """A sink that posts each batch as a message to an incoming webhook of Slack.

    >>> slack("https://hooks.slack.example/services/T0/B0/x").form
    'slack'
    """
    return Webhook(url, feed, "slack", timeout_s, retries)


def console() -> Console:
    """A sink that prints.

    >>> console()
    Console()
    """
    return Console()


def memory() -> Memory:
    """A sink that holds answers on the driver.

    >>> memory()
    Memory()
    """
    return Memory()


def sink_of(given: object) -> DescribedSink:
    """The sink that a word, a sink or a callable names.

    >>> sink_of("memory")
    Memory()
    """
    if isinstance(given, DescribedSink) and not isinstance(given, type):
        return given
    if callable(given):
        return Foreach(given)
    if given == "memory":
        return Memory()
    if given == "console":
        return Console()
    raise BindingError(
        "WB411",
        f"{given!r} is not a sink",
        hint="use 'memory', 'console', windrow.sinks.parquet(path), csv(path), jsonl(path), "
        "sqlite(path, table), duckdb(path, table), delta(path), "
        "iceberg(table), kafka(topic, servers), postgres(url, table), foreach(...), upserts(...) "
        "or a callable(table, batch_id)",
    )
