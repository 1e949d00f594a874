"""Where the rows of a disturbed job go, and what must stand there in the end."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

import psycopg
import psycopg.sql
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from support.servers.kafka_topics import Topics
from windrow import sinks
from windrow.sinks import Sink

__all__ = ["Folders", "Place", "Tables", "TopicsOfKafka", "plain", "sink_at"]

Expected = Mapping[int, pa.Table]  # what each batch gives that gives any row


class Place(Protocol):
    """One kind of sink, for all queries of a run."""

    def described(self) -> dict[str, Any]:
        """What the job is told of it."""

    def seen(self, root: Path, name: str) -> dict[str, bytes]:
        """What stands there of each batch that must not change any more."""

    def check(self, root: Path, name: str, expected: Expected) -> None:
        """Whether a query has told what was expected, and nothing else."""


def sink_at(described: Mapping[str, Any], root: Path, name: str, feed: str) -> Sink:
    """The sink of one query of the job."""
    if described["kind"] == "postgres":
        return sinks.postgres(described["url"], name, feed)
    if described["kind"] == "kafka":
        return sinks.kafka(described["prefix"] + name, described["servers"], feed)
    return sinks.parquet(root / "out" / name, feed=feed)


class Folders:
    """Parquet: a file per batch, each of which must be the undisturbed run's."""

    def described(self) -> dict[str, Any]:
        return {"kind": "parquet"}

    def seen(self, root: Path, name: str) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in (root / "out" / name).glob("*.parquet")}

    def check(self, root: Path, name: str, expected: Expected) -> None:
        told = {path.name: pq.read_table(path) for path in (root / "out" / name).iterdir()}
        files = {f"batch-{number:012d}.parquet": table for number, table in expected.items()}
        assert sorted(told) == sorted(files), name
        for file, table in files.items():
            assert plain(told[file].to_pylist()) == plain(table.to_pylist()), f"{name}: {file}"


@dataclass
class Tables:
    """PostgreSQL: a table that rows are added to, and the number of the last batch."""

    url: str

    def described(self) -> dict[str, Any]:
        return {"kind": "postgres", "url": self.url}

    def seen(self, root: Path, name: str) -> dict[str, bytes]:  # noqa: ARG002 - as other places
        return {}

    def check(self, root: Path, name: str, expected: Expected) -> None:  # noqa: ARG002
        columns = next(iter(expected.values())).column_names
        chosen = psycopg.sql.SQL(", ").join(map(psycopg.sql.Identifier, columns))
        with psycopg.connect(self.url) as connection:
            table = psycopg.sql.Identifier(name)
            query = psycopg.sql.SQL("SELECT {} FROM {}").format(chosen, table)
            rows = connection.execute(query).fetchall()
            text = "SELECT batch_id FROM windrow_batches WHERE query = %s"
            last = connection.execute(text, (name,)).fetchall()
        told = [dict(zip(columns, row, strict=True)) for row in rows]
        wanted = [row for table in expected.values() for row in table.to_pylist()]
        assert plain(told) == plain(wanted), name
        assert last == [(max(expected),)], name


@dataclass
class TopicsOfKafka:
    """Kafka: what a reader of committed records sees, and its headers' numbers of batches."""

    spark: SparkSession
    servers: str
    prefix: str
    jars: list[str]

    def described(self) -> dict[str, Any]:
        settings = {"kind": "kafka", "servers": self.servers, "prefix": self.prefix}
        return {**settings, "jars": self.jars}

    def seen(self, root: Path, name: str) -> dict[str, bytes]:  # noqa: ARG002 - as other places
        return {}

    def check(self, root: Path, name: str, expected: Expected) -> None:  # noqa: ARG002
        records = Topics(self.spark, self.servers, "").read(self.prefix + name)
        batches = {record["headers"]["windrow-batch"] for record in records}
        assert sorted(int(batch.rpartition("-")[2]) for batch in batches) == sorted(expected)
        told = [_with_time(record["value"]) for record in records]
        wanted = [row for table in expected.values() for row in table.to_pylist()]
        assert plain(told) == plain(wanted), name


def _with_time(row: dict[str, Any]) -> dict[str, Any]:
    return {**row, "at": datetime.fromisoformat(row["at"])}


def plain(rows: list[dict[str, Any]]) -> list[str]:
    """Rows in an order that does not depend on how they came; instants in UTC."""
    return sorted(json.dumps(row, default=_instant, sort_keys=True) for row in rows)


def _instant(value: object) -> str:
    assert isinstance(value, datetime)
    return value.astimezone(UTC).isoformat()
