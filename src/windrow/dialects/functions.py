"""CREATE FUNCTION as others write it: a body of SQL, or the name of a function of Python."""

from __future__ import annotations

from windrow.dialects.expressions import translate_expressions
from windrow.dialects.scanning import Piece, Pieces, closing, split_at_commas
from windrow.dialects.translation import Translating
from windrow.sql.words import print_name

__all__ = ["translate_function"]

_FOREIGN = "functions of {language} cannot be called: give one of Python with session.function()"
_CODE = "code in a script is not run: put it into a module and permit that with --functions-from"


def translate_function(script: Translating, pieces: Pieces, place: int) -> str | None:
    """In place, from the name of the function on; a note where it is left out instead."""
    name, place = pieces[place], place + 1
    begin = f"CREATE FUNCTION {print_name(name.bare)}"
    if place < len(pieces) and pieces[place].upper == "(":
        end = closing(pieces, place)
        begin += f" ({', '.join(_parameter(script, pieces[place + 1 : end]))})"
        place = end + 1
    words: dict[str, int] = {}
    for at in range(place, len(pieces)):
        words.setdefault(pieces[at].upper, at)  # in the body they may come again
    returns = _type_behind(script, pieces, words.get("RETURNS"))
    begin += f" RETURNS {returns}" if returns else ""
    body = words.get("RETURN", words.get("AS"))
    if body is None or body + 1 >= len(pieces):
        return "it has no body"
    language = _language(pieces, words)
    if language == "SQL":
        return _sql(script, pieces, body + 1, begin)
    if language != "PYTHON":
        return _FOREIGN.format(language=language.capitalize())
    target = pieces[body + 1]
    if target.kind != "text" or "\n" in target.bare:
        return _CODE
    text = f"{begin} AS '{target.bare}' LANGUAGE PYTHON"
    script.replace(pieces[0].start, pieces[-1].end, text)
    return None


def _parameter(script: Translating, pieces: Pieces) -> list[str]:
    found: list[str] = []
    for part in split_at_commas(pieces):
        if len(part) == 1:  # PostgreSQL's parameters may have no names: $1, $2, ...
            found.append(f"`${len(found) + 1}` {part[0].written}")
        else:
            found.append(f"{print_name(part[0].bare)} {_type(script, part[1:])}")
    return found


def _type(script: Translating, pieces: Pieces) -> str:
    """Without what may follow a type: NOT NULL, DEFAULT, COMMENT."""
    ends = ("NOT", "NULL", "DEFAULT", "COMMENT", "AS", "RETURN", "LANGUAGE", "DETERMINISTIC")
    kept: list[Piece] = []
    for piece in pieces:
        if piece.upper in ends:
            break
        kept.append(piece)
    return script.text[kept[0].start : kept[-1].end] if kept else ""


def _type_behind(script: Translating, pieces: Pieces, place: int | None) -> str:
    return "" if place is None else _type(script, pieces[place + 1 :])


def _language(pieces: Pieces, words: dict[str, int]) -> str:
    at = words.get("LANGUAGE")
    if at is not None and at + 1 < len(pieces):
        return pieces[at + 1].bare.upper()
    # Flink's default, where a class is named and nothing else is said.
    return "SQL" if "RETURNS" in words or "RETURN" in words else "JAVA"


def _sql(script: Translating, pieces: Pieces, place: int, begin: str) -> str | None:
    """AS expression, RETURN expression, AS 'SELECT expression' or AS $$SELECT expression$$."""
    first = pieces[place]
    if first.kind == "text" or first.upper == "$":
        return _quoted(script, pieces, place, begin)
    if first.upper == "BEGIN":
        return "a body is one expression"
    script.replace(pieces[0].start, first.start, f"{begin} AS ")
    translate_expressions(script, pieces[place:])
    return None


def _quoted(script: Translating, pieces: Pieces, place: int, begin: str) -> str | None:
    text = pieces[place].bare
    if pieces[place].upper == "$":
        start = script.text.index("$$", pieces[place].start) + 2
        text = script.text[start : script.text.index("$$", start)]
    word, _, body = text.strip().rstrip(";").partition(" ")
    if word.upper() != "SELECT" or " FROM " in f" {body.upper()} ":
        return "a body is one expression of the parameters"
    for number in range(1, 10):
        body = body.replace(f"${number}", f"`${number}`")
    script.replace(pieces[0].start, pieces[-1].end, f"{begin} AS {' '.join(body.split())}")
    return None
