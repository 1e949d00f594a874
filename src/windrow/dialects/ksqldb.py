"""What only ksqlDB has: a time of rows that nobody selects, WITHIN, places counted from 1."""

from __future__ import annotations

from windrow.dialects.scanning import Piece, Pieces, closing, select_items
from windrow.dialects.translation import Translating
from windrow.sql.words import print_name

__all__ = ["pass_time_on", "translate_ksqldb"]

_AFTER_ON = ("WHERE", "GROUP", "HAVING", "PARTITION", "EMIT", "JOIN", "LEFT", "INNER", "FULL")
_AFTER_SOURCE = (*_AFTER_ON, "ON", "WINDOW", "WITHIN", "OUTER", "RIGHT")


def pass_time_on(script: Translating, name: str, pieces: Pieces) -> None:
    """A stream made of another has the time of its rows, which its select list does not name."""
    place = _top(pieces, "FROM")
    if place is None or place + 1 >= len(pieces):
        return
    source, alias = _source(pieces, place + 1)
    time = script.time_columns.get(source)
    if time is None:
        return
    script.time_columns[name.lower()] = time
    listed = pieces[1:place]
    if any(piece.upper == "*" for piece in listed) or any(
        piece.bare.lower() == time for piece in listed
    ):
        return
    column = f", {print_name(alias)}.{print_name(time)} "
    script.edits.append((pieces[place].start, pieces[place].start, column))


def translate_ksqldb(script: Translating, pieces: Pieces) -> None:
    """A query, in place."""
    _name_columns(script, pieces)
    for place, piece in enumerate(pieces):
        before = pieces[place - 1] if place else None
        after = pieces[place + 1] if place + 1 < len(pieces) else None
        if before is not None and after is not None:
            _piece(script, piece, before, after)
        if piece.upper == "PARTITION" and _depth(pieces, place) == 0:
            script.replace(piece.start, _end_of_partition(pieces, place), "")
            script.note(piece, "rows need no PARTITION BY: they are where they are needed")
        if piece.upper == "GRACE":
            _drop_grace(script, pieces, place)
        if piece.upper == "WITHIN":
            _within(script, pieces, place)
        if piece.upper == "ROWTIME":
            _row_time(script, pieces, place)


def _name_columns(script: Translating, pieces: Pieces) -> None:
    """Computed columns without an alias are KSQL_COL_0, KSQL_COL_1 and so on."""
    count = 0
    for item in select_items(pieces):
        is_plain = all(each.is_name or each.upper in (".", "->", "*") for each in item)
        is_call = len(item) > 2 and item[1].upper == "(" and closing(item, 1) == len(item) - 1
        if not is_plain and is_call and item[0].upper != "AS_VALUE":
            script.edits.append((item[-1].end, item[-1].end, f" AS KSQL_COL_{count}"))
            count += 1


def _piece(script: Translating, piece: Piece, before: Piece, after: Piece) -> None:
    if piece.upper == "+" and "text" in (before.kind, after.kind):
        script.swap(piece, "||")
    if piece.upper == "[" and _is_place(before, after):
        # Places count from 1 there, and from 0 here.
        script.swap(after, str(int(after.written) - 1))
    if piece.upper == "STRUCT" and after.upper == "(":
        script.swap(piece, "named_struct")
    if piece.upper == ":=":
        script.replace(before.start, piece.end, f"'{before.bare}',")


def _is_place(before: Piece, after: Piece) -> bool:
    """Whether a number in square brackets behind something is a place in it."""
    return after.kind == "number" and (before.is_name or before.upper in (")", "]"))


def _drop_grace(script: Translating, pieces: Pieces, place: int) -> None:
    """`, GRACE PERIOD 1 MINUTE`: how late rows may be is said of the stream."""
    start = pieces[place - 1].start if pieces[place - 1].upper == "," else pieces[place].start
    script.replace(start, pieces[min(place + 3, len(pieces) - 1)].end, "")
    script.note(pieces[place], "how late rows may be is said by LATENESS of the stream")


def _within(script: Translating, pieces: Pieces, place: int) -> None:
    """`a JOIN b WITHIN 1 HOUR ON ...`: their times are at most that far apart."""
    joined = _before(pieces, place, "JOIN")
    first = _top(pieces, "FROM")
    on = next((at for at in range(place, len(pieces)) if pieces[at].upper == "ON"), None)
    if joined is None or first is None or on is None:
        return
    left, right = _source(pieces, first + 1), _source(pieces, joined + 1)
    times = [script.time_columns.get(source) for source, _ in (left, right)]
    if None in times:
        script.note(pieces[place], "WITHIN needs inputs whose time is known")
        return
    span = " ".join(piece.bare for piece in pieces[place + 1 : on] if piece.upper not in ("(", ")"))
    one, other = (
        f"{print_name(alias)}.{print_name(str(time))}"
        for (_, alias), time in zip((left, right), times, strict=True)
    )
    apart = f" AND {other} BETWEEN {one} - INTERVAL {span} AND {one} + INTERVAL {span} "
    script.replace(pieces[place].start, pieces[on].start, "")
    end = next((at for at in range(on, len(pieces)) if pieces[at].upper in _AFTER_ON), None)
    offset = pieces[end].start if end is not None else pieces[-1].end
    script.edits.append((offset, offset, apart))


def _row_time(script: Translating, pieces: Pieces, place: int) -> None:
    first = _top(pieces, "FROM")
    source = _source(pieces, first + 1)[0] if first is not None else ""
    time = script.time_columns.get(source)
    if time is None:
        return
    called = _before(pieces, place, "FROM_UNIXTIME")
    if called is not None and place - called <= 4:  # it is a TIMESTAMP already
        script.edits.insert(0, (pieces[called].start, pieces[called].end, ""))
    script.swap(pieces[place], print_name(time))


def _top(pieces: Pieces, word: str) -> int | None:
    """The place of the word that is in no bracket."""
    depth = 0
    for place, piece in enumerate(pieces):
        depth += (piece.upper == "(") - (piece.upper == ")")
        if depth == 0 and piece.upper == word:
            return place
    return None


def _depth(pieces: Pieces, place: int) -> int:
    return sum((each.upper == "(") - (each.upper == ")") for each in pieces[:place])


def _before(pieces: Pieces, place: int, word: str) -> int | None:
    found = (at for at in range(place - 1, -1, -1) if pieces[at].upper == word)
    return next(found, None)


def _source(pieces: Pieces, place: int) -> tuple[str, str]:
    """The name there in small letters, and the alias behind it."""
    name = pieces[place].bare
    after = place + 1
    if after < len(pieces) and pieces[after].upper == "AS":
        after += 1
    if after < len(pieces) and pieces[after].is_name and pieces[after].upper not in _AFTER_SOURCE:
        return name.lower(), pieces[after].bare
    return name.lower(), name


def _end_of_partition(pieces: Pieces, place: int) -> int:
    for at in range(place, len(pieces)):
        if pieces[at].upper == "EMIT":
            return pieces[at].start
    return pieces[-1].end
