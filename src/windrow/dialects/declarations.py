"""Declared tables, streams and sources: as streams, or as tables where they have a key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from windrow.dialects.columns import Column, column_of, time_of
from windrow.dialects.endpoints import is_only_sink, sink_of, source_of
from windrow.dialects.scanning import Piece, Pieces, closing, split_at_commas
from windrow.dialects.translation import Translating
from windrow.sql.words import print_name

__all__ = ["declare_relation", "declare_schema", "looked_up_columns"]

_ARRIVAL = "arrival_time"
# A time in such a column is a number of milliseconds since 1970.
_WHOLE = ("BIGINT", "LONG", "INT")


@dataclass
class _Declared:
    """A declaration. key: the columns of PRIMARY KEY.

    watermark, lateness: the column of WATERMARK FOR, and what is subtracted. options: of WITH.
    """

    name: str
    columns: list[Column] = field(default_factory=list)
    key: list[str] = field(default_factory=list)
    watermark: str = ""
    lateness: str = ""
    options: dict[str, str] = field(default_factory=dict)


def declare_relation(script: Translating, pieces: Pieces, place: int, opening: int) -> None:
    """CREATE TABLE name (columns) WITH (options), from `place` on, where the name is."""
    declared = _Declared(pieces[opening - 1].bare)
    if opening - 1 > place:
        script.schemas.add(pieces[place].bare.lower())
    end = closing(pieces, opening)
    for part in split_at_commas(pieces[opening + 1 : end]):
        _add_part(script, declared, part)
    declared.options = _options(pieces[end + 1 :])
    script.sinks[declared.name.lower()] = sink_of(declared.options) or ""
    if is_only_sink(declared.options):
        script.replace(pieces[0].start, pieces[-1].end, "")
        return
    script.replace(pieces[0].start, pieces[-1].end, _written(script, declared, pieces[0]))


def looked_up_columns(statements: Sequence[Sequence[Piece]]) -> dict[str, str]:
    """Of `JOIN t FOR SYSTEM_TIME AS OF x AS b ON a.k = b.k` the column k of t, in small letters."""
    found = {}
    for pieces in statements:
        for place in range(1, len(pieces) - 2):
            if [each.upper for each in pieces[place : place + 2]] == ["FOR", "SYSTEM_TIME"]:
                column = _column_found_by(pieces, place)
                if column:
                    found[pieces[place - 1].bare.lower()] = column.lower()
    return found


def _column_found_by(pieces: Sequence[Piece], place: int) -> str:
    on = next((at for at in range(place, len(pieces)) if pieces[at].upper == "ON"), None)
    if on is None:
        return ""
    alias = pieces[on - 1].bare.lower()
    for at in range(on, len(pieces) - 2):
        if pieces[at].bare.lower() == alias and pieces[at + 1].upper == ".":
            return pieces[at + 2].bare
    return ""


def declare_schema(script: Translating, pieces: Pieces, place: int) -> None:
    """Esper's create schema Name (property type, ...)."""
    opening = next((at for at, each in enumerate(pieces) if each.upper == "("), len(pieces) - 1)
    declare_relation(script, pieces, place, opening)


def _add_part(script: Translating, declared: _Declared, part: Sequence[Piece]) -> None:
    words = [piece.upper for piece in part]
    if words[0] == "WATERMARK":
        declared.watermark = part[2].bare
        declared.lateness = _lateness(part)
        return
    if words[0] == "CONSTRAINT":
        part, words = part[2:], words[2:]
    if words[:2] == ["PRIMARY", "KEY"]:
        inside = part[3 : closing(part, 2)]
        declared.key = [piece.bare for piece in inside if piece.is_name]
        return
    if words[0] in ("FOREIGN", "UNIQUE", "CHECK", "INCLUDE") or part[0].upper == "*":
        return
    column = column_of(script, part)
    declared.columns.append(column)
    if column.is_key:
        declared.key.append(column.name)
    if column.lateness:
        declared.watermark, declared.lateness = column.name, column.lateness


def _lateness(part: Sequence[Piece]) -> str:
    """Of `WATERMARK FOR ts AS ts - INTERVAL '5' SECOND` the 5 SECOND."""
    place = next((at for at, each in enumerate(part) if each.upper == "INTERVAL"), None)
    if place is None:
        return ""
    return " ".join(each.bare for each in part[place + 1 : place + 3] if each.upper != ")")


def _options(pieces: Sequence[Piece]) -> dict[str, str]:
    """The options of WITH (...), their names in small letters."""
    place = next((at for at, each in enumerate(pieces) if each.upper == "WITH"), None)
    if place is None or place + 1 >= len(pieces) or pieces[place + 1].upper != "(":
        return {}
    found = {}
    for part in split_at_commas(pieces[place + 2 : closing(pieces, place + 1)]):
        names = [each for each in part if each.upper != "="]
        if len(names) > 1:
            name = "".join(each.bare for each in names[:-1])
            found[name.lower()] = names[-1].bare
    return found


def _written(script: Translating, declared: _Declared, first: Piece) -> str:
    """The declaration in WQL."""
    columns = declared.columns
    found_by = script.looked_up.get(declared.name.lower())
    if not declared.key and found_by is not None:
        declared.key = [each.name for each in columns if each.name.lower() == found_by]
        script.note(first, f"{declared.name} is looked up by {found_by}, which is its key here")
    time = time_of(declared.columns, declared.watermark, declared.options.get("timestamp", ""))
    is_table = bool(declared.key) and _can_be_table(declared)
    in_epochs = {each.name for each in columns if each.name == time and each.kind.upper() in _WHOLE}
    listed = [
        f"{print_name(each.name)} {'TIMESTAMP' if each.name in in_epochs else each.kind}"
        for each in columns
    ]
    if time is None and not is_table:
        listed.append(f"{_ARRIVAL} TIMESTAMP")
        time = _ARRIVAL
        script.arrival_timed.append(declared.name)
        script.note(
            first,
            f"the rows of {declared.name} carry no time: column {_ARRIVAL} is when they arrived",
        )
    if time is not None:
        script.time_columns[declared.name.lower()] = time.lower()
    timed = f" TIME {print_name(time)}" if time is not None else ""
    late = f" LATENESS {declared.lateness}" if declared.lateness and time and not is_table else ""
    unit = " UNIT ms" if in_epochs else ""
    came = _source(script, declared, first)
    name = print_name(declared.name)
    if not is_table:
        return f"CREATE STREAM {name} ({', '.join(listed)}){timed}{late}{unit}{came}"
    script.tables.add(declared.name.lower())
    key = ", ".join(print_name(each) for each in declared.key)
    return f"CREATE TABLE {name} ({', '.join(listed)}, PRIMARY KEY ({key})){timed}{came}"


def _can_be_table(declared: _Declared) -> bool:
    """In ksqlDB a stream may have a KEY, which says nothing of its rows."""
    names = {column.name.lower() for column in declared.columns}
    return all(name.lower() in names for name in declared.key)


def _source(script: Translating, declared: _Declared, first: Piece) -> str:
    """FROM and the source, where there is one like it here."""
    source = source_of(declared.options)
    if source is not None:
        return f" FROM {source}"
    connector = declared.options.get("connector") or declared.options.get("kafka_topic")
    if connector is not None:
        script.note(
            first,
            f"rows of {declared.name} are pushed, or read by FROM kafka(...), jsonl('...') or "
            f"another source: {connector!r} is not read",
        )
    return ""
