"""What one bucket of a history reports to the driver after each batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import islice

import pyarrow as pa

from windrow.rows.frames import read_frame, table_bytes, table_of, write_frame
from windrow.runtime.ledger import Ledger
from windrow.spark.shuffle.history_question import BucketReply

__all__ = ["HistoryOutput"]


@dataclass(frozen=True)
class HistoryOutput:
    """How the bucket stands, and its answers to the questions of the batch.

    was_rebuilt: its live history was rebuilt from all that is stored. told: by feed, what the batch
    has brought to a continuous question.
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
    told: Mapping[str, pa.Table] = field(default_factory=dict)

    def to_bytes(self) -> bytes:
        """The output as one frame."""
        parts = ("replies", "told")
        facts = {name: value for name, value in vars(self).items() if name not in parts}
        facts["ledger"] = asdict(self.ledger)
        given = [reply.to_parts() for reply in self.replies]
        facts["replies"] = [[parts.header, len(parts.sections)] for parts in given]
        facts["told"] = list(self.told)
        sections = [section for parts in given for section in parts.sections]
        return write_frame("output", facts, [*sections, *map(table_bytes, self.told.values())])

    @classmethod
    def from_bytes(cls, data: bytes) -> HistoryOutput:
        """The output again."""
        facts, sections = read_frame("output", data, "output of a history")
        facts["ledger"] = Ledger(**facts["ledger"])
        left = iter(sections)
        facts["replies"] = [
            BucketReply.from_parts(header, [*islice(left, count)])
            for header, count in facts["replies"]
        ]
        facts["told"] = {feed: table_of(next(left)) for feed in facts["told"]}
        return cls(**facts)
