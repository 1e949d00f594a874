"""Lines of PostgreSQL's output plugin test_decoding: which table, what happened, which values."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

__all__ = ["inserted", "with_minutes"]

_HEAD = re.compile(r'table ("(?:[^"]|"")+"|[^."]+)\.("(?:[^"]|"")+"|[^:"]+): ([A-Z]+): ?')
_NAME = re.compile(r'"(?:[^"]|"")+"|[^\["]+')
_QUOTED = re.compile(r"B?'((?:[^']|'')*)'")
_PLAIN = re.compile(r"[^ ]+")
# PostgreSQL writes whole hours of an offset without minutes.
_SHORT_OFFSET = re.compile(r"^(\d{4,}-\d\d-\d\d .*[+-]\d\d)$")


def inserted(line: str, table: tuple[str, str]) -> dict[str, Any] | None:
    """The values of a row that was inserted into the table; None of any other line.

    >>> line = "table public.t: INSERT: id[bigint]:7 k[text]:'it''s' x[double precision]:null"
    >>> inserted(line, ("public", "t"))
    {'id': 7, 'k': "it's", 'x': None}
    >>> inserted("BEGIN", ("public", "t"))
    """
    head = _HEAD.match(line)
    if head is None or (_named(head[1]), _named(head[2]), head[3]) != (*table, "INSERT"):
        return None
    found, at = {}, head.end()
    while at < len(line):
        name = _NAME.match(line, at)
        if name is None:
            break  # no columns: (no-tuple-data)
        kind, at = _type_at(line, name.end())
        quoted = _QUOTED.match(line, at)
        text = quoted or _PLAIN.match(line, at)
        assert text is not None
        plain = quoted[1].replace("''", "'") if quoted else _plain(text[0], kind)
        found[_named(name[0])] = plain
        at = text.end() + 1
    return found


def with_minutes(time: Any) -> Any:
    """A time as text with minutes in its offset, where there are none; anything else as it is.

    >>> with_minutes("2026-01-01 12:00:00+02")
    '2026-01-01 12:00:00+02:00'
    """
    return _SHORT_OFFSET.sub(r"\1:00", time) if isinstance(time, str) else time


def _type_at(line: str, at: int) -> tuple[str, int]:
    """The type in brackets, which may have brackets itself, and where its value begins."""
    depth, begin = 0, at + 1
    while True:
        depth += {"[": 1, "]": -1}.get(line[at], 0)
        at += 1
        if depth == 0:
            return line[begin : at - 1], at + 1


def _named(text: str) -> str:
    return text[1:-1].replace('""', '"') if text.startswith('"') else text


def _plain(text: str, kind: str) -> Any:
    if text == "null":
        return None
    if kind == "boolean":
        return text == "true"
    if kind in ("smallint", "integer", "bigint", "oid"):
        return int(text)
    return Decimal(text) if kind.startswith("numeric") else float(text)
