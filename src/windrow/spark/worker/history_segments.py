"""Which segments a history keeps: one for each batch, until a snapshot replaces them.

A live history that has fallen behind needs only the segments since; one that does not exist is
built from all of them.
"""

from __future__ import annotations

import pyarrow as pa

from windrow.spark.worker.bucket_header import HISTORY, BucketHeader, SegmentEntry
from windrow.spark.worker.bucket_state import BucketState
from windrow.spark.worker.segment_store import SegmentStore
from windrow.spark.worker.segments import Segment

__all__ = ["SEGMENTS_LIMIT", "HistorySegments"]

# A snapshot replaces the segments when they are as large as the last one and this besides: writing
# it then costs no more than a constant per byte that came.
SPARE_BYTES = 1 << 20
# So many are read again at most, and named in the header.
SEGMENTS_LIMIT = 1_000


class HistorySegments(SegmentStore):
    """The segments of one bucket; each entry names the state after its batch."""

    def __init__(self, header: BucketHeader, state: BucketState) -> None:
        super().__init__(header, state, HISTORY)

    def since(self, nonce: str) -> list[SegmentEntry] | None:
        """The segments that came after the state of that nonce; None where it is not known."""
        segments = self._header.segments
        if not segments and not nonce:
            return []
        for place, segment in enumerate(segments, 1):
            if segment.nonce == nonce:
                return segments[place:]
        return None

    def append(self, rows: pa.RecordBatch | None, nonce: str) -> None:
        """Stores what one batch brought."""
        self._write(None if rows is None else Segment({0: rows}), nonce=nonce)

    @property
    def is_loose(self) -> bool:
        """Whether a snapshot should replace the segments."""
        segments = self._header.segments
        last = segments[0].bytes if segments and segments[0].is_snapshot else 0
        return self.stored_bytes > 2 * last + SPARE_BYTES or len(segments) > SEGMENTS_LIMIT
