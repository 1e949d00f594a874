"""Where rows come from and go to: the options of a declaration as a source or sink of WQL."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["is_only_sink", "sink_of", "source_of"]

Options = Mapping[str, str]

# Connectors that only take rows.
_ONLY_SINKS = ("blackhole", "print", "discard")
_FILES = {"json": "jsonl", "csv": "csv", "parquet": "parquet"}


def is_only_sink(options: Options) -> bool:
    """Whether nothing can be read from it."""
    return _connector(options) in _ONLY_SINKS


def source_of(options: Options) -> str | None:
    """`kafka(...)` or a file, as it stands behind FROM; None where there is no such source here."""
    if _connector(options) == "filesystem" and _path(options):
        name = _FILES.get(_format(options))
        return f"{name}('{_quoted(_path(options))}')" if name else None
    topic, servers = _kafka(options)
    if topic and servers and _format(options) in ("json", ""):
        return f"kafka(topic='{_quoted(topic)}', servers='{_quoted(servers)}')"
    return None


def sink_of(options: Options) -> str | None:
    """The same behind INTO."""
    if _connector(options) == "filesystem" and _format(options) == "parquet" and _path(options):
        return f"parquet('{_quoted(_path(options))}')"
    topic, servers = _kafka(options)
    if topic and servers and _format(options) in ("json", ""):
        return f"kafka(topic='{_quoted(topic)}', servers='{_quoted(servers)}')"
    return None


def _connector(options: Options) -> str:
    return options.get("connector", options.get("connector.type", ""))


def _format(options: Options) -> str:
    names = ("format", "format.type", "value.format", "value_format")
    return next((options[name].lower() for name in names if name in options), "")


def _path(options: Options) -> str:
    path = options.get("path", options.get("connector.path", ""))
    return path.removeprefix("file://")


def _kafka(options: Options) -> tuple[str, str]:
    topic = options.get("topic", options.get("kafka_topic", ""))
    servers = options.get(
        "properties.bootstrap.servers", options.get("properties.bootstrap.server")
    )
    return topic, servers or ""


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace("'", "\\'")
