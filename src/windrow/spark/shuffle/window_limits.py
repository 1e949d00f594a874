"""What a bucket's windows hold, where the governor has changed them: lifetimes, and what is gone.

A window that was narrow for a while has let rows go that its lifetime of now would still hold. They
do not come back when a shard is built again from segments, so the instant before which rows have
gone is kept with the lifetime.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from windrow.event_time import END_OF_TIME, START_OF_TIME
from windrow.rows.prepare import lifetime_of
from windrow.windows.lifetime import Lifetime, lifetimes_from_json, lifetimes_to_json

if TYPE_CHECKING:
    from windrow.plan.relations.tree_plan import RunnablePlan

__all__ = ["WidthOrder", "WindowLimits"]


@dataclass(frozen=True)
class WidthOrder:
    """Lifetimes by input, from the clock on with which the batch begins that it reaches.

    number: the higher one counts where two orders reach a batch, and where one comes too late.
    """

    number: int
    lifetimes: Mapping[int, Lifetime]

    def to_json(self) -> dict[str, Any]:
        """Plain numbers."""
        return {"number": self.number, "lifetimes": lifetimes_to_json(self.lifetimes)}

    @classmethod
    def from_json(cls, parts: Mapping[str, Any]) -> WidthOrder:
        """Back from to_json()."""
        return cls(parts["number"], lifetimes_from_json(parts["lifetimes"]))


@dataclass(frozen=True)
class WindowLimits:
    """lifetimes: by input, where not those of the plan. edges: rows entered before are gone.

    number: of the order that made them so; 0: none has come.
    """

    number: int = 0
    lifetimes: Mapping[int, Lifetime] = field(default_factory=dict)
    edges: Mapping[int, int] = field(default_factory=dict)

    def lifetime(self, plan: RunnablePlan, input_index: int) -> Lifetime:
        """How long rows of an input stay."""
        return self.lifetimes.get(input_index) or lifetime_of(plan.inputs[input_index].window)

    def changed(self, plan: RunnablePlan, order: WidthOrder, clock_us: int) -> WindowLimits:
        """The limits after an order that takes effect at a clock."""
        lifetimes, edges = dict(self.lifetimes), dict(self.edges)
        now = np.array([clock_us])
        for input_index, wanted in order.lifetimes.items():
            before, after = self.lifetime(plan, input_index), replace(wanted, floor_us=clock_us)
            left = [int(each.edge(now)[0]) for each in (before, after)]
            edges[input_index] = max(edges.get(input_index, START_OF_TIME), *left)
            lifetimes[input_index] = after
        return WindowLimits(order.number, lifetimes, edges)

    def leaves_at(self, plan: RunnablePlan, input_index: int, time_us: int) -> int:
        """The instant at which a row of that time is no longer held, if it has not left before."""
        if not plan.inputs[input_index].window.traits.leaves_by_time:
            return END_OF_TIME
        lifetime, times = self.lifetime(plan, input_index), np.array([time_us], np.int64)
        if int(lifetime.enter(times)[0]) < self.edges.get(input_index, START_OF_TIME):
            return START_OF_TIME
        return min(END_OF_TIME, int(lifetime.leave(times)[0]))

    def held(self, plan: RunnablePlan, input_index: int, rows: pa.Table) -> pa.Table:
        """Prepared rows without those that have gone for good."""
        if input_index not in self.edges:
            return rows
        times = rows.column("ts").to_numpy()
        entered = self.lifetime(plan, input_index).enter(times)
        return rows.filter(pa.array(entered >= self.edges[input_index]))

    def to_json(self) -> list[Any]:
        """Plain numbers."""
        edges = [list(pair) for pair in self.edges.items()]
        return [self.number, lifetimes_to_json(self.lifetimes), edges]

    @classmethod
    def from_json(cls, parts: Sequence[Any]) -> WindowLimits:
        """Back from to_json()."""
        number, lifetimes, edges = parts
        return cls(number, lifetimes_from_json(lifetimes), dict(edges))
