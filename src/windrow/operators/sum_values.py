"""Exact sums as the values of COUNT, SUM and AVG, rounded once, at the very end.

A sum that its type does not hold is a fault of its state alone: the value is NULL, and flagged.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.aggregate_functions import Form
from windrow.exact.kernels import INTEGER_LIMB, LIMB_BITS
from windrow.operators.digits import DigitLanes
from windrow.operators.lanes import ValueLanes, Vector
from windrow.operators.variances import doubles_of
from windrow.plan.model import Aggregate

__all__ = ["Flags", "Values", "sum_values", "too_large"]

Flags = NDArray[np.bool_]
Values = tuple[pa.Array, Flags | None]
_LOW_WORD = (1 << 64) - 1


def sum_values(aggregate: Aggregate, read: ValueLanes | DigitLanes) -> Values:
    """A count, sum or mean of each state, and where its type does not hold it."""
    if aggregate.traits.form is Form.COUNT:
        return pa.array(np.ascontiguousarray(read.valid)), None
    empty = read.valid == 0
    if aggregate.traits.form is Form.MEAN:
        scale = _scale(aggregate)
        has_empty = bool(empty.any())
        rows = np.where(empty, 1, read.valid) if has_empty else read.valid
        with np.errstate(invalid="ignore", divide="ignore"):
            total = doubles_of(read) if scale == 1.0 else doubles_of(read) / scale
            mean = total / rows
        return pa.array(mean, mask=empty if has_empty else None), None
    if aggregate.type.is_float:
        return pa.array(doubles_of(read), mask=empty if empty.any() else None), None
    return _integers(read, empty, aggregate)


def too_large(aggregate: Aggregate, shown: str) -> tuple[str, str, str]:
    """Code, message and hint for a sum, shown as text, that its type does not hold."""
    if aggregate.type.name == "DECIMAL":
        hint = "sum a smaller value, such as x / 1000, or CAST it to DOUBLE"
        return "WD303", f"{shown} has more digits than {aggregate.type} holds", hint
    hint = "sum a DOUBLE or DECIMAL instead: SUM(CAST(x AS DOUBLE))"
    return "WD302", f"{shown} is beyond 64 bits", hint


def _scale(aggregate: Aggregate) -> float:
    argument = aggregate.argument
    if argument is None or argument.type.name != "DECIMAL":
        return 1.0
    return float(10**argument.type.scale)


def _integers(read: ValueLanes | DigitLanes, empty: Flags, aggregate: Aggregate) -> Values:
    is_decimal = aggregate.type.name == "DECIMAL"
    if read.narrow is not None and not is_decimal:
        return pa.array(
            np.ascontiguousarray(read.narrow), mask=empty if empty.any() else None
        ), None
    if read.narrow is not None:
        low, high, faults = read.narrow, read.narrow >> 63, np.zeros(empty.size, np.bool_)
    else:
        low, high, faults = _words_128(read)
    if is_decimal:
        faults |= _beyond(low, high, aggregate.type.precision)
    else:
        faults |= high != low >> 63
    faults &= ~empty
    missing = empty | faults
    mask = missing if missing.any() else None
    low, high = (
        (np.where(faults, 0, words) for words in (low, high)) if faults.any() else (low, high)
    )
    if is_decimal:
        values = _decimals(low, high, mask, aggregate.type.arrow)
    else:
        values = pa.array(low, mask=mask)
    return values, faults if faults.any() else None


def _words_128(read: ValueLanes | DigitLanes) -> tuple[Vector, Vector, Flags]:
    """Integers of limbs as two words, and where they do not fit into 128 bits."""
    # One limb more, for what the highest one holds beyond its 32 bits.
    limbs = np.pad(read.limbs, ((0, 0), (0, 1)))
    carry = np.zeros(limbs.shape[0], np.int64)
    for limb in range(limbs.shape[1] - 1):
        total = limbs[:, limb] + carry
        limbs[:, limb] = total & ((1 << LIMB_BITS) - 1)
        carry = total >> LIMB_BITS
    limbs[:, -1] += carry
    first = INTEGER_LIMB - read.low_limb
    sign = limbs[:, -1] >> 63
    words = []
    for place in range(4):
        at = first + place
        word = limbs[:, at] if at < limbs.shape[1] else sign
        words.append(word & ((1 << LIMB_BITS) - 1))
    beyond = limbs[:, first + 4 : -1] if first + 4 < limbs.shape[1] else limbs[:, :0]
    fill = (sign & ((1 << LIMB_BITS) - 1))[:, None]
    faults = (beyond != fill).any(axis=1)
    if first + 4 <= limbs.shape[1] - 1:
        faults |= limbs[:, -1] != sign
    low = words[0] | (words[1] << LIMB_BITS)
    high = words[2] | (words[3] << LIMB_BITS)
    # The highest bit of 128 is the sign: a positive number that reaches it does not fit.
    return low, high, faults | ((high >> 63) != sign)


def _beyond(low: Vector, high: Vector, precision: int) -> Flags:
    """Where numbers of two words have more digits."""
    limit = 10**precision
    faults = np.zeros(low.size, np.bool_)
    # What has no more than half of the limit's high word is below it: the rest is looked at.
    for place in np.flatnonzero(np.abs(high) >= limit >> 65).tolist():
        number = (int(high[place]) << 64) | (int(low[place]) & _LOW_WORD)
        faults[place] = abs(number) >= limit
    return faults


def _decimals(low: Vector, high: Vector, mask: Flags | None, kind: pa.DataType) -> pa.Array:
    pairs = np.stack([low, high], axis=1)
    validity = None if mask is None else pa.array(~mask).buffers()[1]
    return pa.Array.from_buffers(kind, low.size, [validity, pa.py_buffer(pairs)])
