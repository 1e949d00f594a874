"""The brackets behind a stream: `[10 MINUTES]`, `[ROWS 1000]`; of history: `[FROM ... TO ...]`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from windrow.event_time import show_instant
from windrow.sql.cursor import Cursor
from windrow.sql.spans import (
    at_span,
    parse_instant,
    parse_positive_span,
    parse_span,
    parse_whole_number,
    print_span,
)
from windrow.sql.statements import HistoryRange, Window
from windrow.sql.tokens import Token
from windrow.sql.words import print_name

__all__ = [
    "MAX_ROWS",
    "WORDS",
    "cumulating",
    "hopping",
    "parse_history_range",
    "parse_window",
    "print_history_range",
    "print_window",
    "session_of",
    "tumbling",
]

MAX_ROWS = 2**40


def parse_window(cursor: Cursor) -> Window:
    """The window in brackets that comes next; without a bracket an unbounded one, not written."""
    if not cursor.at("["):
        return Window("unbounded", written=False)
    place = cursor.place(cursor.consume())
    window = _inside(cursor)
    if not cursor.accept("]"):
        raise cursor.expected("']'", possible=["SLIDE"], hint=_after_a_window(cursor))
    return replace(window, place=place)


def _after_a_window(cursor: Cursor) -> str:
    if cursor.at_any("PRECEDING", "FOLLOWING"):
        return f"omit {cursor.token.upper}: a window ends now"
    if cursor.token.kind == "number":
        return "write the length in one unit: [90 SECONDS]"
    return "close the window with ]"


def _inside(cursor: Cursor) -> Window:
    for word, read in WORDS.items():
        if cursor.accept(word):
            return read(cursor)
    if at_span(cursor):
        return _range(cursor)
    raise cursor.expected(
        "a window",
        possible=tuple(WORDS),
        hint="write [10 MINUTES], [RANGE 60 SECONDS SLIDE 5 SECONDS], [TUMBLE 10 SECONDS], "
        "[ROWS 1000], [PARTITION BY k ROWS 10] or [UNBOUNDED]",
    )


def _after_range(cursor: Cursor) -> Window:
    return _from_now(cursor) if cursor.at("NOW") else _range(cursor)


def _range(cursor: Cursor) -> Window:
    length_us = parse_positive_span(cursor, "the length of the window")
    if not cursor.at("SLIDE"):
        if not cursor.at("]"):
            raise cursor.expected("']' or SLIDE", possible=["SLIDE"], hint=_after_a_window(cursor))
        return Window("time", length_us=length_us)
    word = cursor.consume()
    slide_us = parse_positive_span(cursor, "the slide of the window")
    if length_us % slide_us:
        raise cursor.wrong(
            "WS127",
            f"SLIDE {print_span(slide_us)} does not divide RANGE {print_span(length_us)}",
            "a window moves in whole steps: choose a slide that divides the range evenly",
            word,
        )
    return Window("slide", length_us=length_us, slide_us=slide_us)


def _from_now(cursor: Cursor) -> Window:
    """`Now-3600, Now`: the form of the papers, the number in seconds."""
    cursor.expect("NOW")
    cursor.expect("-")
    length_us = parse_positive_span(cursor, "the length of the window")
    cursor.expect(",")
    cursor.expect("NOW")
    return Window("time", length_us=length_us)


def _last_rows(cursor: Cursor) -> Window:
    return Window("rows", rows=_rows(cursor))


def _unbounded(_cursor: Cursor) -> Window:
    return Window("unbounded")


def _now(_cursor: Cursor) -> Window:
    return Window("now")


def _tumble(cursor: Cursor) -> Window:
    if cursor.ahead().upper in ("ROWS", "ROW"):
        return Window("tumble_rows", rows=_complete_rows(cursor))
    length_us = parse_positive_span(cursor, "the length of the window")
    return tumbling(length_us, _offset(cursor))


def _hop(cursor: Cursor) -> Window:
    first = cursor.token
    length_us = parse_positive_span(cursor, "the length of the window")
    slide_us = _by(cursor, "HOP 10 SECONDS BY 2 SECONDS")
    return hopping(cursor, first, length_us, slide_us, _offset(cursor))


def _cumulate(cursor: Cursor) -> Window:
    first = cursor.token
    length_us = parse_positive_span(cursor, "the length of the period")
    slide_us = _by(cursor, "CUMULATE 1 DAY BY 1 HOUR")
    return cumulating(cursor, first, length_us, slide_us, _offset(cursor))


def _complete_rows(cursor: Cursor) -> int:
    rows = _rows(cursor)
    if not (cursor.accept("ROWS") or cursor.accept("ROW")):
        raise cursor.expected("ROWS", possible=["ROWS"], hint="write [TUMBLE 100 ROWS]")
    return rows


def _session(cursor: Cursor) -> Window:
    gap_us = parse_positive_span(cursor, "the gap between sessions")
    columns = _partition(cursor) if cursor.accept("PARTITION") else ()
    return session_of(gap_us, columns)


def _by(cursor: Cursor, example: str) -> int:
    if not (cursor.accept("BY") or cursor.accept("SLIDE") or cursor.accept("ADVANCE", "BY")):
        raise cursor.expected("BY", possible=["BY", "SLIDE"], hint=f"write [{example}]")
    return parse_positive_span(cursor, "the time between two windows")


def _offset(cursor: Cursor) -> int:
    return parse_span(cursor, "the offset of the windows") if cursor.accept("OFFSET") else 0


def tumbling(length_us: int, offset_us: int = 0) -> Window:
    """Windows of that length, each where the one before it ends."""
    return Window(
        "tumble", length_us=length_us, slide_us=length_us, offset_us=offset_us % length_us
    )


def session_of(gap_us: int, partition_by: tuple[str, ...] = ()) -> Window:
    """Sessions that end after that much silence, of each partition."""
    return Window("session", length_us=gap_us, partition_by=partition_by)


def hopping(
    cursor: Cursor, place: Token, length_us: int, slide_us: int, offset_us: int = 0
) -> Window:
    """Windows of that length, one starting at each slide."""
    if slide_us > length_us:
        raise cursor.wrong(
            "WS700",
            f"windows of {print_span(length_us)} that start every {print_span(slide_us)} leave "
            "rows out",
            f"write a length of at least {print_span(slide_us)}, or filter rows by WHERE",
            place,
        )
    return Window("hop", length_us=length_us, slide_us=slide_us, offset_us=offset_us % slide_us)


def cumulating(
    cursor: Cursor, place: Token, length_us: int, slide_us: int, offset_us: int = 0
) -> Window:
    """Windows that start with each period of that length, one ending at each step of it."""
    if length_us % slide_us:
        raise cursor.wrong(
            "WS701",
            f"steps of {print_span(slide_us)} do not divide {print_span(length_us)}",
            "the last step ends with its period: choose a step that divides the period evenly",
            place,
        )
    return Window(
        "cumulate", length_us=length_us, slide_us=slide_us, offset_us=offset_us % length_us
    )


def _rows(cursor: Cursor) -> int:
    return parse_whole_number(cursor, "the number of rows", MAX_ROWS)


def _partition(cursor: Cursor) -> tuple[str, ...]:
    cursor.expect("BY")
    columns = [cursor.name("a column").text]
    while cursor.accept(","):
        columns.append(cursor.name("a column").text)
    return tuple(columns)


def _of_partitions(cursor: Cursor) -> Window:
    columns = _partition(cursor)
    if cursor.accept("TUMBLE"):
        return Window("partition_tumble_rows", rows=_complete_rows(cursor), partition_by=columns)
    if cursor.accept("RANGE"):
        length_us = parse_positive_span(cursor, "the length of the window")
        return Window("partition_range", length_us=length_us, partition_by=columns)
    if cursor.accept("SESSION"):
        gap_us = parse_positive_span(cursor, "the gap between sessions")
        return session_of(gap_us, columns)
    if not cursor.accept("ROWS"):
        hint = "write ROWS, RANGE, TUMBLE n ROWS or SESSION; use GROUP BY for a time window"
        raise cursor.expected("ROWS", possible=["ROWS", "RANGE", "TUMBLE", "SESSION"], hint=hint)
    rows = _rows(cursor)
    if not cursor.accept("RANGE"):
        return Window("partition_rows", rows=rows, partition_by=columns)
    length_us = parse_positive_span(cursor, "the length of the window")
    return Window("partition_rows_range", length_us=length_us, rows=rows, partition_by=columns)


# What follows the bracket, and how it is read on; a span alone is a range.
WORDS: dict[str, Callable[[Cursor], Window]] = {
    "RANGE": _after_range,
    "ROWS": _last_rows,
    "PARTITION": _of_partitions,
    "UNBOUNDED": _unbounded,
    "NOW": _now,
    "TUMBLE": _tumble,
    "HOP": _hop,
    "CUMULATE": _cumulate,
    "SESSION": _session,
}


def parse_history_range(cursor: Cursor) -> HistoryRange:
    """`[FROM '...' TO '...' AT 1 MINUTE]`; AT may be left out, TO may be NOW."""
    hint = "write HISTORY(s) [FROM '2026-01-01 09:30' TO '2026-01-01 16:00' AT 1 MINUTE]"
    if not cursor.at("["):
        raise cursor.wrong("WS135", "HISTORY needs an interval", hint)
    place = cursor.place(cursor.consume())
    cursor.expect("FROM", hint=hint)
    since_us = parse_instant(cursor)
    to = cursor.expect("TO", hint=hint)
    until_us = None if cursor.accept("NOW") else parse_instant(cursor)
    at_us = parse_positive_span(cursor, "the grain") if cursor.accept("AT") else None
    cursor.expect("]")
    if until_us is not None and until_us <= since_us:
        hint = "FROM is included, TO is not: TO must be later than FROM"
        raise cursor.wrong("WS136", "the interval ends before it begins", hint, to)
    return HistoryRange(since_us, until_us, at_us, place=place)


def print_window(window: Window) -> str:
    """The bracket as WQL, with a space before it; nothing for a window that was not written."""
    if not window.written:
        return ""
    return f" [{_print_inside(window)}]"


def _print_inside(window: Window) -> str:
    columns = ", ".join(print_name(name) for name in window.partition_by)
    return window.traits.printed.format(
        length=print_span(window.length_us),
        slide=print_span(window.slide_us),
        rows=window.rows,
        columns=columns,
        partition=f" PARTITION BY {columns}" if columns else "",
        offset=f" OFFSET {print_span(window.offset_us)}" if window.offset_us else "",
    )


def print_history_range(history: HistoryRange) -> str:
    """The bracket of HISTORY as WQL."""
    until = "NOW" if history.until_us is None else f"'{show_instant(history.until_us)}'"
    at = "" if history.at_us is None else f" AT {print_span(history.at_us)}"
    return f"[FROM '{show_instant(history.since_us)}' TO {until}{at}]"
