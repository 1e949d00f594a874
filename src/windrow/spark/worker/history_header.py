"""The header of a history in the state store: one small value that says what its segments mean."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field

from windrow.errors import CheckpointError
from windrow.event_time import END_OF_TIME, START_OF_TIME
from windrow.rows.frames import read_frame, write_frame
from windrow.runtime.ledger import Ledger
from windrow.spark.shuffle.arrivals import StreamArrivals
from windrow.spark.shuffle.far_ahead import Cluster

__all__ = ["HISTORY_VERSION", "HistoryHeader", "HistorySegment"]

HISTORY_VERSION = 2


@dataclass(frozen=True)
class HistorySegment:
    """What one batch brought, or a snapshot in the place of all before; in so many values.

    nonce: names the state after the batch. A batch that brought no rows has no values.
    """

    sequence: int
    values: int
    bytes: int
    clock_us: int
    nonce: str
    is_snapshot: bool = False


@dataclass
class HistoryHeader:
    """What one bucket knows between batches, besides its rows."""

    fingerprint: str
    bucket: int
    complete_us: int = START_OF_TIME
    newest_us: int = START_OF_TIME
    clock_us: int = START_OF_TIME
    suspect: Cluster | None = None  # shuffle.far_ahead
    ledger: Ledger = field(default_factory=Ledger)
    segments: list[HistorySegment] = field(default_factory=list)
    next_sequence: int = 0

    @property
    def is_finished(self) -> bool:
        """Whether the stream has ended."""
        return self.complete_us >= END_OF_TIME

    def move_clock(self, came: StreamArrivals, lateness_us: int) -> None:
        """Follows what came; every bucket is told the same, and comes to the same clock."""
        if self.is_finished:
            return
        if came.newest_us is not None:
            self.newest_us = max(self.newest_us, came.newest_us)
            # Rows of equal time may still follow, hence the microsecond.
            self.complete_us = max(self.complete_us, came.newest_us - lateness_us - 1)
        ordered_us = came.complete_through_us
        if ordered_us is not None:
            self.complete_us = max(self.complete_us, ordered_us)
            if ordered_us < END_OF_TIME:
                self.newest_us = max(self.newest_us, ordered_us)
        # A stream that has ended takes the clock to its last event and no further.
        reached_us = self.newest_us if self.is_finished else self.complete_us
        self.clock_us = max(self.clock_us, reached_us)

    def to_bytes(self) -> bytes:
        """The header as a checksummed frame."""
        parts = asdict(self)
        parts["segments"] = [list(asdict(segment).values()) for segment in self.segments]
        return write_frame("header", {"version": HISTORY_VERSION, **parts})

    @classmethod
    def from_bytes(cls, data: bytes, fingerprint: str, bucket: int) -> HistoryHeader:
        """The header again; refused when it is damaged or belongs to something else."""
        parts, _ = read_frame("header", data, f"state of bucket {bucket} of a history")
        version = parts.pop("version")
        if version != HISTORY_VERSION:
            raise CheckpointError(
                "WC234",
                f"the history in bucket {bucket} was written in format {version}, this version of "
                f"Windrow reads {HISTORY_VERSION}",
                hint="restart with the version that wrote it, or start with a new checkpoint",
            )
        for what, wanted in (("fingerprint", fingerprint), ("bucket", bucket)):
            if parts[what] != wanted:
                raise CheckpointError(
                    "WC232",
                    f"the state store holds a history of another {what}: "
                    f"{parts[what]}, not {wanted}",
                    hint="start with a new checkpoint directory",
                )
        parts["ledger"] = Ledger(**parts["ledger"])
        parts["segments"] = [HistorySegment(*segment) for segment in parts["segments"]]
        return cls(**parts)
