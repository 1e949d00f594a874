"""What a test sees of its database, and queries in this process whose feeds it writes there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from threading import Thread
from typing import Any

import psycopg
import pyarrow as pa

from windrow import sinks
from windrow.connectors.postgres.writer import PostgresWriter
from windrow.embedded.session import EmbeddedSession
from windrow.plan.binder import bind
from windrow.spark.checkpoint.query_checkpoint import QueryCheckpoint
from windrow.sql import parse_query
from windrow.storage import Storage


@dataclass
class Database:
    """An address, and a connection beside those of the sink."""

    url: str
    connection: psycopg.Connection[tuple[Any, ...]]

    def rows(self, text: str) -> list[tuple[Any, ...]]:
        return self.connection.execute(text).fetchall()  # type: ignore[call-overload, no-any-return]

    def run(self, text: str) -> None:
        self.connection.execute(text)  # type: ignore[call-overload]

    @contextmanager
    def holding(self, text: str) -> Iterator[None]:
        """Inside, the locks that a statement takes are held."""
        with psycopg.connect(self.url) as connection:
            connection.execute(text)  # type: ignore[call-overload]
            yield

    def waiting(self, *threads: Thread) -> list[int]:
        """The processes of the sink, once as many as these threads wait for a lock."""
        text = (
            "SELECT pid FROM pg_stat_activity WHERE application_name = 'windrow' "
            "AND datname = current_database() AND wait_event_type = 'Lock'"
        )
        while len(found := self.rows(text)) < len(threads):
            assert all(thread.is_alive() for thread in threads)
        return [row[0] for row in found]


class Driven:
    """A query in this process, whose feeds are written as a batch after each push."""

    def __init__(self, text: str, columns: str = "ts timestamp, k string, x double") -> None:
        self.session = EmbeddedSession()
        # The last instant there is has to arrive too, however far ahead of the clock.
        self.session.stream("s", columns, time="ts", max_ahead=None)
        self.query = self.session.query(text)
        self.text = text

    def writer(
        self, database: Database, checkpoint: Path, table: str = "t", **options: Any
    ) -> PostgresWriter:
        plan = bind(parse_query(self.text), self.session._catalog)
        sink = sinks.postgres(database.url, table, **options)
        return PostgresWriter(sink, plan, self.claimed(checkpoint))

    def claimed(self, checkpoint: Path) -> QueryCheckpoint:
        """The checkpoint of the query, which owns it."""
        place = QueryCheckpoint(Storage(checkpoint), "q")
        place.claim("f", 1, 0, bind(parse_query(self.text), self.session._catalog))
        return place

    def batch(
        self, rows: Sequence[dict[str, object]], through: datetime | None = None
    ) -> dict[str, pa.Table]:
        """What the rows give; of the last instant only if the stream is complete through it."""
        self.session.push("s", rows)
        if through is not None:
            self.session.advance("s", to=through)
        return {
            "changes": self.query.changes(),
            "answers": self.query.answers(),
            "result": self.query.result(),
        }

    def result(self) -> list[tuple[Any, ...]]:
        return [tuple(row.values()) for row in self.query.result().to_pylist()]


def same(found: Sequence[tuple[Any, ...]], wanted: Sequence[tuple[Any, ...]]) -> bool:
    """Whether the same rows are there in any order, NaN and the sign of 0 told apart."""
    return sorted(map(repr, map(_plain, found))) == sorted(map(repr, map(_plain, wanted)))


def _plain(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """Times by their instant: two zones of the same offset do not show alike."""
    return tuple(value.timestamp() if getattr(value, "tzinfo", None) else value for value in row)
