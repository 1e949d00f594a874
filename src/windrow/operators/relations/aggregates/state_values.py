"""States of groups as the values of the calls of an aggregate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from windrow.aggregate_functions import Form
from windrow.exact.kernels import INTEGER_LIMB, LIMB_BITS, LIMB_MASK
from windrow.operators.lanes import Matrix, ValueLanes
from windrow.operators.relations.aggregates.group_sums import SumStates
from windrow.operators.relations.aggregates.ordered.ordered_shape import ORDERED_FORMS
from windrow.operators.relations.aggregates.power_values import POWER_FORMS, power_values
from windrow.operators.relations.aggregates.shape import Reading
from windrow.operators.sum_values import Values, sum_values
from windrow.operators.variances import variances

__all__ = ["state_values"]


def state_values(
    reading: Reading,
    sums: SumStates,
    extremes: Sequence[pa.Array],
    ordered: Sequence[Sequence[pa.Array]] = (),
    bits: Sequence[Sequence[pa.Array]] = (),
) -> Values:
    """The value of a call in each state, and where its type does not hold it.

    ordered: of each order, what each of its picks shows. bits: of integers, which bits all, some
    and an odd number of them have.
    """
    if reading.form is Form.BITS:
        store, which = reading.indexes
        return bits[store][which].cast(reading.aggregate.type.arrow), None
    if reading.form in ORDERED_FORMS:
        order, pick = reading.indexes
        # An integer beyond 53 bits is the nearest double.
        return ordered[order][pick].cast(reading.aggregate.type.arrow, safe=False), None
    values, faults = _values(reading, sums, extremes)
    wanted = reading.aggregate.type.arrow
    return (values if values.type == wanted else values.cast(wanted)), faults


def _values(reading: Reading, sums: SumStates, extremes: Sequence[pa.Array]) -> Values:
    if reading.form is Form.ROWS:
        return pa.array(sums.counts), None
    if reading.form in (Form.EXTREME, Form.COLLECTED):
        return extremes[reading.indexes[0]], None
    read = [sums.value(index) for index in reading.indexes]
    if reading.form in POWER_FORMS:
        return power_values(reading.aggregate.traits, read), None
    if reading.form is Form.SPREAD:
        return variances(reading.aggregate.traits, *read), None
    return sum_values(reading.aggregate, read[0] if len(read) == 1 else _joined(read))


def _joined(parts: Sequence[ValueLanes]) -> ValueLanes:
    """The sum of numbers from sums of their parts, each of which begins a limb higher."""
    limbs = [_limbs(part) for part in parts]
    width = limbs[0].shape[1]
    whole = np.zeros((limbs[0].shape[0], width + len(parts) - 1), np.int64)
    for place, each in enumerate(limbs):
        whole[:, place : place + width] += each
    low_limb = INTEGER_LIMB if parts[0].narrow is not None else parts[0].low_limb
    return replace(parts[0], narrow=None, limbs=whole, low_limb=low_limb)


def _limbs(read: ValueLanes) -> Matrix:
    if read.narrow is None:
        return read.limbs
    return np.stack([read.narrow & LIMB_MASK, read.narrow >> LIMB_BITS], axis=1)
