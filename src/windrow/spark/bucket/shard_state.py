"""What the state store offers a shard: one header value and numbered panes."""

from __future__ import annotations

from typing import Any, Protocol

from pyspark.sql.streaming.stateful_processor import StatefulProcessorHandle

__all__ = ["ShardState", "StoredState"]


class ShardState(Protocol):
    """The state of the bucket at hand; what is written counts only when the batch commits."""

    def read_header(self) -> bytes | None:
        """The header, or None before the first batch."""

    def write_header(self, data: bytes) -> None:
        """Replaces the header."""

    def read_pane(self, sequence: int) -> bytes | None:
        """The pane of that number, or None."""

    def write_pane(self, sequence: int, data: bytes) -> None:
        """Adds or replaces a pane."""

    def remove_pane(self, sequence: int) -> None:
        """Removes a pane."""


class StoredState:
    """The state in Spark's state store."""

    def __init__(self, handle: StatefulProcessorHandle) -> None:
        self._header = handle.getValueState("header", "data binary")
        self._panes = handle.getMapState("panes", "sequence long", "data binary")

    def read_header(self) -> bytes | None:
        """The header, or None before the first batch."""
        return _value(self._header.get())

    def write_header(self, data: bytes) -> None:
        """Replaces the header."""
        self._header.update((data,))

    def read_pane(self, sequence: int) -> bytes | None:
        """The pane of that number, or None."""
        return _value(self._panes.getValue((sequence,)))

    def write_pane(self, sequence: int, data: bytes) -> None:
        """Adds or replaces a pane."""
        self._panes.updateValue((sequence,), (data,))

    def remove_pane(self, sequence: int) -> None:
        """Removes a pane."""
        self._panes.removeKey((sequence,))


def _value(row: tuple[Any, ...] | None) -> bytes | None:
    return None if row is None else bytes(row[0])
