"""Esper's data windows, `Event.win:time(30 sec)` or `Event#time(30 sec)`, as brackets."""

from __future__ import annotations

from windrow.dialects.scanning import Pieces, closing
from windrow.dialects.translation import Translating

__all__ = ["translate_windows"]

_UNITS = {
    "SEC": "SECONDS", "SECOND": "SECONDS", "SECONDS": "SECONDS", "MIN": "MINUTES",
    "MINUTE": "MINUTES", "MINUTES": "MINUTES", "HOUR": "HOURS", "HOURS": "HOURS", "DAY": "DAYS",
    "DAYS": "DAYS", "MSEC": "MILLISECONDS", "MILLISECOND": "MILLISECONDS",
    "MILLISECONDS": "MILLISECONDS",
}  # fmt: skip
_GROUPS = ("GROUPWIN", "GROUPBY")


def translate_windows(script: Translating, pieces: Pieces) -> None:
    """Every window of a statement, and how often it answers."""
    place = 0
    while place < len(pieces):
        chain = _chain(pieces, place)
        if chain:
            _replace(script, pieces, place, chain)
            place = chain[-1][2] + 1
        elif pieces[place].upper == "OUTPUT":
            _output(script, pieces, place)
            place = len(pieces)
        else:
            place += 1


def _chain(pieces: Pieces, place: int) -> list[tuple[str, int, int]]:
    """The views behind a name: each its word, where its bracket opens and where it closes."""
    found = []
    while place + 2 < len(pieces):
        if pieces[place].upper == "#":
            word = place + 1
        elif pieces[place].upper == "." and pieces[place + 2].upper == ":":
            word = place + 3
        else:
            break
        if word + 1 >= len(pieces) or pieces[word + 1].upper != "(":
            break
        end = closing(pieces, word + 1)
        found.append((pieces[word].upper, word + 1, end))
        place = end + 1
    return found


def _replace(
    script: Translating, pieces: Pieces, place: int, chain: list[tuple[str, int, int]]
) -> None:
    partition = ""
    window = ""
    for word, opening, end in chain:
        inside = script.text[pieces[opening].end : pieces[end].start].strip()
        if word in _GROUPS:
            partition = f"PARTITION BY {inside} "
        elif word in ("UNIQUE", "STD_UNIQUE"):
            window = f"[PARTITION BY {inside} ROWS 1]"
        else:
            window = _bracket(word, pieces, opening, end, partition, inside)
    if not window:
        script.note(pieces[place], f"there is no window like {chain[-1][0].lower()}")
        return
    script.replace(pieces[place].start, pieces[chain[-1][2]].end, f" {window}")


def _bracket(word: str, pieces: Pieces, opening: int, end: int, partition: str, inside: str) -> str:
    if word == "TIME":
        return f"[{_span(pieces, opening, end)}]"
    if word == "TIME_BATCH":
        return f"[TUMBLE {_span(pieces, opening, end)}]"
    if word == "LENGTH":
        return f"[{partition}ROWS {inside}]"
    if word == "LENGTH_BATCH":
        return f"[{partition}TUMBLE {inside} ROWS]"
    if word == "LASTEVENT":
        return "[ROWS 1]"
    return "[UNBOUNDED]" if word == "KEEPALL" else ""


def _span(pieces: Pieces, opening: int, end: int) -> str:
    words = [_UNITS.get(piece.upper, piece.written) for piece in pieces[opening + 1 : end]]
    return " ".join(words) if len(words) > 1 else f"{words[0]} SECONDS"


def _output(script: Translating, pieces: Pieces, place: int) -> None:
    """`output snapshot every 60 seconds` is EVERY (60 SECONDS)."""
    every = next((at for at in range(place, len(pieces)) if pieces[at].upper == "EVERY"), None)
    if every is None or any(each.upper == "EVENTS" for each in pieces[every:]):
        script.note(pieces[place], "OUTPUT of events has no like: write EVERY (60 SECONDS)")
        return
    span = " ".join(_UNITS.get(each.upper, each.written) for each in pieces[every + 1 :])
    script.replace(pieces[place].start, pieces[-1].end, f"EVERY ({span})")
