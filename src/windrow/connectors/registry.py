"""All connectors by the names that scripts have for them; each is imported on first use."""

from __future__ import annotations

import importlib
from typing import TypeVar

from windrow.connectors.console import Console
from windrow.connectors.contract import Sink, Source
from windrow.connectors.options import Options
from windrow.connectors.scripted import Scripted
from windrow.errors import BindingError
from windrow.plan.nearest import nearest
from windrow.sql.statements import Endpoint

__all__ = ["SINKS", "SOURCES", "sink_named", "source_named"]

Described = TypeVar("Described")

# The module of each, which has it in a table of its own that is called as this one is.
SOURCES = {
    "adbc": "windrow.connectors.adbc.source",
    "parquet": "windrow.connectors.files.connector",
    "csv": "windrow.connectors.files.connector",
    "jsonl": "windrow.connectors.files.connector",
    "http": "windrow.connectors.http.connector",
    "kafka": "windrow.connectors.kafka.connector",
    "mqtt": "windrow.connectors.mqtt.connector",
    "postgres": "windrow.connectors.postgres.source",
    "postgres_changes": "windrow.connectors.postgres.changes",
    "rate": "windrow.connectors.rate",
    "socket": "windrow.connectors.socket_lines",
    "spark_table": "windrow.connectors.spark_table",
    "stdin": "windrow.connectors.listening",
    "tcp": "windrow.connectors.listening",
    "udp": "windrow.connectors.listening",
    "unix": "windrow.connectors.listening",
}
SINKS = {
    "console": "windrow.connectors.console",
    "csv": "windrow.connectors.folders.connector",
    "delta": "windrow.connectors.delta.connector",
    "duckdb": "windrow.connectors.sql_tables.connector",
    "iceberg": "windrow.connectors.iceberg.connector",
    "jsonl": "windrow.connectors.folders.connector",
    "kafka": "windrow.connectors.kafka.connector",
    "memory": "windrow.connectors.memory",
    "parquet": "windrow.connectors.parquet.connector",
    "postgres": "windrow.connectors.postgres.connector",
    "slack": "windrow.connectors.webhook.connector",
    "sqlite": "windrow.connectors.sql_tables.connector",
    "webhook": "windrow.connectors.webhook.connector",
}


def source_named(endpoint: Endpoint) -> Source:
    """The source that an endpoint of a script names."""
    name = _known("source", "WB510", SOURCES, endpoint)
    scripted: dict[str, Scripted[Source]] = importlib.import_module(SOURCES[name]).SOURCES
    return _described(scripted[name], endpoint)


def sink_named(endpoint: Endpoint | None) -> Sink:
    """The sink that an endpoint of a script names; without one, the console."""
    if endpoint is None:
        return Console()
    name = _known("sink", "WB512", SINKS, endpoint)
    scripted: dict[str, Scripted[Sink]] = importlib.import_module(SINKS[name]).SINKS
    return _described(scripted[name], endpoint)


def _known(what: str, code: str, modules: dict[str, str], endpoint: Endpoint) -> str:
    name = endpoint.name.lower()
    if name not in modules:
        guess = nearest(name, modules)
        hint = f"did you mean {guess}?" if guess else f"the {what}s are: {', '.join(modules)}"
        message = f"there is no {what} {endpoint.name!r}"
        raise BindingError(code, message, hint=hint, place=endpoint.place)
    return name


def _described(scripted: Scripted[Described], endpoint: Endpoint) -> Described:
    return scripted.described(Options(endpoint, scripted.options))
