"""What a sink in this process is told of the query that writes to it."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

import pyarrow as pa

from windrow.column_types import TIMESTAMP
from windrow.deferred import deferred
from windrow.errors import Place, UnsupportedError

if TYPE_CHECKING:
    from windrow.plan.history_plan import HistoryPlan
    from windrow.plan.model import QueryPlan
    from windrow.schema import Column
else:
    HistoryPlan = deferred("windrow.plan.history_plan", "HistoryPlan")

__all__ = ["NO_STATE", "AlertShape", "ProcessRun", "RunPlan", "feed_columns"]

# Under which sinks know a run whose state is not kept: the next such run begins anew.
NO_STATE = "a run without state"


@dataclass(frozen=True)
class AlertShape:
    """What a sink is told of an alert instead of a plan: the columns of its events behind `at`."""

    select: tuple[Column, ...]


RunPlan: TypeAlias = "QueryPlan | HistoryPlan | AlertShape"


@dataclass(frozen=True)
class ProcessRun:
    """A query that is about to write, and the state that it goes on from; see SinkCheckpoint.

    batches: that it has written in this state, by what the state knows; None: it begins. state: a
    name that this state has, and no other; '' where none is kept.
    """

    query: str
    plan: RunPlan = field(repr=False)
    batches: int | None = None
    state: str = ""
    place: Place | None = None

    @property
    def is_lasting(self) -> bool:
        """Whether a later run can go on from it."""
        return bool(self.state)

    def identity(self) -> str:
        """The name of the state."""
        return self.state or NO_STATE

    def is_begun(self) -> bool:
        """Whether the query has written before."""
        return bool(self.batches)

    def apart(self) -> ProcessRun:
        """A run without state under a name of its own: it adds to what is there already."""
        if self.is_lasting:
            return self
        return replace(self, state=uuid.uuid4().hex, batches=1)

    def keyed_plan(self, feed: str, place: Place | None = None) -> RunPlan:
        """The plan; refused where rows are to be put in place, and have no key."""
        if feed == "upserts" and isinstance(self.plan, HistoryPlan):
            raise UnsupportedError(
                "WU830",
                f"query {self.query!r} reads HISTORY: its rows have no key by which a table could "
                "be kept equal to its result",
                hint="use feed = 'answers' or feed = 'changes'",
                place=place or self.place,
            )
        return self.plan


def feed_columns(plan: RunPlan, feed: str) -> pa.Schema:
    """The columns of a feed of a query; 'upserts' and 'result' have those of the select list."""
    at = pa.field("at", TIMESTAMP.arrow)
    bounds = [pa.field("level", pa.string()), pa.field("error_bound", pa.float64())]
    first = {
        "answers": [at] if isinstance(plan, AlertShape) else [at, *bounds],
        "changes": [at, pa.field("change", pa.int8())],
    }.get(feed, [])
    return pa.schema([*first, *(pa.field(each.name, each.type.arrow) for each in plan.select)])
