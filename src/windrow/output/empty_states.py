"""What there is to publish where there are no rows."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from windrow.operators.lanes import LaneLayout
from windrow.operators.partial import Partial
from windrow.output.combine import CodedUpdates
from windrow.rows.shape import QueryShape

__all__ = ["no_updates", "state_of_nothing"]


def state_of_nothing(shape: QueryShape, at: int) -> CodedUpdates:
    """The state of an ungrouped aggregate over no rows."""
    layout = LaneLayout.smallest(shape.kinds)
    zero = np.zeros(1, np.int64)
    lanes = np.zeros((1, layout.lane_count), np.int64)
    extras = np.zeros((1, shape.extra_count), np.int64)
    when, group = np.array([at], np.int64), np.zeros(1, np.int32)
    return CodedUpdates(when, group, zero, lanes, layout, extras)


def no_updates(shape: QueryShape) -> Partial:
    """A partial result of a step in which nothing happened."""
    layout = LaneLayout.smallest(shape.kinds)
    none = np.empty(0, np.int64)
    lanes = np.zeros((0, layout.lane_count), np.int64)
    groups = pa.RecordBatch.from_arrays([], names=[])
    return Partial(none, none.astype(np.int32), none, lanes, layout, groups, 0)
