"""What the state store offers a bucket: one header value and numbered segments."""

from __future__ import annotations

from typing import Any, Protocol

from pyspark.sql.streaming.stateful_processor import StatefulProcessorHandle
from pyspark.sql.types import BinaryType, LongType, StructType

__all__ = ["BucketState", "StoredState"]

# As types and not as texts: Spark would ask the JVM to parse each text twice, in every task.
_DATA = StructType().add("data", BinaryType())
_SEQUENCE = StructType().add("sequence", LongType())


class BucketState(Protocol):
    """The state of the current bucket; what is written counts only when the batch commits."""

    def read_header(self) -> bytes | None:
        """The header, or None before the first batch."""

    def write_header(self, data: bytes) -> None:
        """Replaces the header."""

    def read_segment(self, sequence: int) -> bytes | None:
        """The segment of that number, or None."""

    def write_segment(self, sequence: int, data: bytes) -> None:
        """Adds or replaces a segment."""

    def remove_segment(self, sequence: int) -> None:
        """Removes a segment."""


class StoredState:
    """The state in Spark's state store."""

    def __init__(self, handle: StatefulProcessorHandle) -> None:
        self._header = handle.getValueState("header", _DATA)
        # Spark has this name on disk, and would refuse another before our header says why.
        self._segments = handle.getMapState("panes", _SEQUENCE, _DATA)

    def read_header(self) -> bytes | None:
        """The header, or None before the first batch."""
        return _value(self._header.get())

    def write_header(self, data: bytes) -> None:
        """Replaces the header."""
        self._header.update((data,))

    def read_segment(self, sequence: int) -> bytes | None:
        """The segment of that number, or None."""
        return _value(self._segments.getValue((sequence,)))

    def write_segment(self, sequence: int, data: bytes) -> None:
        """Adds or replaces a segment."""
        self._segments.updateValue((sequence,), (data,))

    def remove_segment(self, sequence: int) -> None:
        """Removes a segment."""
        self._segments.removeKey((sequence,))


def _value(row: tuple[Any, ...] | None) -> bytes | None:
    return None if row is None else bytes(row[0])
