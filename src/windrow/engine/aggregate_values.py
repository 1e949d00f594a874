"""States of groups as the values of aggregates: exact sums rounded once, at the very end."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.engine.combine import EntityTouches
from windrow.engine.ranks import values_of_ranks
from windrow.engine.shape import QueryShape, Reading
from windrow.engine.variances import doubles_of, variances
from windrow.errors import DataError
from windrow.exact.kernels import INTEGER_LIMB, LIMB_BITS
from windrow.joins.lanes import ValueLanes, Vector, read_value
from windrow.plan.model import Aggregate

__all__ = ["aggregate_values"]

_INT64 = np.iinfo(np.int64)
_TOO_LARGE = "sum a smaller value, such as x / 1000, or CAST it to DOUBLE"


def aggregate_values(
    aggregate: Aggregate, reading: Reading, shape: QueryShape, touches: EntityTouches
) -> pa.Array:
    """The value of one aggregate for each state."""
    if reading.kind == "count":
        return pa.array(touches.count)
    if reading.kind == "tally":
        return pa.array(np.ascontiguousarray(touches.extras[:, reading.indexes[0]]))
    if reading.kind == "extreme":
        return _extreme(aggregate, reading.indexes[0], shape, touches)
    read = [
        read_value(touches.lanes, touches.count, touches.layout, index) for index in reading.indexes
    ]
    if reading.kind == "variance":
        return variances(aggregate.function, *read)
    return _of_sum(aggregate, read[0])


def _extreme(
    aggregate: Aggregate, index: int, shape: QueryShape, touches: EntityTouches
) -> pa.Array:
    place = len(shape.distincts) + index
    words = np.ascontiguousarray(touches.extras[:, place])
    present = touches.extras[:, place + len(shape.extremes)] > 0
    extreme = shape.extremes[index]
    return values_of_ranks(words, present, aggregate.type.arrow, is_max=extreme.is_max)


def _of_sum(aggregate: Aggregate, read: ValueLanes) -> pa.Array:
    if aggregate.function == "count":
        return pa.array(np.ascontiguousarray(read.valid))
    empty = read.valid == 0
    if aggregate.function == "avg":
        scale = _scale(aggregate)
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = doubles_of(read) / scale / np.where(empty, 1, read.valid)
        return pa.array(mean, mask=empty if empty.any() else None)
    if aggregate.type.is_float:
        return pa.array(doubles_of(read), mask=empty if empty.any() else None)
    return _integers(read, empty, aggregate)


def _scale(aggregate: Aggregate) -> float:
    argument = aggregate.argument
    if argument is None or argument.type.name != "DECIMAL":
        return 1.0
    return float(10**argument.type.scale)


def _integers(read: ValueLanes, empty: NDArray[np.bool_], aggregate: Aggregate) -> pa.Array:
    mask = empty if empty.any() else None
    if read.narrow is not None and aggregate.type.name != "DECIMAL":
        return pa.array(np.ascontiguousarray(read.narrow), mask=mask)
    if read.narrow is not None:
        low, high = read.narrow, read.narrow >> 63
    else:
        low, high = _words_128(read, aggregate)
    if aggregate.type.name == "DECIMAL":
        return _decimals(low, high, mask, aggregate.type.arrow)
    if not np.array_equal(high, low >> 63):
        raise DataError(
            "WD302",
            "a SUM of integers is beyond 64 bits",
            hint="sum a DOUBLE or DECIMAL instead: SUM(CAST(x AS DOUBLE))",
        )
    return pa.array(low, mask=mask)


def _words_128(read: ValueLanes, aggregate: Aggregate) -> tuple[Vector, Vector]:
    """Integers of limbs as two words; what does not fit into 128 bits is an error."""
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
    top_fits = limbs[:, -1] == sign if first + 4 <= limbs.shape[1] - 1 else True
    if not (np.all(beyond == fill) and np.all(top_fits)):
        message = f"a {aggregate.function.upper()} is beyond 128 bits"
        raise DataError("WD303", message, hint=_TOO_LARGE)
    low = words[0] | (words[1] << LIMB_BITS)
    high = words[2] | (words[3] << LIMB_BITS)
    return low, high


def _decimals(
    low: Vector, high: Vector, mask: NDArray[np.bool_] | None, kind: pa.DataType
) -> pa.Array:
    pairs = np.stack([low, high], axis=1)
    validity = None if mask is None else pa.array(~mask).buffers()[1]
    decimals = pa.Array.from_buffers(kind, low.size, [validity, pa.py_buffer(pairs)])
    try:
        decimals.validate(full=True)
    except pa.ArrowInvalid:
        message = f"a SUM has more digits than {kind} holds"
        raise DataError("WD303", message, hint=_TOO_LARGE) from None
    return decimals
