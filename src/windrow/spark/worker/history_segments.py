"""The segments of a history in the state store: one more a batch, now and then a snapshot for all.

A live history that has fallen behind needs only the segments since; one that does not exist is
built from all of them.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from windrow.errors import CheckpointError
from windrow.spark.worker.history_header import HistoryHeader, HistorySegment
from windrow.spark.worker.shard_state import ShardState

__all__ = ["SEGMENTS_LIMIT", "HistorySegments", "rows_of_segment"]

# A snapshot replaces the segments when they are as large as the last one and this besides: writing
# it then costs no more than a constant per byte that came.
SPARE_BYTES = 1 << 20
# So many are read again at most, and named in the header.
SEGMENTS_LIMIT = 1_000
# The state store takes values whole: large ones are cut.
VALUE_BYTES_LIMIT = 32 << 20

_OPTIONS = pa.ipc.IpcWriteOptions(compression="lz4")


class HistorySegments:
    """The segments of one bucket, through its header."""

    def __init__(self, header: HistoryHeader, state: ShardState) -> None:
        self._header = header
        self._state = state

    def since(self, nonce: str) -> list[HistorySegment] | None:
        """The segments that came after the state of that nonce; None where it is not known."""
        segments = self._header.segments
        if not segments and not nonce:
            return []
        for place, segment in enumerate(segments, 1):
            if segment.nonce == nonce:
                return segments[place:]
        return None

    def append(self, rows: pa.Table | None, nonce: str) -> None:
        """Stores what one batch brought."""
        self._write(b"" if rows is None else _bytes_of_rows(rows), nonce, is_snapshot=False)

    def replace_all(self, snapshot: bytes) -> None:
        """Puts a snapshot of the present in the place of all segments."""
        nonce = self._header.segments[-1].nonce
        for segment in self._header.segments:
            for sequence in _sequences(segment):
                self._state.remove_segment(sequence)
        self._header.segments.clear()
        self._write(snapshot, nonce, is_snapshot=True)

    def read(self, segment: HistorySegment) -> bytes | None:
        """What a segment holds; None where its batch brought nothing."""
        values = []
        for sequence in _sequences(segment):
            value = self._state.read_segment(sequence)
            if value is None:
                raise CheckpointError(
                    "WC233",
                    f"the state store has lost segment {sequence} of a history",
                    hint="restore the checkpoint directory from a copy, or start with a new one",
                )
            values.append(value)
        return b"".join(values) if values else None

    @property
    def is_loose(self) -> bool:
        """Whether a snapshot should replace the segments."""
        segments = self._header.segments
        last = segments[0].bytes if segments and segments[0].is_snapshot else 0
        return self.nbytes > 2 * last + SPARE_BYTES or len(segments) > SEGMENTS_LIMIT

    @property
    def nbytes(self) -> int:
        """What the segments take in the state store."""
        return sum(segment.bytes for segment in self._header.segments)

    def _write(self, data: bytes, nonce: str, *, is_snapshot: bool) -> None:
        header, first = self._header, self._header.next_sequence
        parts = [
            data[start : start + VALUE_BYTES_LIMIT]
            for start in range(0, len(data), VALUE_BYTES_LIMIT)
        ]
        for sequence, part in enumerate(parts, first):
            self._state.write_segment(sequence, part)
        segment = HistorySegment(first, len(parts), len(data), header.clock_us, nonce, is_snapshot)
        header.segments.append(segment)
        header.next_sequence += len(parts)


def rows_of_segment(data: bytes) -> pa.Table:
    """The rows that a batch brought."""
    return pa.ipc.open_stream(pa.py_buffer(data)).read_all()


def _bytes_of_rows(rows: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema, options=_OPTIONS) as writer:
        writer.write(rows)
    return bytes(sink.getvalue())


def _sequences(segment: HistorySegment) -> Sequence[int]:
    return range(segment.sequence, segment.sequence + segment.values)
