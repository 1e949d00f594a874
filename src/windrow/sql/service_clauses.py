"""ERROR, EVERY, DURATION and ON ERROR: how exact a query is, when it answers, how it fails."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from windrow.errors import Place
from windrow.event_time import show_instant
from windrow.sql.cursor import Cursor
from windrow.sql.spans import parse_instant, parse_positive_span, parse_span, print_span
from windrow.sql.statements import OnError, Source
from windrow.sql.tokens import Token

__all__ = [
    "ServiceClauses",
    "at_service_clause",
    "parse_service_clauses",
    "print_service_clauses",
]

Moment = tuple[str, int]
_SECOND_US = 1_000_000


@dataclass
class ServiceClauses:
    """What the clauses say; None where one is not written."""

    error_percent: float | None = None
    every_us: int | None = None
    duration: tuple[Moment, Moment] | None = None
    on_error: OnError | None = None
    places: dict[str, Place] = field(default_factory=dict)


def parse_service_clauses(cursor: Cursor, sources: Sequence[Source]) -> ServiceClauses:
    """The service clauses that come next, in any order, each at most once."""
    clauses = ServiceClauses()
    while at_service_clause(cursor):
        word = cursor.consume()
        clause = "ON ERROR" if word.upper == "ON" else word.upper
        if clause in clauses.places:
            hint = "keep one of them"
            raise cursor.wrong("WS133", f"{clause} is written twice", hint, word)
        clauses.places[clause] = cursor.place(word)
        if clause == "ON ERROR":
            clauses.on_error = _on_error(cursor)
        elif word.upper == "ERROR":
            clauses.error_percent = _error_percent(cursor)
        elif word.upper == "EVERY":
            clauses.every_us = _every(cursor, word, sources)
        else:
            clauses.duration = _duration(cursor, word)
    return clauses


def at_service_clause(cursor: Cursor) -> bool:
    """Whether one of them comes next."""
    return cursor.at_any("ERROR", "EVERY", "DURATION") or cursor.at("ON", "ERROR")


def _on_error(cursor: Cursor) -> OnError:
    cursor.expect("ERROR")
    if cursor.accept("SET", "ASIDE"):
        return "set_aside"
    for policy in ("FAIL", "NULL"):
        if cursor.accept(policy):
            return "fail" if policy == "FAIL" else "null"
    hint = "write ON ERROR FAIL, ON ERROR NULL or ON ERROR SET ASIDE"
    possible = ["FAIL", "NULL", "SET ASIDE"]
    raise cursor.expected("FAIL, NULL or SET ASIDE", possible=possible, hint=hint)


def _error_percent(cursor: Cursor) -> float:
    if not cursor.accept("("):
        raise cursor.expected("'('", hint="write ERROR (2%)")
    negative = cursor.accept("-")
    number = cursor.token
    if number.kind != "number":
        raise cursor.expected("the tolerated error in percent", hint="write ERROR (2%)")
    cursor.consume()
    if not cursor.accept("%"):
        raise cursor.expected("'%'", hint=f"the error is in percent: write {_percent(number)}")
    cursor.expect(")")
    percent = -float(number.text) if negative else float(number.text)
    if negative or not 0 <= percent <= 100:
        hint = "write a percentage from 0 to 100"
        raise cursor.wrong("WS130", f"an error of {percent:g}% cannot be tolerated", hint, number)
    return percent


def _percent(number: Token) -> str:
    """What a number without its sign was probably meant to be; 0.05 may be a share."""
    share = f"ERROR ({float(number.text) * 100:g}%) or " if 0 < float(number.text) < 1 else ""
    return f"{share}ERROR ({number.text}%)"


def _every(cursor: Cursor, word: Token, sources: Sequence[Source]) -> int:
    bracket = cursor.accept("(")
    every_us = parse_positive_span(cursor, "the time between answers")
    if bracket:
        cursor.expect(")")
    slides = [each.window.slide_us for each in sources if each.window.traits.moves_in_steps]
    if slides and every_us < max(slides):
        raise cursor.wrong(
            "WS131",
            f"EVERY {print_span(every_us)} is finer than SLIDE {print_span(max(slides))}",
            "the window only changes at its slides: answer at them or less often",
            word,
        )
    return every_us


def _duration(cursor: Cursor, word: Token) -> tuple[Moment, Moment]:
    if not cursor.accept("["):
        hint = "write DURATION [70, 500] in seconds, or two times in quotes"
        raise cursor.expected("'['", hint=hint)
    begin = _moment(cursor)
    cursor.expect(",")
    end = _moment(cursor)
    cursor.expect("]")
    if begin[0] == end[0] and end[1] < begin[1]:
        hint = "write the first instant, then the last"
        raise cursor.wrong("WS132", "the query's lifetime ends before it begins", hint, word)
    return begin, end


def _moment(cursor: Cursor) -> Moment:
    if cursor.token.kind == "string" or cursor.at("TIMESTAMP"):
        return "instant", parse_instant(cursor)
    number = cursor.token
    span_us = parse_span(cursor, "the time after the stream's start")
    if span_us % _SECOND_US:
        hint = "DURATION counts whole seconds after the stream's start"
        raise cursor.wrong("WS134", "the time is not a whole number of seconds", hint, number)
    return "seconds", span_us // _SECOND_US


def print_service_clauses(
    error_percent: float | None,
    every_us: int | None,
    duration: tuple[Moment, Moment] | None,
    on_error: OnError | None = None,
) -> list[str]:
    """The clauses as WQL, those that are there."""
    printed = []
    if error_percent is not None:
        printed.append(f"ERROR ({repr(error_percent).removesuffix('.0')}%)")
    if every_us is not None:
        printed.append(f"EVERY ({print_span(every_us)})")
    if duration is not None:
        printed.append(f"DURATION [{_print_moment(duration[0])}, {_print_moment(duration[1])}]")
    if on_error is not None:
        printed.append(f"ON ERROR {on_error.replace('_', ' ').upper()}")
    return printed


def _print_moment(moment: Moment) -> str:
    kind, value = moment
    return str(value) if kind == "seconds" else f"'{show_instant(value)}'"
