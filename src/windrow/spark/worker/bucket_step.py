"""What steps of all kinds of buckets share: their header, and the counts of the ledger."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from windrow.runtime.ledger import Ledger
from windrow.spark.shuffle.arrivals import StreamArrivals
from windrow.spark.worker.bucket_header import BucketHeader, BucketKind
from windrow.spark.worker.bucket_state import BucketState

__all__ = ["BucketStep", "count_arrivals"]


@dataclass
class BucketStep:
    """The work of one bucket in every batch."""

    fingerprint: str
    owner: str  # whose bucket: the checkpoint
    bucket: int

    def _read_header(
        self, state: BucketState, streams: Iterable[str], kind: BucketKind
    ) -> BucketHeader:
        data = state.read_header()
        if data is None:
            return BucketHeader.new(self.fingerprint, self.bucket, streams)
        return BucketHeader.from_bytes(data, self.fingerprint, self.bucket, kind)


def count_arrivals(ledger: Ledger, came: StreamArrivals, timely: int) -> None:
    """Counts the rows of a batch, and how many of them are not late."""
    ledger.rows_in += came.rows_in
    ledger.bad_time += came.bad_time
    ledger.bad_value += came.bad_value
    ledger.late += came.rows_in - came.bad_time - came.bad_value - timely
