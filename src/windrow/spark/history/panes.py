"""The panes of a history in the state store: one more a batch, now and then a snapshot for all.

A live history that has fallen behind needs only the panes since; one that does not exist is built
from all of them.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from windrow.errors import CheckpointError
from windrow.spark.bucket.shard_state import ShardState
from windrow.spark.history.header import HistoryHeader, HistoryPane

__all__ = ["PANES_LIMIT", "HistoryPanes", "rows_of_pane"]

# A snapshot replaces the panes when they are as large as the last one and this besides: writing it
# then costs no more than a constant per byte that came.
SPARE_BYTES = 1 << 20
# So many are read again at most, and named in the header.
PANES_LIMIT = 1_000
# The state store takes values whole: large ones are cut.
VALUE_BYTES_LIMIT = 32 << 20

_OPTIONS = pa.ipc.IpcWriteOptions(compression="lz4")


class HistoryPanes:
    """The panes of one bucket, through its header."""

    def __init__(self, header: HistoryHeader, state: ShardState) -> None:
        self._header = header
        self._state = state

    def since(self, nonce: str) -> list[HistoryPane] | None:
        """The panes that came after the state of that nonce; None where nothing is known of it."""
        panes = self._header.panes
        if not panes and not nonce:
            return []
        for place, pane in enumerate(panes, 1):
            if pane.nonce == nonce:
                return panes[place:]
        return None

    def append(self, rows: pa.Table | None, nonce: str) -> None:
        """Stores what one batch brought."""
        self._write(b"" if rows is None else _bytes_of_rows(rows), nonce, is_snapshot=False)

    def replace_all(self, snapshot: bytes) -> None:
        """Puts a snapshot of the present in the place of all panes."""
        nonce = self._header.panes[-1].nonce
        for pane in self._header.panes:
            for sequence in _sequences(pane):
                self._state.remove_pane(sequence)
        self._header.panes.clear()
        self._write(snapshot, nonce, is_snapshot=True)

    def read(self, pane: HistoryPane) -> bytes | None:
        """What a pane holds; None where its batch brought nothing."""
        values = []
        for sequence in _sequences(pane):
            value = self._state.read_pane(sequence)
            if value is None:
                raise CheckpointError(
                    "WC233",
                    f"the state store has lost pane {sequence} of a history",
                    hint="restore the checkpoint directory from a copy, or start with a new one",
                )
            values.append(value)
        return b"".join(values) if values else None

    @property
    def is_loose(self) -> bool:
        """Whether a snapshot should replace the panes."""
        panes = self._header.panes
        last = panes[0].bytes if panes and panes[0].is_snapshot else 0
        return self.nbytes > 2 * last + SPARE_BYTES or len(panes) > PANES_LIMIT

    @property
    def nbytes(self) -> int:
        """What the panes take in the state store."""
        return sum(pane.bytes for pane in self._header.panes)

    def _write(self, data: bytes, nonce: str, *, is_snapshot: bool) -> None:
        header, first = self._header, self._header.next_sequence
        parts = [
            data[start : start + VALUE_BYTES_LIMIT]
            for start in range(0, len(data), VALUE_BYTES_LIMIT)
        ]
        for sequence, part in enumerate(parts, first):
            self._state.write_pane(sequence, part)
        pane = HistoryPane(first, len(parts), len(data), header.clock_us, nonce, is_snapshot)
        header.panes.append(pane)
        header.next_sequence += len(parts)


def rows_of_pane(data: bytes) -> pa.Table:
    """The rows that a batch brought."""
    return pa.ipc.open_stream(pa.py_buffer(data)).read_all()


def _bytes_of_rows(rows: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema, options=_OPTIONS) as writer:
        writer.write(rows)
    return bytes(sink.getvalue())


def _sequences(pane: HistoryPane) -> Sequence[int]:
    return range(pane.sequence, pane.sequence + pane.values)
