"""Sources of a script: parquet('path'), csv('path', header = TRUE), rate(rows_per_second = 5)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from windrow.connectors.kafka.script import KAFKA_SOURCE_OPTIONS, kafka_source
from windrow.connectors.options import Options
from windrow.errors import BindingError, Place
from windrow.plan.nearest import nearest
from windrow.sources import SOCKET_FORMATS, FileSource, Rate, Socket, Source
from windrow.sql.statements import Endpoint

__all__ = ["SOURCES", "SourceKind", "source_of"]


@dataclass(frozen=True)
class SourceKind:
    """What a source of that name may be given, and the description that it makes of it."""

    options: tuple[str, ...]
    described: Callable[[Options, Place | None], Source]


def source_of(endpoint: Endpoint) -> Source:
    """The source that an endpoint of a script names."""
    name = endpoint.name.lower()
    if name not in SOURCES:
        guess = nearest(name, SOURCES)
        hint = f"did you mean {guess}?" if guess else f"the sources are: {', '.join(SOURCES)}"
        message = f"there is no source {endpoint.name!r}"
        raise BindingError("WB510", message, hint=hint, place=endpoint.place)
    kind = SOURCES[name]
    return kind.described(Options(endpoint, kind.options), endpoint.place)


def _files(format_: str) -> Callable[[Options, Place | None], Source]:
    def described(options: Options, place: Place | None) -> Source:
        return FileSource(
            format_,
            options.text("path"),
            files_per_batch=options.count("files_per_batch"),
            place=place,
        )

    return described


def _csv(options: Options, place: Place | None) -> Source:
    return FileSource(
        "csv",
        options.text("path"),
        options.flag("header", True),
        options.text("delimiter", ","),
        options.count("files_per_batch"),
        place,
    )


def _rate(options: Options, place: Place | None) -> Source:
    return Rate(options.count("rows_per_second") or 1, place)


def _socket(options: Options, place: Place | None) -> Source:
    port = options.needed_count("port")
    return Socket(options.text("host"), port, options.one_of("format", SOCKET_FORMATS), place)


SOURCES = {
    "parquet": SourceKind(("path", "files_per_batch"), _files("parquet")),
    "csv": SourceKind(("path", "header", "delimiter", "files_per_batch"), _csv),
    "jsonl": SourceKind(("path", "files_per_batch"), _files("jsonl")),
    "kafka": SourceKind(KAFKA_SOURCE_OPTIONS, kafka_source),
    "rate": SourceKind(("rows_per_second",), _rate),
    "socket": SourceKind(("host", "port", "format"), _socket),
}
