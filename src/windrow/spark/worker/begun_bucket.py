"""The state of a bucket before its first batch, where its query goes on from another run."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

from windrow.event_time import START_OF_TIME
from windrow.plan.model import QueryPlan
from windrow.rows.frames import read_frame, write_frame
from windrow.spark.checkpoint.beginning import bucket_file, read_beginning
from windrow.spark.worker.bucket_header import BucketHeader
from windrow.spark.worker.bucket_state import BucketState
from windrow.spark.worker.segments import Segment
from windrow.spark.worker.shard_segments import ShardSegments
from windrow.spark.worker.tree_segments import TreeSegments
from windrow.storage import Storage

if TYPE_CHECKING:
    from windrow.plan.relations.tree_plan import RunnablePlan

__all__ = ["begin_bucket", "begun_bucket", "segments_of"]

_KIND = "beginning"


class _Gathered:
    """A state in memory, to be written into a file."""

    def __init__(self) -> None:
        self.segments: dict[int, bytes] = {}

    def read_header(self) -> bytes | None:
        return None

    def write_header(self, data: bytes) -> None:
        raise AssertionError(f"{len(data)} bytes: the header goes into the file")

    def read_segment(self, sequence: int) -> bytes | None:
        return self.segments.get(sequence)

    def write_segment(self, sequence: int, data: bytes) -> None:
        self.segments[sequence] = data

    def remove_segment(self, sequence: int) -> None:
        del self.segments[sequence]


def segments_of(plan: RunnablePlan, header: BucketHeader, state: BucketState) -> ShardSegments:
    """The segments of a bucket of a query."""
    if isinstance(plan, QueryPlan):
        return ShardSegments(plan, header, state)
    return TreeSegments(plan, header, state)


def begun_bucket(plan: RunnablePlan, header: BucketHeader, segment: Segment) -> bytes:
    """A file with all that the bucket shall hold; header: without segments yet."""
    state = _Gathered()
    header.nonce = uuid.uuid4().hex  # it names a live shard that nobody has
    due = segment.instants
    newest_us = START_OF_TIME if due is None or not due.size else int(due[-1])
    segments_of(plan, header, state).begin(segment, newest_us)
    sequences = sorted(state.segments)
    values = [state.segments[each] for each in sequences]
    return write_frame(_KIND, {"sequences": sequences}, [header.to_bytes(), *values])


def begin_bucket(folder: str, bucket: int, state: BucketState) -> None:
    """Puts what the file holds into the state store."""
    name = bucket_file(bucket)
    data = read_beginning(Storage(folder, make=False), name)
    found, (header, *values) = read_frame(_KIND, data, f"beginning {name} of the checkpoint")
    for sequence, value in zip(found["sequences"], values, strict=True):
        state.write_segment(sequence, bytes(value))
    state.write_header(bytes(header))
