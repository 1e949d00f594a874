"""What is written otherwise inside of queries: functions, signs, windows of Esper."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from windrow.dialects.esper import translate_windows
from windrow.dialects.ksqldb import translate_ksqldb
from windrow.dialects.postgres import translate_postgres
from windrow.dialects.scanning import Piece, Pieces, closing, split_at_commas
from windrow.dialects.translation import Translating

__all__ = ["translate_expressions"]

_POSTGRES = ("risingwave", "materialize", "feldera")
# Functions of one dialect under the names that they have here.
_NAMES: Mapping[str, Mapping[str, str]] = {
    "ksqldb": {
        "FORMAT_TIMESTAMP": "date_format",
        "FORMAT_DATE": "date_format",
        "TIMESTAMPTOSTRING": "date_format",
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
        if piece.kind == "text" and script.dialect != "spark":
            _text(script, piece)
        elif piece.upper in signs:
            script.swap(piece, signs[piece.upper])
        elif piece.kind == "name" and piece.written[0] == '"' and script.dialect != "spark":
            script.swap(piece, f"`{piece.bare}`")
        elif piece.kind == "word":
            _word(script, pieces, place, names)
    if script.dialect == "ksqldb":
        translate_ksqldb(script, pieces)
    if script.dialect in _POSTGRES:
        translate_postgres(script, pieces)


def _word(script: Translating, pieces: Pieces, place: int, names: Mapping[str, str]) -> None:
    piece = pieces[place]
    if piece.upper == "INTERVAL":
        _plain_interval(script, pieces, place)
        return
    if piece.upper == "SIMILAR" and place + 2 < len(pieces):
        _similar(script, pieces, place)
        return
    is_call = place + 1 < len(pieces) and pieces[place + 1].upper == "("
    rewrite = _CALLS.get(piece.upper) if is_call else None
    if rewrite is not None and rewrite(script, pieces, place, closing(pieces, place + 1)):
        return
    is_field = place > 0 and pieces[place - 1].upper in (".", "->")
    if piece.upper in names and (is_call or piece.upper.startswith("WINDOW")) and not is_field:
        script.swap(piece, names[piece.upper])


def _text(script: Translating, piece: Piece) -> None:
    """Here a backslash in a text begins an escape, and a quote needs one."""
    if "\\" in piece.written or "''" in piece.written[1:-1]:
        inside = piece.bare.replace("\\", "\\\\").replace("'", "\\'")
        script.swap(piece, f"'{inside}'")


def _drop_schemas(script: Translating, pieces: Pieces) -> None:
    for place in range(len(pieces) - 2):
        if pieces[place + 1].upper == "." and pieces[place].bare.lower() in script.schemas:
            script.replace(pieces[place].start, pieces[place + 2].start, "")


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


def _plain_interval(script: Translating, pieces: Pieces, place: int) -> None:
    """INTERVAL '365' DAY(3): the digits in brackets say nothing."""
    behind = pieces[place + 1 : place + 6]
    kinds = [piece.kind for piece in behind]
    if kinds == ["text", "word", "sign", "number", "sign"] and behind[2].upper == "(":
        script.replace(behind[2].start, behind[4].end, "")


def _similar(script: Translating, pieces: Pieces, place: int) -> None:
    """`x SIMILAR TO 'a%'` is `x RLIKE '^(?:a.*)$'`."""
    pattern = pieces[place + 2]
    inside = pattern.bare.replace("%", ".*").replace("_", ".").replace("'", "\\'")
    script.replace(pieces[place].start, pattern.end, f"RLIKE '^(?:{inside})$'")


def _regexp_extract(script: Translating, pieces: Pieces, place: int, end: int) -> bool:
    """Flink gives NULL without a match, and without a group all that matches, not the first one."""
    if script.dialect != "flink":
        return False
    start, stop = pieces[place].start, pieces[end].end
    group = ", 0" if len(_arguments(pieces, place, end)) == 2 else ""
    script.edits.append((start, start, "nullif("))
    script.edits.append((stop - 1, stop, f"{group}), '')"))
    return True


def _convert_tz(script: Translating, pieces: Pieces, place: int, end: int) -> bool:
    """CONVERT_TZ(text, from, to): what clocks of another zone show."""
    parts = _arguments(pieces, place, end)
    if len(parts) != 3:
        return False
    text, one, other = (script.text[start:stop] for start, stop in parts)
    instant = f"to_utc_timestamp(to_timestamp({text}), {one})"
    by = f"date_format(from_utc_timestamp({instant}, {other}), 'yyyy-MM-dd HH:mm:ss')"
    script.replace(pieces[place].start, pieces[end].end, by)
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
    "CONVERT_TZ": _convert_tz,
    "REGEXP_EXTRACT": _regexp_extract,
}
