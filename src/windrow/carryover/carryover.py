"""The carryover of a query: all that another run of it needs to go on where this one stands.

Mostly that is rows: those in its windows and those that wait. Operators, groups and the result
follow from these. Where rows do not say all (UNBOUNDED, answers in windows, sessions), shards and
publishers are handed over as they were saved, and only the same query can go on from them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.carryover.positions import Positions
from windrow.errors import CheckpointError
from windrow.event_time import END_OF_TIME, START_OF_TIME
from windrow.plan.model import QueryPlan
from windrow.runtime.ledger import Ledger
from windrow.schema import StreamSchema
from windrow.windows.instants import NO_INSTANTS

if TYPE_CHECKING:
    from windrow.plan.relations.tree_plan import RunnablePlan

__all__ = [
    "CLOSED",
    "RESULT",
    "CarriedStream",
    "Carryover",
    "follows_from_rows",
    "not_carried",
    "not_in_buckets",
    "places_of",
]

Instants = NDArray[np.int64]

# Publishers by name: that of the result, and that of sessions that close.
RESULT, CLOSED = "result", "closed"


@dataclass(frozen=True)
class CarriedStream:
    """How far a stream has come, and what became of its rows.

    first_us: the time of its first row. times: of the rows that wait for the clock.
    """

    schema: StreamSchema
    complete_us: int = START_OF_TIME
    newest_us: int = START_OF_TIME
    first_us: int | None = None
    ledger: Ledger = field(default_factory=Ledger)
    times: Instants = field(default_factory=lambda: NO_INSTANTS)


@dataclass(frozen=True)
class Carryover:
    """What is handed over.

    clock_us: the instant through which the query has answered. rows: prepared, by input, in order
    of arrival. due: instants after the clock at which answers are due. answered_us: the first
    instant of all; END_OF_TIME while there was none. began_us: it has seen all rows later than
    this. shards, publishers: where rows do not say all, one shard for each bucket, and publishers
    by name. is_combined: rows may stand for several, which only the same query can tell.
    is_by_arrival: how the clock of its session moves. offsets: on Spark, how far the sources had
    come, by stream, as Spark writes it. positions: the same with all that Spark needs to read on.
    """

    name: str
    plan: RunnablePlan
    clock_us: int
    streams: Mapping[str, CarriedStream]
    rows: Mapping[int, pa.Table] = field(default_factory=dict)
    due: Instants = field(default_factory=lambda: NO_INSTANTS)
    answered_us: int = END_OF_TIME
    began_us: int = START_OF_TIME
    shards: tuple[bytes, ...] = ()
    publishers: Mapping[str, bytes] = field(default_factory=dict)
    rows_in: Mapping[str, int] = field(default_factory=dict)
    set_aside: Mapping[str, int] = field(default_factory=dict)
    is_combined: bool = False
    is_by_arrival: bool = False
    time_zone: str = "UTC"
    offsets: Mapping[str, str] = field(default_factory=dict)
    positions: Positions | None = None

    @property
    def row_count(self) -> int:
        """Rows in it, over all inputs."""
        return sum(table.num_rows for table in self.rows.values())


def follows_from_rows(plan: RunnablePlan) -> bool:
    """Whether the rows in its windows, and those that wait, say all."""
    if isinstance(plan, QueryPlan):
        return not any(entry.window.traits.is_endless for entry in plan.inputs)
    return plan.follows_from_rows


def places_of(plan: RunnablePlan) -> tuple[tuple[QueryPlan, int], ...]:
    """Of each input the block that it belongs to, and its number there."""
    if isinstance(plan, QueryPlan):
        return tuple((plan, number) for number in range(len(plan.inputs)))
    return plan.places


def not_carried(name: str, why: str, hint: str) -> CheckpointError:
    """The refusal to hand a query over."""
    return CheckpointError(
        "WC424", f"the state of query {name!r} cannot be taken: {why}", hint=hint
    )


def not_in_buckets(carried: Carryover, buckets: int) -> CheckpointError:
    """The refusal to go on in another number of buckets than those that were saved."""
    then = len(carried.shards)
    return CheckpointError(
        "WC430",
        f"query {carried.name!r} ran in {then} buckets whose rows do not say all, and cannot go on "
        f"in {buckets}",
        hint=f"go on in as many buckets on Spark: connect(spark, buckets={then})",
    )
