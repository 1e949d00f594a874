"""The queries of a bundle, as its buckets know them: since when each runs, and what was ordered."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass
from typing import Any

from windrow.errors import CheckpointError
from windrow.plan.model import QueryPlan
from windrow.spark.bucket.frames import read_frame, write_frame
from windrow.spark.bucket.shard_state import ShardState
from windrow.spark.bucket.worker import plan_of

__all__ = ["Member", "MemberOrder", "forget_plan", "orders_in_turn", "plan_stored", "store_plan"]


@dataclass(frozen=True)
class MemberOrder:
    """A query begins or ends with the batch that this order reaches, before the rows of it.

    number: of the query within its bundle, never given again. plan: its text; '' where it ends.
    """

    number: int
    plan: str = ""
    grid_us: int = 1

    @property
    def ends(self) -> bool:
        """Whether the query ends."""
        return not self.plan

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)

    @classmethod
    def from_json(cls, parts: Mapping[str, Any]) -> MemberOrder:
        """Back from to_json()."""
        return cls(**parts)


@dataclass(frozen=True)
class Member:
    """A query that runs. It sees the panes from `first_sequence` on, and began at the clock."""

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


def orders_in_turn(
    orders: Iterable[MemberOrder], running: Iterable[int], last: int, missed: Sequence[int] = ()
) -> list[MemberOrder]:
    """Those orders of a batch that count, beginnings first.

    running: the numbers of the queries that run; last: the highest that ever ran; missed: lower
    ones that never did, since whoever lists a folder may miss a file and see a younger one. An
    order may come twice, where a driver did not know that it had been read.
    """
    given = list(orders)
    begins = {
        each.number: each
        for each in given
        if not each.ends and (each.number > last or each.number in missed)
    }
    known = {*running, *begins}
    ends = {each.number: each for each in given if each.ends and each.number in known}
    return [*(begins[number] for number in sorted(begins)), *(ends[one] for one in sorted(ends))]


def store_plan(state: ShardState, order: MemberOrder) -> None:
    """Keeps the plan of a query in the state store for as long as it runs."""
    state.write_pane(_place(order.number), write_frame({"plan": order.plan}))


def plan_stored(state: ShardState, number: int) -> QueryPlan:
    """The plan of a query that runs."""
    data = state.read_pane(_place(number))
    if data is None:
        raise CheckpointError(
            "WC240",
            f"the state store has lost the plan of query number {number} of a bundle",
            hint="restore the checkpoint directory from a copy, or start with a new one",
        )
    parts, _ = read_frame(data, f"plan of query number {number} of a bundle")
    return plan_of(parts["plan"])


def forget_plan(state: ShardState, number: int) -> None:
    """The query has ended."""
    state.remove_pane(_place(number))


def _place(number: int) -> int:
    """Where the plan lies: panes have the numbers from 0 on."""
    return -1 - number
