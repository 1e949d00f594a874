"""What one bucket of a history tells the driver after each batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field

from windrow.runtime.ledger import Ledger
from windrow.spark.processes.frames import read_frame, write_frame
from windrow.spark.shuffle.history_question import BucketReply

__all__ = ["HistoryOutput", "total_ledger"]


@dataclass(frozen=True)
class HistoryOutput:
    """How the bucket stands, and its answers to the questions of the batch.

    was_rebuilt: its live history was built again from all that is stored.
    """

    bucket: int
    clock_us: int
    is_finished: bool
    ledger: Ledger
    live_bytes: int
    state_bytes: int
    segments: int
    was_rebuilt: bool = False
    replies: Sequence[BucketReply] = field(default_factory=list)

    def to_bytes(self) -> bytes:
        """The output as one frame."""
        facts = {name: value for name, value in vars(self).items() if name != "replies"}
        facts["ledger"] = asdict(self.ledger)
        return write_frame(facts, [reply.to_bytes() for reply in self.replies])

    @classmethod
    def from_bytes(cls, data: bytes) -> HistoryOutput:
        """The output again."""
        facts, sections = read_frame(data, "output of a history")
        facts["ledger"] = Ledger(**facts["ledger"])
        return cls(**facts, replies=[*map(BucketReply.from_bytes, sections)])


def total_ledger(outputs: Sequence[HistoryOutput]) -> Ledger:
    """The counts of all buckets."""
    ledgers = [asdict(output.ledger) for output in outputs]
    return Ledger(**{name: sum(each[name] for each in ledgers) for name in asdict(Ledger())})
