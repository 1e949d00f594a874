"""Bytes that come in pieces, cut into whole records: lines, or each with its length before it."""

from __future__ import annotations

import struct
from typing import Literal

from windrow.connectors.whole_lines import whole_end

__all__ = ["FRAMINGS", "LONGEST_SENT_BYTES", "Framing", "RecordCutter"]

Framing = Literal["lines", "length"]
FRAMINGS: tuple[Framing, ...] = ("lines", "length")

# A record that is longer is no row; so much of each sender is held at most.
LONGEST_SENT_BYTES = 1 << 20
_LENGTH = struct.Struct(">I")


class RecordCutter:
    r"""What one sender has sent, as far as it is no whole record yet.

    framing: 'lines', or 'length': four bytes before each record say how long it is, the highest
    first. too_long: how many records were longer than is held; nothing else is known of them.

    >>> cutter = RecordCutter("lines", "jsonl")
    >>> cutter.add(b'{"x": 1}\n{"x"'), cutter.add(b": 2}\n")
    (b'{"x": 1}\n', b'{"x": 2}\n')
    >>> framed = RecordCutter("length", "jsonl")
    >>> framed.add(b"\x00\x00\x00\x02{}\x00\x00")
    b'{}\n'
    """

    def __init__(self, framing: Framing, form: str, delimiter: str = ",") -> None:
        self._framing, self._is_csv, self._delimiter = framing, form == "csv", delimiter
        self._begun = b""
        self._left_out = 0  # bytes of a record that is too long, and is still coming
        self._skips_line = False
        self.too_long = 0

    def add(self, data: bytes) -> bytes:
        """The records that are whole now, each with the end of a line."""
        if self._framing == "length":
            return b"".join(self._framed(data))
        if self._skips_line:
            end = data.find(b"\n") + 1
            if not end:
                return b""
            self._skips_line, data = False, data[end:]
        self._begun += data
        end = whole_end(self._begun, is_csv=self._is_csv, delimiter=self._delimiter)
        whole, self._begun = self._begun[:end], self._begun[end:]
        if len(self._begun) > LONGEST_SENT_BYTES:
            self._begun, self._skips_line = b"", True
            self.too_long += 1
        return whole

    def rest(self) -> bytes:
        """What the sender has left unfinished when it went."""
        rest, self._begun = self._begun, b""
        return rest if self._framing == "lines" else b""

    def _framed(self, data: bytes) -> list[bytes]:
        left_out = min(self._left_out, len(data))
        self._left_out -= left_out
        begun, found, place = self._begun + data[left_out:], [], 0
        while len(begun) - place >= _LENGTH.size:
            (size,) = _LENGTH.unpack_from(begun, place)
            begin = place + _LENGTH.size
            if size > LONGEST_SENT_BYTES:
                self.too_long += 1
                end = min(begin + size, len(begun))
                self._left_out = begin + size - end
                place = end
                continue
            if begin + size > len(begun):
                break
            record = begun[begin : begin + size]
            # A text of JSON may go over several lines, and has none within its strings.
            found.append((record if self._is_csv else record.replace(b"\n", b" ")) + b"\n")
            place = begin + size
        self._begun = begun[place:]
        return found
