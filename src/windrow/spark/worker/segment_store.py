"""The segments of a bucket in the state store: one a batch, now and then a snapshot for all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from windrow.errors import CheckpointError
from windrow.event_time import END_OF_TIME, START_OF_TIME
from windrow.spark.worker.bucket_header import BucketHeader, BucketKind, SegmentEntry
from windrow.spark.worker.bucket_state import BucketState
from windrow.spark.worker.segments import Segment

__all__ = ["VALUE_BYTES_LIMIT", "SegmentStore"]

# The state store takes values whole: large ones are cut.
VALUE_BYTES_LIMIT = 32 << 20


class SegmentStore:
    """The segments of one bucket, through its header."""

    def __init__(self, header: BucketHeader, state: BucketState, kind: BucketKind) -> None:
        self._header = header
        self.state = state
        self._kind = kind

    def stored(self) -> Iterator[tuple[Segment, SegmentEntry]]:
        """All segments in order, each with what the header says of it."""
        for entry in self._header.segments:
            yield self.read(entry), entry

    def read(self, entry: SegmentEntry) -> Segment:
        """What a segment holds; nothing where its batch brought nothing."""
        values = [self._value(sequence) for sequence in _sequences(entry)]
        if not values:
            return Segment()
        data = values[0] if len(values) == 1 else b"".join(values)
        return Segment.from_bytes(data, entry.sequence)

    def _value(self, sequence: int) -> bytes:
        value = self.state.read_segment(sequence)
        if value is None:
            raise CheckpointError(
                self._kind.lost,
                f"the state store has lost segment {sequence} of a {self._kind.name}",
                hint="restore the checkpoint directory from a copy, or start with a new one",
            )
        return value

    def replace_all(self, segment: Segment) -> None:
        """Puts a snapshot of the present in the place of all segments."""
        nonce = self._header.segments[-1].nonce if self._header.segments else ""
        for entry in self._header.segments:
            self._remove(entry)
        self._header.segments.clear()
        self._write(segment, nonce=nonce)

    @property
    def stored_bytes(self) -> int:
        """What the segments take in the state store."""
        return sum(entry.bytes for entry in self._header.segments)

    def _write(
        self, segment: Segment | None, kept_until_us: int = START_OF_TIME, nonce: str = ""
    ) -> SegmentEntry:
        header = self._header
        data = b"" if segment is None else segment.to_bytes()
        is_snapshot = segment is not None and segment.snapshot is not None
        entry = SegmentEntry(
            header.next_sequence,
            0 if segment is None else segment.row_count,
            len(data),
            END_OF_TIME if is_snapshot else START_OF_TIME,
            header.clock_us,
            is_snapshot,
            kept_until_us,
            values=self._write_values(header.next_sequence, data),
            nonce=nonce,
        )
        header.segments.append(entry)
        header.next_sequence += entry.values
        return entry

    def _write_values(self, first: int, data: bytes) -> int:
        """Writes data from a sequence on; in how many values."""
        starts = range(0, len(data), VALUE_BYTES_LIMIT)
        for sequence, start in enumerate(starts, first):
            is_whole = len(starts) == 1
            part = data if is_whole else data[start : start + VALUE_BYTES_LIMIT]
            self.state.write_segment(sequence, part)
        return len(starts)

    def _remove(self, entry: SegmentEntry, but: SegmentEntry | None = None) -> None:
        """Removes the values of a segment; but: where another one has been written by now."""
        kept = () if but is None else _sequences(but)
        for sequence in _sequences(entry):
            if sequence not in kept:
                self.state.remove_segment(sequence)


def _sequences(entry: SegmentEntry) -> Sequence[int]:
    return range(entry.sequence, entry.sequence + entry.values)
