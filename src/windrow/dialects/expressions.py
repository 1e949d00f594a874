"""What is written otherwise inside of queries: functions, signs, windows of Esper."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from windrow.dialects.esper import translate_windows
from windrow.dialects.scanning import Piece, Pieces, closing, split_at_commas
from windrow.dialects.translation import Translating

__all__ = ["translate_expressions"]

_POSTGRES = ("risingwave", "materialize", "feldera")
# Functions of one dialect under the names that they have here.
_NAMES: Mapping[str, Mapping[str, str]] = {
    "ksqldb": {
        "FORMAT_TIMESTAMP": "date_format",
        "FORMAT_DATE": "date_format",
        "PARSE_TIMESTAMP": "to_timestamp",
        "PARSE_DATE": "to_date",
        "LATEST_BY_OFFSET": "last",
        "EARLIEST_BY_OFFSET": "first",
        "REGEXP_SPLIT_TO_ARRAY": "split",
        "ARRAY_LENGTH": "size",
        "LEN": "length",
        "UCASE": "upper",
        "LCASE": "lower",
        "FROM_UNIXTIME": "timestamp_millis",
        "TOPK": "collect_list",
        "WINDOWSTART": "window_start",
        "WINDOWEND": "window_end",
        "EXTRACTJSONFIELD": "get_json_object",
        "IFNULL": "coalesce",
    },
    "flink": {
        "CHAR_LENGTH": "length",
        "COLLECT": "collect_list",
        "TO_TIMESTAMP_LTZ": "timestamp_millis",
        "LISTAGG": "listagg",
    },
    "materialize": {"JSONB_AGG": "collect_list", "MZ_LOGICAL_TIMESTAMP": "mz_now"},
    "risingwave": {"PROCTIME": "now"},
    "feldera": {},
    "spark": {},
    "esper": {},
}
_SIGNS: Mapping[str, Mapping[str, str]] = {"ksqldb": {"->": "."}}
Call = Callable[[Translating, Pieces, int, int], bool]


def translate_expressions(script: Translating, pieces: Pieces) -> None:
    """A query, in place."""
    if script.dialect == "esper":
        translate_windows(script, pieces)
    _drop_schemas(script, pieces)
    names, signs = _NAMES[script.dialect], _SIGNS.get(script.dialect, {})
    for place, piece in enumerate(pieces):
        if piece.upper in signs:
            script.swap(piece, signs[piece.upper])
        elif piece.kind == "name" and piece.written[0] == '"' and script.dialect != "spark":
            script.swap(piece, f"`{piece.bare}`")
        elif piece.kind == "word":
            _word(script, pieces, place, names)
    if script.dialect == "ksqldb":
        _ksqldb(script, pieces)


def _word(script: Translating, pieces: Pieces, place: int, names: Mapping[str, str]) -> None:
    piece = pieces[place]
    is_call = place + 1 < len(pieces) and pieces[place + 1].upper == "("
    rewrite = _CALLS.get(piece.upper) if is_call else None
    if rewrite is not None and rewrite(script, pieces, place, closing(pieces, place + 1)):
        return
    is_field = place > 0 and pieces[place - 1].upper in (".", "->")
    if piece.upper in names and (is_call or piece.upper.startswith("WINDOW")) and not is_field:
        script.swap(piece, names[piece.upper])


def _drop_schemas(script: Translating, pieces: Pieces) -> None:
    for place in range(len(pieces) - 2):
        if pieces[place + 1].upper == "." and pieces[place].bare.lower() in script.schemas:
            script.replace(pieces[place].start, pieces[place + 2].start, "")


def _ksqldb(script: Translating, pieces: Pieces) -> None:
    for place, piece in enumerate(pieces):
        before = pieces[place - 1] if place else None
        after = pieces[place + 1] if place + 1 < len(pieces) else None
        if piece.upper == "+" and before and after and "text" in (before.kind, after.kind):
            script.swap(piece, "||")
        if piece.upper == "[" and before and after and _is_place(before, after):
            # Places count from 1 there, and from 0 here.
            script.swap(after, str(int(after.written) - 1))
        if piece.upper == "PARTITION" and after and after.upper == "BY" and _is_last(pieces, place):
            last = _end_of_partition(pieces, place)
            script.replace(piece.start, last, "")
            script.note(piece, "rows need no PARTITION BY: they are where they are needed")
        if piece.upper == ":=":
            script.note(piece, "write named_struct('name', value) for STRUCT(name := value)")


def _is_place(before: Piece, after: Piece) -> bool:
    """Whether a number in square brackets behind something is a place in it."""
    return after.kind == "number" and (before.is_name or before.upper in (")", "]"))


def _is_last(pieces: Pieces, place: int) -> bool:
    """Whether PARTITION BY stands at the end of a query, in no bracket."""
    depth = 0
    for piece in pieces[:place]:
        depth += (piece.upper == "(") - (piece.upper == ")")
    return depth == 0


def _end_of_partition(pieces: Pieces, place: int) -> int:
    for at in range(place, len(pieces)):
        if pieces[at].upper == "EMIT":
            return pieces[at].start
    return pieces[-1].end


def _arguments(pieces: Pieces, place: int, end: int) -> list[list[int]]:
    parts = split_at_commas(pieces[place + 2 : end])
    return [[part[0].start, part[-1].end] for part in parts]


def _as_value(script: Translating, pieces: Pieces, place: int, end: int) -> bool:
    script.replace(pieces[place].start, pieces[place + 1].end, "(")
    return end > place


def _timestamp_trunc(script: Translating, pieces: Pieces, place: int, end: int) -> bool:
    """TIMESTAMP_TRUNC(ts, DAY) is DATE_TRUNC('DAY', ts)."""
    parts = _arguments(pieces, place, end)
    if len(parts) != 2:
        return False
    (start, stop), (unit, unit_end) = parts
    inner, word = script.text[start:stop], script.text[unit:unit_end]
    script.replace(pieces[place].start, pieces[end].end, f"date_trunc('{word}', {inner})")
    return True


def _split_index(script: Translating, pieces: Pieces, place: int, end: int) -> bool:
    """SPLIT_INDEX counts from 0, and is NULL beyond the last part."""
    parts = _arguments(pieces, place, end)
    if len(parts) != 3 or script.dialect != "flink":
        return False
    text, mark, number = (script.text[start:stop] for start, stop in parts)
    by = f"nullif(split_part({text}, {mark}, {number} + 1), '')"
    script.replace(pieces[place].start, pieces[end].end, by)
    return True


def _to_char(script: Translating, pieces: Pieces, place: int, end: int) -> bool:
    """PostgreSQL's TO_CHAR of a time, with its letters as they are here."""
    parts = _arguments(pieces, place, end)
    if len(parts) != 2 or script.dialect not in _POSTGRES:
        return False
    (start, stop), (begin, finish) = parts
    pattern = script.text[begin:finish]
    for theirs, ours in _LETTERS:
        pattern = pattern.replace(theirs, ours)
    script.replace(
        pieces[place].start, pieces[end].end, f"date_format({script.text[start:stop]}, {pattern})"
    )
    return True


_LETTERS = (
    ("YYYY", "yyyy"), ("HH24", "HH"), ("HH12", "hh"), ("MI", "mm"), ("SS", "ss"), ("DD", "dd"),
    ("MS", "SSS"), ("US", "SSSSSS"),
)  # fmt: skip
_CALLS: Mapping[str, Call] = {
    "AS_VALUE": _as_value,
    "TIMESTAMP_TRUNC": _timestamp_trunc,
    "SPLIT_INDEX": _split_index,
    "TO_CHAR": _to_char,
}
