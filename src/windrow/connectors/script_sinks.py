"""Sinks of a script: console(), parquet('path', feed = 'changes'), postgres('table', url = ...)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from windrow.connectors.kafka.script import KAFKA_SINK_OPTIONS, kafka_sink
from windrow.connectors.options import Options
from windrow.connectors.postgres.connector import POSTGRES_FEEDS
from windrow.errors import BindingError
from windrow.plan.nearest import nearest
from windrow.sinks import FEEDS, Console, Delta, KafkaSink, Memory, Parquet, Postgres
from windrow.sql.statements import Endpoint

__all__ = ["SINKS", "JobSink", "SinkKind", "sink_of"]

JobSink = Console | Delta | KafkaSink | Memory | Parquet | Postgres


@dataclass(frozen=True)
class SinkKind:
    """What a sink of that name may be given, and the description that it makes of it."""

    options: tuple[str, ...]
    described: Callable[[Options], JobSink]


def sink_of(endpoint: Endpoint | None) -> JobSink:
    """The sink that an endpoint of a script names; without one, the console."""
    if endpoint is None:
        return Console()
    name = endpoint.name.lower()
    if name not in SINKS:
        guess = nearest(name, SINKS)
        hint = f"did you mean {guess}?" if guess else f"the sinks are: {', '.join(SINKS)}"
        message = f"there is no sink {endpoint.name!r}"
        raise BindingError("WB512", message, hint=hint, place=endpoint.place)
    kind = SINKS[name]
    return kind.described(Options(endpoint, kind.options))


def _parquet(options: Options) -> JobSink:
    return Parquet(options.text("path"), options.one_of("feed", FEEDS))


def _delta(options: Options) -> JobSink:
    return Delta(options.text("path"), options.one_of("feed", FEEDS))


def _postgres(options: Options) -> JobSink:
    return Postgres(
        options.text("url"),
        options.text("table"),
        options.one_of("feed", POSTGRES_FEEDS),
        options.names("key"),
        options.place,
    )


SINKS = {
    "console": SinkKind((), lambda options: Console()),  # noqa: ARG005 - it has no options
    "delta": SinkKind(("path", "feed"), _delta),
    "kafka": SinkKind(KAFKA_SINK_OPTIONS, kafka_sink),
    "memory": SinkKind((), lambda options: Memory()),  # noqa: ARG005 - it has no options
    "parquet": SinkKind(("path", "feed"), _parquet),
    "postgres": SinkKind(("table", "url", "feed", "key"), _postgres),
}
