"""Windows as tables in FROM: TABLE(TUMBLE(TABLE s, DESCRIPTOR(ts), INTERVAL '10' SECOND)).

So Flink writes them; RisingWave has TUMBLE(s, ts, INTERVAL '10 seconds').
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from windrow.sql.cursor import Cursor
from windrow.sql.statements import Source, Window
from windrow.sql.tokens import Token
from windrow.sql.window_clause import cumulating, hopping, session_of, tumbling
from windrow.sql.window_sizes import parse_size

__all__ = ["at_window_table", "parse_window_table"]

# Of each table, what stands behind the stream and its time, in order.
_SIZES = {
    "TUMBLE": ("SIZE", "OFFSET"),
    "HOP": ("SLIDE", "SIZE", "OFFSET"),
    "CUMULATE": ("STEP", "SIZE", "OFFSET"),
    "SESSION": ("GAP",),
}


@dataclass
class _Arguments:
    stream: Token | None = None
    partition: tuple[str, ...] = ()
    time: str = ""
    sizes: dict[str, int] = field(default_factory=dict)


def at_window_table(cursor: Cursor) -> bool:
    """Whether such a table comes next."""
    ahead = 2 if cursor.at("TABLE", "(") else 0
    return cursor.ahead(ahead).upper in _SIZES and cursor.ahead(ahead + 1).upper == "("


def parse_window_table(cursor: Cursor) -> Source:
    """The stream through its window, without an alias."""
    is_wrapped = cursor.accept("TABLE", "(")
    word = cursor.consume()
    cursor.expect("(")
    found = _Arguments()
    _argument(cursor, word.upper, found)
    while cursor.accept(","):
        _argument(cursor, word.upper, found)
    cursor.expect(")")
    if is_wrapped:
        cursor.expect(")")
    needed = [name for name in _SIZES[word.upper] if name != "OFFSET"]
    missing = [name for name in needed if name not in found.sizes]
    if found.stream is None or missing:
        what = "the stream" if found.stream is None else missing[0]
        raise cursor.wrong("WS702", f"{word.upper} lacks {what}", _example(word.upper), word)
    window = replace(_window(cursor, word, found), time=found.time, place=cursor.place(word))
    stream = found.stream
    return Source(stream.text, stream.text, window, place=cursor.place(stream))


def _argument(cursor: Cursor, word: str, found: _Arguments) -> None:
    name = _name(cursor)
    is_first, has_time = found.stream is None, bool(found.time)
    if name == "DATA" or cursor.at("TABLE") or (not name and is_first):
        cursor.accept("TABLE")
        found.stream = cursor.name("a stream")
        found.partition = _partition(cursor)
    elif name == "TIMECOL" or cursor.at("DESCRIPTOR") or (not name and not has_time):
        found.time = _time(cursor)
    else:
        known = _SIZES[word]
        name = name or next((each for each in known if each not in found.sizes), "")
        if name not in known or name in found.sizes:
            message = f"{word} has no more lengths of time" if not name else f"{name} is not known"
            raise cursor.wrong("WS702", f"{message} here", _example(word))
        found.sizes[name] = parse_size(cursor, f"{name} of {word}")


def _name(cursor: Cursor) -> str:
    """The name before =>, in capitals; '' without one."""
    ahead = cursor.ahead().upper
    if ahead == "=>":
        name = cursor.consume().upper
        cursor.consume()
        return name
    if ahead == "=" and cursor.ahead(2).upper == ">":
        name = cursor.consume().upper
        cursor.expect("=", ">")
        return name
    return ""


def _time(cursor: Cursor) -> str:
    if not cursor.accept("DESCRIPTOR"):
        return cursor.name("the time of the stream").text
    cursor.expect("(")
    name = cursor.name("the time of the stream").text
    cursor.expect(")")
    return name


def _partition(cursor: Cursor) -> tuple[str, ...]:
    if not cursor.accept("PARTITION", "BY"):
        return ()
    if cursor.accept("("):
        names = [cursor.name("a column").text]
        while cursor.accept(","):
            names.append(cursor.name("a column").text)
        cursor.expect(")")
        return tuple(names)
    names = [cursor.name("a column").text]
    # A name before => or a DESCRIPTOR is the next argument.
    while cursor.at(",") and _goes_on(cursor):
        cursor.consume()
        names.append(cursor.name("a column").text)
    return tuple(names)


def _goes_on(cursor: Cursor) -> bool:
    return cursor.ahead().upper != "DESCRIPTOR" and cursor.ahead(2).upper not in ("=>", "=")


def _window(cursor: Cursor, word: Token, found: _Arguments) -> Window:
    sizes, offset_us = found.sizes, found.sizes.get("OFFSET", 0)
    if word.upper == "SESSION":
        return session_of(sizes["GAP"], found.partition)
    if found.partition:
        hint = f"group by the columns instead; PARTITION BY is for SESSION: {_example('SESSION')}"
        raise cursor.wrong("WS702", f"{word.upper} has no PARTITION BY", hint, word)
    if word.upper == "TUMBLE":
        return tumbling(sizes["SIZE"], offset_us)
    if word.upper == "HOP":
        return hopping(cursor, word, sizes["SIZE"], sizes["SLIDE"], offset_us)
    return cumulating(cursor, word, sizes["SIZE"], sizes["STEP"], offset_us)


def _example(word: str) -> str:
    sizes = ["INTERVAL '10' SECOND"] * (1 if word in ("TUMBLE", "SESSION") else 2)
    stream = "TABLE s PARTITION BY k" if word == "SESSION" else "TABLE s"
    return f"write TABLE({word}({', '.join([stream, 'DESCRIPTOR(ts)', *sizes])}))"
