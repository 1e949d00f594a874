"""A CSV file cut into records, each with its line: a value in quotes may go over several lines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

__all__ = ["LONGEST_RECORD_BYTES", "Record", "csv_records", "inside_after"]

# A quote that nobody closes would make one record of all that follows.
LONGEST_RECORD_BYTES = 4 << 20


@dataclass(frozen=True)
class Record:
    """The bytes of one row of a text file, and the line on which they begin, from 1."""

    line: int
    data: bytes


def csv_records(opened: BinaryIO, delimiter: str, skipped_lines: int = 0) -> Iterator[Record]:
    r"""The records of a CSV file behind its first lines; lines without anything are none.

    >>> import io
    >>> text = io.BytesIO(b'a,1\n\n"b\nb",2\n')
    >>> [(each.line, each.data) for each in csv_records(text, ",")]
    [(1, b'a,1\n'), (3, b'"b\nb",2\n')]
    """
    begun: list[Record] = []  # the lines of a record that is not at its end
    is_inside, size = False, 0
    for line in _lines(opened):
        if line.line <= skipped_lines or (not begun and not line.data.strip(b"\r\n")):
            continue
        begun.append(line)
        size += len(line.data)
        is_inside = inside_after(line.data, delimiter.encode(), is_inside)
        if is_inside and size > LONGEST_RECORD_BYTES:
            # Its first line stands alone, and cannot be read: the others are looked at again.
            yield from begun
            begun, is_inside, size = [], False, 0
        elif not is_inside:
            yield _joined(begun)
            begun, size = [], 0
    yield from begun


def _lines(opened: BinaryIO) -> Iterator[Record]:
    number = 1
    for piece in opened:
        # Old files end lines by a carriage return alone.
        for data in piece.splitlines(keepends=True):
            yield Record(number, data)
            number += 1


def _joined(lines: list[Record]) -> Record:
    return lines[0] if len(lines) == 1 else Record(lines[0].line, b"".join(x.data for x in lines))


def inside_after(line: bytes, delimiter: bytes, is_inside: bool) -> bool:
    """Whether a quoted value continues after the line; a quote within a value is literal."""
    if b'"' not in line:
        return is_inside
    place = 0
    while place < len(line):
        if is_inside:
            close = line.find(b'"', place)
            if close < 0:
                return True
            if line[close + 1 : close + 2] == b'"':
                place = close + 2
                continue
            is_inside, place = False, close + 1
        elif line[place : place + 1] == b'"':
            is_inside, place = True, place + 1
            continue
        comma = line.find(delimiter, place)
        if comma < 0:
            return False
        place = comma + 1
    return is_inside
