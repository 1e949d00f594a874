"""Bad rows added to a file of JSON lines, which is bounded in bytes."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

from windrow.connectors.dead_letters.letters import DeadLetters, letter_of
from windrow.errors import DataError
from windrow.private_files import create_private, make_private
from windrow.rows.bad_rows import BadRow

__all__ = ["MOST_LETTERS_BYTES", "LetterFile"]

# A file that has grown beyond so much becomes the older of two, and the older before it goes: all
# are counted in the ledger, and about the newest gigabyte is kept.
MOST_LETTERS_BYTES = 512 << 20
OLDER = ".1"


class LetterFile(DeadLetters):
    """A file to which bad rows of one stream are added; what is there stays."""

    def __init__(self, stream: str, path: str) -> None:
        self._stream, self._path = stream, Path(path)
        try:
            make_private(self._path.parent)
            with self._opened() as opened:
                _end_line(opened)
        except OSError as problem:
            raise self._failed(problem) from None

    def add(self, rows: Sequence[BadRow]) -> None:
        """Adds a line for each."""
        if not rows:
            return
        lines = b"".join(letter_of(self._stream, row) + b"\n" for row in rows)
        try:
            with self._opened() as opened:
                if opened.tell() and opened.tell() + len(lines) > MOST_LETTERS_BYTES:
                    os.replace(self._path, f"{self._path}{OLDER}")
                    with self._opened() as fresh:
                        fresh.write(lines)
                else:
                    opened.write(lines)
        except OSError as problem:
            raise self._failed(problem) from None

    def _opened(self) -> BinaryIO:
        if not self._path.exists():
            create_private(self._path).close()
        return self._path.open("ab")

    def _failed(self, problem: Exception) -> DataError:
        return DataError(
            "WD514",
            f"bad rows of stream {self._stream!r} cannot be written to {self._path}: {problem}",
            hint="name a writable file, on a disk with free space",
        )


def _end_line(opened: BinaryIO) -> None:
    """Ends a line that a crash has left in the middle, so that the next one can be read."""
    if opened.tell():
        with Path(opened.name).open("rb") as read:
            read.seek(-1, os.SEEK_END)
            if read.read(1) != b"\n":
                opened.write(b"\n")
