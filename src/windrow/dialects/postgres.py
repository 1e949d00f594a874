"""What systems with PostgreSQL's language have: JSON by arrows, short units, DATE_BIN."""

from __future__ import annotations

import re
from collections.abc import Mapping

from windrow.dialects.scanning import Piece, Pieces, closing, select_items
from windrow.dialects.translation import Translating
from windrow.sql.words import print_name

__all__ = ["translate_postgres"]

_SHORT = re.compile(r"(\d+)\s*([A-Za-z]+)")
_SHORT_UNITS: Mapping[str, str] = {
    "s": "seconds", "sec": "seconds", "secs": "seconds", "m": "minutes", "min": "minutes",
    "mins": "minutes", "h": "hours", "hr": "hours", "hrs": "hours", "d": "days", "w": "weeks",
    "ms": "milliseconds",
}  # fmt: skip
_MICROSECONDS = {"second": 1_000_000, "minute": 60_000_000, "hour": 3_600_000_000}
_ARROWS = ("->", "->>")


def translate_postgres(script: Translating, pieces: Pieces) -> None:
    """A query, in place."""
    _name_calls(script, pieces)
    _match_conditions(script, pieces)
    for place, piece in enumerate(pieces):
        before = pieces[place - 1].upper if place else ""
        if piece.kind == "text" and before == "INTERVAL":
            _interval(script, piece)
        elif piece.upper in ("JSONB", "JSON") and before in ("::", "AS"):
            script.swap(piece, "STRING")
        elif piece.upper in ("LEFT", "RIGHT", "USER") and _is_name(pieces, place):
            script.swap(piece, f"`{piece.written}`")
        elif piece.upper in _ARROWS and before not in _ARROWS:
            _json(script, pieces, place)
        elif piece.upper == "REGEXP_MATCH":
            _regexp_match(script, pieces, place)
        elif piece.upper == "DATE_BIN":
            _date_bin(script, pieces, place)


def _name_calls(script: Translating, pieces: Pieces) -> None:
    """A call without an alias is named by its function: `SELECT count(*)` has a column count."""
    items = select_items(pieces)
    names = [item[0].bare.lower() if _is_call(item) else "" for item in items]
    for item, name in zip(items, names, strict=True):
        if name and names.count(name) == 1:
            script.edits.append((item[-1].end, item[-1].end, f" AS {print_name(name)}"))


def _is_call(item: Pieces) -> bool:
    return len(item) > 2 and item[1].upper == "(" and closing(item, 1) == len(item) - 1


def _match_conditions(script: Translating, pieces: Pieces) -> None:
    """`LEFT ASOF JOIN t MATCH_CONDITION(a >= b) ON c` is `ASOF LEFT JOIN t ON a >= b AND c`."""
    for place, piece in enumerate(pieces[:-1]):
        if piece.upper == "LEFT" and pieces[place + 1].upper == "ASOF":
            script.replace(piece.start, pieces[place + 1].end, "ASOF LEFT")
        if piece.upper == "MATCH_CONDITION":
            end = closing(pieces, place + 1)
            inside = script.text[pieces[place + 1].end : pieces[end].start]
            script.replace(piece.start, pieces[end + 1].end, f"ON {inside} AND")


def _interval(script: Translating, piece: Piece) -> None:
    """`INTERVAL '30s'`."""
    found = _SHORT.fullmatch(piece.bare.strip())
    if found is not None and found[2].lower() in _SHORT_UNITS:
        script.swap(piece, f"'{found[1]} {_SHORT_UNITS[found[2].lower()]}'")


def _is_name(pieces: Pieces, place: int) -> bool:
    """Whether the word names something: `left.x`, `AS left ON`."""
    after = pieces[place + 1].upper if place + 1 < len(pieces) else ""
    before = pieces[place - 1].upper if place else ""
    return (
        after == "." or before == "AS" or (before in (",", "SELECT", "BY") and after in (",", ""))
    )


def _json(script: Translating, pieces: Pieces, place: int) -> None:
    """`a.value -> 'b' ->> 'c'` is get_json_object(a.value, '$.b.c')."""
    if place == 0 or not pieces[place - 1].is_name:
        return
    first = place - 1
    while first >= 2 and pieces[first - 1].upper == ".":
        first -= 2
    if first >= 1 and pieces[first - 1].upper in _ARROWS:
        return
    path, last = "$", place
    while last + 1 < len(pieces) and pieces[last].upper in _ARROWS:
        key = pieces[last + 1]
        path += f".{key.bare}" if key.kind == "text" else f"[{key.written}]"
        last += 2
    value = script.text[pieces[first].start : pieces[place - 1].end]
    end = pieces[last - 1].end
    script.replace(pieces[first].start, end, f"get_json_object({value}, '{path}')")


def _regexp_match(script: Translating, pieces: Pieces, place: int) -> None:
    """`regexp_match(x, p)[1]` is regexp_extract(x, p, 1)."""
    end = closing(pieces, place + 1)
    if end + 3 < len(pieces) and pieces[end + 1].upper == "[" and pieces[end + 3].upper == "]":
        script.swap(pieces[place], "regexp_extract")
        script.replace(pieces[end].start, pieces[end + 3].end, f", {pieces[end + 2].written})")


def _date_bin(script: Translating, pieces: Pieces, place: int) -> None:
    """DATE_BIN('1 minute', ts, origin): the time rounded down to whole steps after the origin."""
    end = closing(pieces, place + 1)
    parts = _parts(pieces, place + 2, end)
    found = _SHORT.fullmatch(pieces[parts[0][0]].bare) if len(parts) == 3 else None
    unit = found[2].lower().rstrip("s") if found else ""
    if found is None or unit not in _MICROSECONDS:
        return
    step = int(found[1]) * _MICROSECONDS[unit]
    time, origin = (script.text[pieces[one].start : pieces[other].end] for one, other in parts[1:])
    since = f"unix_micros({time}) - unix_micros(CAST({origin} AS TIMESTAMP))"
    rounded = f"timestamp_micros(unix_micros({time}) - pmod({since}, {step}))"
    script.replace(pieces[place].start, pieces[end].end, rounded)


def _parts(pieces: Pieces, begin: int, end: int) -> list[tuple[int, int]]:
    """The first and last piece of each argument."""
    found, depth, first = [], 0, begin
    for place in range(begin, end + 1):
        word = pieces[place].upper
        if (word == "," and depth == 0) or place == end:
            found.append((first, place - 1))
            first = place + 1
        depth += (word == "(") - (word == ")")
    return found
