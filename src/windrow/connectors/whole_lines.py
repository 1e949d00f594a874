"""Where whole records of a text end that is not complete yet, and lines that are far too long."""

from __future__ import annotations

from windrow.connectors.files.csv_records import LONGEST_RECORD_BYTES, inside_after

__all__ = ["LONGEST_LIVE_LINE_BYTES", "whole_end"]

# A line that is longer is no row; it is never held as a whole.
LONGEST_LIVE_LINE_BYTES = 16 << 20


def whole_end(data: bytes, *, is_csv: bool = False, delimiter: str = ",") -> int:
    r"""How many of the bytes are whole records; what follows is the beginning of another one.

    >>> whole_end(b'{"x": 1}\n{"x":')
    9
    >>> whole_end(b'1,"a\nb",2\n3,"c\n', is_csv=True)
    10
    """
    end = data.rfind(b"\n") + 1
    if not is_csv or b'"' not in data or not end:
        return end
    return _whole_csv(data[:end], delimiter.encode())


def _whole_csv(data: bytes, delimiter: bytes) -> int:
    place = whole = 0
    is_inside = False
    first_end = 0  # of the first line of a record that is not at its end
    for line in data.splitlines(keepends=True):
        begins = not is_inside
        is_inside = inside_after(line, delimiter, is_inside)
        place += len(line)
        if begins:
            first_end = place
        if not is_inside:
            whole = place
        elif place - whole > LONGEST_RECORD_BYTES:
            # Nobody closes its quote: its first line stands alone, and cannot be read.
            return first_end
    return whole
