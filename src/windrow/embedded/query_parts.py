"""What a query notes before a part of a step, and the rows that it is about to take in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.output.publish import PublisherMark
from windrow.plan.model import QueryPlan
from windrow.rows.prepare import Preparer
from windrow.rows.prepared_rows import PreparedRows
from windrow.rows.shared_rows import Shares, StreamRows
from windrow.windows.marks import DeepMark, Mark

if TYPE_CHECKING:
    from windrow.governor.bounded.answers import BoundedMark
    from windrow.plan.relations.tree_plan import RunnablePlan

__all__ = ["QueryMark", "QueryStep", "TakenRows", "preparers_of"]


@dataclass
class QueryMark:
    """How all parts of a query were before a part of a step; publisher: once it publishes."""

    shard: Any
    publisher: PublisherMark | None
    bounded: BoundedMark | None
    others: Mark
    missed: DeepMark | None  # None: no row was refused


@dataclass(frozen=True)
class QueryStep:
    """What a step brings to a query.

    rows: of the stream, None where time alone moves. shares: what readers of shared rows are given.
    missed: the times of rows that were refused, by input; all are later than the clock.
    is_by_arrival: rows may be of the very instant of the clock.
    """

    number: int
    clock: int
    stream: str | None = None
    rows: StreamRows | None = None
    shares: Shares = field(default_factory=dict)
    missed: Mapping[int, NDArray[np.int64]] = field(default_factory=dict)
    is_by_arrival: bool = False


class TakenRows(NamedTuple):
    """Rows of one input that are about to be taken: as they came, when they enter, as prepared."""

    batch: pa.RecordBatch
    instants: NDArray[np.int64]
    prepared: PreparedRows


def preparers_of(plan: RunnablePlan) -> list[Preparer]:
    """What prepares the rows of each input."""
    plans = [plan] if isinstance(plan, QueryPlan) else plan.plans
    return [Preparer(each, number) for each in plans for number in range(len(each.inputs))]
