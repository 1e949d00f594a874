"""Rows that a stream cannot hold: why, and some of them, up to a limit in bytes."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa

__all__ = [
    "BAD_ROWS_BYTES",
    "BAD_ROWS_SCHEMA",
    "RAW_BYTES",
    "BadRow",
    "BadRows",
    "bad_rows_table",
    "cut",
    "shown_rows",
]

# Bad rows are counted without end; of the rows themselves the newest are kept, up to so much.
BAD_ROWS_BYTES = 1 << 20
# At most this many characters of a row are shown.
SHOWN_CHARACTERS = 1000
# Of the bytes of a row as it came, so many go with it until they are written where bad rows go.
RAW_BYTES = 64 << 10
# What one of them costs in addition to its texts.
_ROW_BYTES = 200

BAD_ROWS_SCHEMA = pa.schema(
    [
        ("why", pa.string()),
        ("column", pa.string()),
        ("file", pa.string()),
        ("line", pa.int64()),
        ("row", pa.string()),
    ]
)


@dataclass(frozen=True)
class BadRow:
    """A row that was set aside: what is wrong with it, where it stood, and how it looks.

    line: of a text file its line, of a Parquet file or a push the number of the row, from 1; of a
    topic the number of the record. raw: the row as it came, where it came as bytes.
    """

    why: str
    column: str | None = None
    file: str | None = None
    line: int | None = None
    row: str = ""
    raw: bytes = field(default=b"", repr=False, compare=False)

    @property
    def without_raw(self) -> BadRow:
        """As it is kept and shown."""
        return replace(self, raw=b"") if self.raw else self

    @property
    def nbytes(self) -> int:
        """About the bytes that it holds."""
        texts = (self.why, self.column, self.file, self.row)
        return _ROW_BYTES + len(self.raw) + sum(len(each) for each in texts if each)


class BadRows:
    """The newest of the bad rows of one stream.

    >>> kept = BadRows()
    >>> kept.add([BadRow("its text is not UTF-8", "k")])
    >>> kept.table()["why"].to_pylist()
    ['its text is not UTF-8']
    """

    def __init__(self, most_bytes: int = BAD_ROWS_BYTES) -> None:
        self._most_bytes = most_bytes
        self._rows: deque[BadRow] = deque()
        self.nbytes = 0

    def add(self, rows: Iterable[BadRow]) -> None:
        """Keeps these, and lets the oldest go beyond the limit."""
        for given in rows:
            row = given.without_raw
            self._rows.append(row)
            self.nbytes += row.nbytes
            while self.nbytes > self._most_bytes:
                self.nbytes -= self._rows.popleft().nbytes

    def with_rows(self, rows: Iterable[BadRow]) -> BadRows:
        """Others, which keep these rows besides."""
        made = BadRows(self._most_bytes)
        made.add([*self._rows, *rows])
        return made

    def table(self) -> pa.Table:
        """All that are kept, in order of arrival."""
        return bad_rows_table(self._rows)


def bad_rows_table(rows: Iterable[BadRow]) -> pa.Table:
    """Rows as people read them."""
    return pa.Table.from_pylist([vars(row) for row in rows], schema=BAD_ROWS_SCHEMA)


def shown_rows(batch: pa.RecordBatch) -> list[dict[str, Any]]:
    """Rows as Python's values; text that is not UTF-8 as bytes, times that nobody has as numbers.

    >>> shown_rows(pa.record_batch({"k": ["a"]}))
    [{'k': 'a'}]
    """
    columns = [[_shown(value) for value in column] for column in batch.columns]
    return [dict(zip(batch.schema.names, row, strict=True)) for row in zip(*columns, strict=True)]


def _shown(value: pa.Scalar) -> Any:
    try:
        return value.as_py()
    except (ValueError, OverflowError):
        kind = pa.binary() if pa.types.is_string(value.type) else pa.int64()
        return value.cast(kind).as_py()


def cut(text: str | bytes) -> str:
    r"""The beginning of a row, with what is not UTF-8 shown as it stands.

    >>> cut(b"a,\xff,1\n")
    'a,\\xff,1'
    """
    if isinstance(text, bytes):
        text = text[: 4 * SHOWN_CHARACTERS].decode("utf-8", "backslashreplace").rstrip("\r\n")
    shown = text if len(text) <= SHOWN_CHARACTERS else text[: SHOWN_CHARACTERS - 1] + "…"
    if shown.isprintable():
        return shown
    # What moves a terminal's cursor, and a lone surrogate, which no table can hold.
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in shown)
