"""What a snapshot is made of: JSON, and sections of Arrow's bytes that it refers to by number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.rows.frames import Section, table_bytes, table_of

__all__ = ["SavedParts", "SavedReader"]

_VALUES = "values"


class SavedParts:
    """Sections in the order in which they were added."""

    def __init__(self) -> None:
        self.sections: list[Section] = []

    def add(self, data: Section) -> int:
        """Bytes; the number by which they are found again."""
        self.sections.append(data)
        return len(self.sections) - 1

    def add_table(self, table: pa.Table | pa.RecordBatch) -> int:
        """A table."""
        return self.add(table_bytes(table))

    def add_numbers(self, numbers: Sequence[int] | NDArray[np.int64]) -> int:
        """Integers."""
        return self.add_table(pa.table({_VALUES: pa.array(numbers, pa.int64())}))


class SavedReader:
    """The same, read again."""

    def __init__(self, sections: Sequence[memoryview]) -> None:
        self._sections = sections

    def data(self, number: int) -> bytes:
        """Bytes."""
        return bytes(self._sections[number])

    def table(self, number: int) -> pa.Table:
        """A table."""
        return table_of(self._sections[number])

    def numbers(self, number: int) -> NDArray[np.int64]:
        """Integers."""
        found: Any = self.table(number).column(_VALUES).to_numpy()
        return np.array(found, np.int64)
