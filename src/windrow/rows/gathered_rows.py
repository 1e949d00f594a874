"""Plain rows that are pushed one by one: checked at once, converted together.

A row is gathered when every value is of a Python type that its column holds without fail; any other
row is converted by itself (conversion.py), which says what is wrong with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.rows.one_row_batches import batch_reader
from windrow.rows.row_reader import PlainRow, RowReader, row_reader, values_reader
from windrow.schema import StreamSchema

__all__ = ["GATHERED_ROWS", "GatheredRows", "JoinedRow"]

# So many rows are converted together, or those whose texts have so many characters.
GATHERED_ROWS = 4096
GATHERED_CHARACTERS = 1 << 20
# About what one row takes as a tuple with its values, next to its texts.
GATHERED_ROW_BYTES = 400
# A list of more rows than this is converted by itself.
FEW_ROWS = 16


class JoinedRow(PlainRow):
    """A row of the same push as the row before it."""

    __slots__ = ()


class GatheredRows:
    """The rows of one stream that wait to be converted.

    They alone say what has been pushed, so that a push is in the list as a whole, or not at all.

    >>> from windrow.schema import columns_of
    >>> stream = StreamSchema("s", columns_of("ts timestamp, x int"), "ts")
    >>> gathered = GatheredRows(stream)
    >>> gathered.take({"ts": "2026-01-01", "x": 1}), gathered.take({"x": "one"})
    (True, False)
    >>> gathered.converted()["x"].to_pylist()
    [1]
    """

    def __init__(self, stream: StreamSchema) -> None:
        self.read = row_reader(stream)
        by_values = values_reader(stream)
        # What reads one row, by the type in which it is pushed.
        self.readers: dict[type, RowReader] = {
            dict: self.read,
            tuple: by_values,
            pa.RecordBatch: batch_reader(stream, by_values),
        }
        self._names = [column.name for column in stream.columns]
        self._texts = [
            i for i, column in enumerate(stream.columns) if column.type.name in ("STRING", "BINARY")
        ]
        self._schema = stream.arrow
        self.rows: list[PlainRow] = []
        self._characters = 0

    def take(self, rows: Any) -> bool:
        """Gather a row, or a few; False when they are not surely of the stream's types."""
        if type(rows) is dict:
            rows = [rows]
        if type(rows) is not list or len(rows) > FEW_ROWS:
            return False
        fitting = []
        for row in rows:
            fits = type(row) is dict and self.read(row)
            if not fits:
                return False
            fitting.append(fits)
        self.rows += [*fitting[:1], *map(JoinedRow, fitting[1:])]
        if self._texts:
            for each in fitting:
                self._count_characters(each)
        return True

    def add(self, row: PlainRow) -> bool:
        """Gather one row that was read; whether those that wait should be converted now."""
        self.rows.append(row)
        if self._texts:
            self._count_characters(row)
            return self.is_full
        return len(self.rows) >= GATHERED_ROWS

    def add_again(self, batch: pa.RecordBatch, pushes: Sequence[int]) -> None:
        """Gather rows that were gathered and converted before, with the numbers of their pushes.

        >>> from windrow.schema import columns_of
        >>> stream = StreamSchema("s", columns_of("ts timestamp, x int"), "ts")
        >>> gathered, again = GatheredRows(stream), GatheredRows(stream)
        >>> row = {"ts": "2026-01-01", "x": 1}
        >>> gathered.take(row), gathered.take([row, row])
        (True, True)
        >>> again.add_again(gathered.converted(), gathered.pushes().tolist())
        >>> again.rows == gathered.rows, again.pushes().tolist()
        (True, [1, 2, 2])
        """
        columns = []
        for column in batch.columns:
            is_time = pa.types.is_timestamp(column.type)
            columns.append((column.cast(pa.int64()) if is_time else column).to_pylist())
        rows = list[PlainRow](zip(*columns, strict=True))
        for place in range(1, len(rows)):
            if pushes[place] == pushes[place - 1]:
                rows[place] = JoinedRow(rows[place])
        self.rows += rows
        for row in rows if self._texts else ():
            self._count_characters(row)

    def _count_characters(self, row: PlainRow) -> None:
        for place in self._texts:
            if row[place] is not None:
                self._characters += len(row[place])

    @property
    def is_full(self) -> bool:
        """Whether those that wait should be converted now."""
        return self._characters >= GATHERED_CHARACTERS or len(self.rows) >= GATHERED_ROWS

    @property
    def nbytes(self) -> int:
        """About the bytes of the rows."""
        return GATHERED_ROW_BYTES * len(self.rows) + self._characters

    def converted(self, first: int = 0) -> pa.RecordBatch:
        """The rows from the first on as columns; they stay gathered until they are forgotten."""
        arrays = list[pa.Array]()
        rows = self.rows[first:] if first else self.rows
        for values, kind in zip(zip(*rows, strict=True), self._schema.types, strict=True):
            arrays += (pa.array(values, kind),)
        return pa.RecordBatch.from_arrays(arrays, schema=self._schema)

    def pushes(self) -> NDArray[np.int64]:
        """The number of the push of each row."""
        if JoinedRow not in set(map(type, self.rows)):
            return np.arange(len(self.rows), dtype=np.int64)
        return np.cumsum([type(row) is not JoinedRow for row in self.rows], dtype=np.int64)

    def as_dicts(self) -> list[dict[str, Any]]:
        """The rows as they are converted one by one."""
        return [dict(zip(self._names, row, strict=True)) for row in self.rows]

    def drop_after(self, count: int) -> None:
        """Only so many of the rows were pushed, after all."""
        self.rows = self.rows[:count]

    def forget(self, count: int) -> None:
        """The first rows were taken, or refused."""
        rows = self.rows[count:]
        if rows:
            rows[0] = tuple(rows[0])  # the first of what is left of its push
        else:
            self._characters = 0
        self.rows = rows
