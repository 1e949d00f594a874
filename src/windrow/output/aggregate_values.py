"""States of groups as the values of aggregates: exact sums rounded once, at the very end.

A sum that its type does not hold is a fault of its state alone: the value is NULL, and flagged.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from windrow.aggregate_functions import Form
from windrow.operators.lanes import read_value
from windrow.operators.ranks import values_of_ranks
from windrow.operators.sum_values import Values, sum_values
from windrow.operators.variances import variances
from windrow.output.combine import CodedUpdates
from windrow.output.state_log import States
from windrow.plan.model import Aggregate
from windrow.rows.shape import QueryShape, Reading

__all__ = ["aggregate_values"]


def aggregate_values(
    aggregate: Aggregate, reading: Reading, shape: QueryShape, updates: CodedUpdates | States
) -> Values:
    """The value of one aggregate for each state, and where its type does not hold it."""
    if reading.form is Form.ROWS:
        return pa.array(updates.count), None
    if reading.form is Form.DISTINCT:
        return pa.array(np.ascontiguousarray(updates.extras[:, reading.indexes[0]])), None
    if reading.form is Form.EXTREME:
        return _extreme(aggregate, reading.indexes[0], shape, updates), None
    read = [
        read_value(updates.lanes, updates.count, updates.layout, index) for index in reading.indexes
    ]
    if reading.form is Form.SPREAD:
        return variances(aggregate.traits, *read), None
    return sum_values(aggregate, read[0])


def _extreme(
    aggregate: Aggregate, index: int, shape: QueryShape, updates: CodedUpdates | States
) -> pa.Array:
    place = len(shape.distincts) + index
    words = np.ascontiguousarray(updates.extras[:, place])
    present = updates.extras[:, place + len(shape.extremes)] > 0
    extreme = shape.extremes[index]
    return values_of_ranks(words, present, aggregate.type.arrow, is_max=extreme.is_max)
