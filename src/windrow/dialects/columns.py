"""One column of a declaration: its name, its type in WQL, and what else is said of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from windrow.dialects.scanning import Piece
from windrow.dialects.translation import Translating

__all__ = ["Column", "column_of", "time_of"]

# Words that end a type.
_AFTER_TYPE = frozenset(
    [
        *("NOT", "NULL", "PRIMARY", "KEY", "COMMENT", "METADATA", "LATENESS", "DEFAULT", "UNIQUE"),
        *("FOREIGN", "REFERENCES", "CHECK", "HEADERS", "HEADER", "GENERATED", "WATERMARK"),
    ]
)
_POSTGRES = ("risingwave", "materialize", "feldera")
_POSTGRES_TYPES = {
    "NUMERIC": "DECIMAL(28, 10)",
    "DECIMAL": "DECIMAL(28, 10)",
    "FLOAT": "DOUBLE",
    "JSONB": "STRING",
    "JSON": "STRING",
    "BYTEA": "BINARY",
    "SERIAL": "INT",
    "UUID": "STRING",
    "INTERVAL": "INTERVAL DAY TO SECOND",
}
_EVERYWHERE = {
    "DOUBLE PRECISION": "DOUBLE",
    "VARIANT": "STRING",
    "BYTES": "BINARY",
    "BIGINT UNSIGNED": "BIGINT",
}
_ESPER_TYPES = {"LONG": "BIGINT", "BOOL": "BOOLEAN", "INTEGER": "INT"}
_PROCESSING_TIME = ("PROCTIME", "CURRENT_TIMESTAMP", "NOW", "LOCALTIMESTAMP", "PROCTIME")


@dataclass(frozen=True)
class Column:
    """A column. kind: its type in WQL.

    is_arrival: it is computed as the time of processing. lateness: in words, as Feldera has it.
    """

    name: str
    kind: str
    is_key: bool = False
    is_arrival: bool = False
    lateness: str = ""


def column_of(script: Translating, part: Sequence[Piece]) -> Column:
    """The column that a part of a declaration is about."""
    name = part[0].bare
    if len(part) > 1 and part[1].upper == "AS":
        return _computed(script, part)
    end = next((at for at, each in enumerate(part) if at and each.upper in _AFTER_TYPE), len(part))
    kind = _kind(script, part[1:end])
    words = [piece.upper for piece in part[end:]]
    is_key = any(words[at : at + 2] == ["PRIMARY", "KEY"] for at in range(len(words)))
    return Column(name, kind, is_key, lateness=_lateness(part[end:]))


def _computed(script: Translating, part: Sequence[Piece]) -> Column:
    """`ts AS PROCTIME()` is when a row arrives; any other is a column that rows bring along."""
    name = part[0].bare
    if any(piece.upper in _PROCESSING_TIME for piece in part[2:]):
        script.note(part[0], f"column {name} is the time at which a row arrives")
        return Column(name, "TIMESTAMP", is_arrival=True)
    script.note(part[0], f"column {name} is not computed: rows bring it along")
    return Column(name, "TIMESTAMP")


def _lateness(pieces: Sequence[Piece]) -> str:
    """Of `LATENESS INTERVAL 1 HOUR` the 1 HOUR."""
    for place, piece in enumerate(pieces):
        if piece.upper == "LATENESS":
            return " ".join(each.bare for each in pieces[place + 2 : place + 4])
    return ""


def _kind(script: Translating, pieces: Sequence[Piece]) -> str:
    written = _spelt(pieces)
    upper = written.upper()
    if script.dialect in _POSTGRES and upper in _POSTGRES_TYPES:
        return _POSTGRES_TYPES[upper]
    if script.dialect == "esper" and upper in _ESPER_TYPES:
        return _ESPER_TYPES[upper]
    return _EVERYWHERE.get(upper, written)


def _spelt(pieces: Sequence[Piece]) -> str:
    text = ""
    for piece in pieces:
        glued = piece.upper in ("<", ">", "(", ")", ",", "[", "]", ":") or text.endswith(("<", "("))
        text += piece.written if glued or not text else f" {piece.written}"
    return text


def time_of(columns: Sequence[Column], watermark: str, option: str) -> str | None:
    """The column that is a row's time: by WATERMARK or an option, by arrival, or the first one."""
    names = {column.name.lower(): column.name for column in columns}
    for named in (watermark, option):
        if named.lower() in names:
            return names[named.lower()]
    arrival = next((column.name for column in columns if column.is_arrival), None)
    if arrival is not None:
        return arrival
    timed = (column.name for column in columns if column.kind.upper().startswith("TIMESTAMP"))
    return next(timed, None)
