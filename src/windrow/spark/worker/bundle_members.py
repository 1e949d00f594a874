"""The queries of a bundle, as its buckets know them: since when each runs, and its plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass

from windrow.errors import CheckpointError
from windrow.plan.model import QueryPlan
from windrow.rows.frames import read_frame, write_frame
from windrow.spark.processes.python_worker import plan_of
from windrow.spark.shuffle.member_orders import MemberOrder
from windrow.spark.worker.bucket_state import BucketState

__all__ = ["Member", "forget_plan", "plan_stored", "store_plan"]


@dataclass(frozen=True)
class Member:
    """A query that runs. It sees the segments from `first_sequence` on, and began at the clock."""

    number: int
    grid_us: int
    first_sequence: int
    began_us: int

    def to_json(self) -> list[int]:
        """Plain numbers."""
        return list(astuple(self))

    @classmethod
    def from_json(cls, numbers: Sequence[int]) -> Member:
        """Back from to_json()."""
        return cls(*numbers)


def store_plan(state: BucketState, order: MemberOrder) -> None:
    """Keeps the plan of a query in the state store for as long as it runs."""
    state.write_segment(_place(order.number), write_frame("plan", {"plan": order.plan}))


def plan_stored(state: BucketState, number: int) -> QueryPlan:
    """The plan of a query that runs."""
    data = state.read_segment(_place(number))
    if data is None:
        raise CheckpointError(
            "WC240",
            f"the state store has lost the plan of query number {number} of a bundle",
            hint="restore the checkpoint directory from a copy, or start with a new one",
        )
    parts, _ = read_frame("plan", data, f"plan of query number {number} of a bundle")
    return plan_of(parts["plan"])


def forget_plan(state: BucketState, number: int) -> None:
    """The query has ended."""
    state.remove_segment(_place(number))


def _place(number: int) -> int:
    """Where the plan lies: segments have the numbers from 0 on."""
    return -1 - number
