"""What steps of all kinds of buckets share: their header, and the counts of the ledger."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from windrow.runtime.ledger import Ledger
from windrow.spark.shuffle.arrivals import StreamArrivals
from windrow.spark.worker.bucket_header import BucketHeader, BucketKind
from windrow.spark.worker.bucket_state import BucketState

__all__ = ["BucketStep", "count_arrivals"]


class BucketOutput(Protocol):
    """What a bucket gives in a batch."""

    def to_bytes(self) -> bytes:
        """All of it as one frame."""


@dataclass
class BucketStep(ABC):
    """The work of one bucket in every batch."""

    fingerprint: str
    owner: str  # whose bucket: the checkpoint
    bucket: int

    @abstractmethod
    def run_batch(self, packets: Iterable[bytes], state: BucketState) -> BucketOutput:
        """Applies the packets of one batch."""

    def values(self, packets: Iterable[bytes], state: BucketState) -> list[bytes]:
        """The same; what goes on, a value for each receiver."""
        return [self.run_batch(packets, state).to_bytes()]

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
