"""Aggregates over frames, from all values at once: sums exact and rounded once, at the very end."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from typing import TypeGuard

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from windrow.aggregate_functions import AGGREGATE_FUNCTIONS, AggregateFunction, Form
from windrow.errors import DataError
from windrow.operators.ranks import ranks_of_values, values_of_ranks
from windrow.operators.relations.changes import Vector
from windrow.operators.relations.frame_kernels import distinct_counts
from windrow.operators.relations.frame_sums import (
    Doubles,
    double_sums,
    integer_sums,
    prefix_differences,
    scaled_integers,
)
from windrow.operators.relations.row_codes import RowCodes
from windrow.plan.expressions import Expr, Literal
from windrow.plan.relations.algebra import WindowCall
from windrow.windows.column_words import words_of_array
from windrow.windows.order_bytes import order_bytes
from windrow.windows.value_bytes import is_coded
from windrow.windows.wide_decimals import is_wide_decimal, words_of_wide

__all__ = ["Framed", "frame_aggregate"]

Flags = NDArray[np.bool_]
_LOW_WORD = (1 << 64) - 1


class Framed:
    """Frames [low, high) over rows, for those asked for; begins: where the segment of each does."""

    def __init__(self, low: Vector, high: Vector, begins: Vector) -> None:
        self.low, self.high, self.begins = low, high, begins

    def count(self, is_counted: Flags) -> Vector:
        """How many rows of each frame are flagged."""
        return prefix_differences(is_counted.astype(np.int64), self.low, self.high)


def frame_aggregate(call: WindowCall, values: Sequence[pa.Array], framed: Framed) -> pa.Array:
    """The aggregate over each frame; values: the arguments in all rows."""
    function = AGGREGATE_FUNCTIONS[call.function]
    if function.form is Form.ROWS:
        return pa.array(framed.high - framed.low)
    return _FORMS[function.form](function, call, values, framed)


def _is_valid(values: pa.Array) -> Flags:
    valid: Flags = values.is_valid().to_numpy(zero_copy_only=False)
    return valid


def _count(
    function: AggregateFunction, _call: WindowCall, values: Sequence[pa.Array], framed: Framed
) -> pa.Array:
    flags = _is_valid(values[0])
    if function.only_true:
        flags = pc.fill_null(values[0], False).to_numpy(zero_copy_only=False)
    return pa.array(framed.count(flags))


def _distinct(
    _function: AggregateFunction, _call: WindowCall, values: Sequence[pa.Array], framed: Framed
) -> pa.Array:
    is_counted = np.logical_and.reduce([_is_valid(each) for each in values])
    coder = RowCodes([each.type for each in values])
    codes, _ = coder.acquire(values, len(values[0]))
    counts = np.zeros(coder.capacity, np.int64)
    out = np.empty(framed.low.size, np.int64)
    distinct_counts(codes, is_counted, framed.begins, framed.low, framed.high, counts, out)
    return pa.array(out)


def _sum(
    _function: AggregateFunction, call: WindowCall, values: Sequence[pa.Array], framed: Framed
) -> pa.Array:
    (column,) = values
    missing = framed.count(_is_valid(column)) == 0
    if pa.types.is_floating(column.type):
        return pa.array(_special_sums(column, framed), mask=missing)
    if is_wide_decimal(column.type):
        return _decimals(_wide_sums(column, framed), missing, call)
    sums = integer_sums(words_of_array(column)[0], framed.low, framed.high)
    if pa.types.is_decimal(column.type):
        return _decimals([sums.whole(place) for place in range(missing.size)], missing, call)
    beyond = ~sums.is_narrow & ~missing
    if beyond.any():
        shown = sums.whole(int(np.flatnonzero(beyond)[0]))
        hint = "sum a DOUBLE or DECIMAL instead: SUM(CAST(x AS DOUBLE))"
        raise DataError("WD302", f"{call.field.name} is {shown}, beyond 64 bits", hint=hint)
    return pa.array(sums.narrow(), mask=missing)


def _decimals(numbers: Sequence[int], missing: Flags, call: WindowCall) -> pa.Array:
    kind = call.field.type
    limit = 10**kind.precision
    if any(abs(number) >= limit for number in numbers):
        hint = "sum a smaller value, such as x / 1000, or CAST it to DOUBLE"
        message = f"{call.field.name} has more digits than {kind} holds"
        raise DataError("WD303", message, hint=hint)
    pairs = np.empty((len(numbers), 2), np.uint64)
    pairs[:, 0] = np.array([number & _LOW_WORD for number in numbers], np.uint64)
    pairs[:, 1] = np.array([(number >> 64) & _LOW_WORD for number in numbers], np.uint64)
    validity = pa.array(~missing).buffers()[1] if missing.any() else None
    return pa.Array.from_buffers(kind.arrow, len(numbers), [validity, pa.py_buffer(pairs)])


def _wide_sums(column: pa.Array, framed: Framed) -> list[int]:
    words = words_of_wide(column).tolist()
    sums = list(accumulate(((high << 64) + (low & _LOW_WORD) for high, low in words), initial=0))
    pairs = zip(framed.low.tolist(), framed.high.tolist(), strict=True)
    return [sums[high] - sums[low] for low, high in pairs]


def _doubles(column: pa.Array) -> Doubles:
    found: Doubles = column.cast(pa.float64()).fill_null(0.0).to_numpy(zero_copy_only=False)
    return found


def _special_sums(column: pa.Array, framed: Framed) -> Doubles:
    """Sums of doubles; infinities and NaN among the values tell."""
    doubles = _doubles(column)
    is_finite = np.isfinite(doubles)
    out = double_sums(np.where(is_finite, doubles, 0.0), framed.low, framed.high)
    if is_finite.all():
        return out
    plus, minus, nan = (
        framed.count(flags) > 0
        for flags in (doubles == np.inf, doubles == -np.inf, np.isnan(doubles))
    )
    out[plus] = np.inf
    out[minus] = -np.inf
    out[nan | (plus & minus)] = np.nan
    return out


def _mean(
    _function: AggregateFunction, _call: WindowCall, values: Sequence[pa.Array], framed: Framed
) -> pa.Array:
    (column,) = values
    count = framed.count(_is_valid(column))
    scale = 1.0
    if pa.types.is_floating(column.type):
        sums = _special_sums(column, framed)
    elif is_wide_decimal(column.type):
        sums = np.array(_wide_sums(column, framed), np.float64)
    else:
        sums = integer_sums(words_of_array(column)[0], framed.low, framed.high).doubles()
    if pa.types.is_decimal(column.type):
        scale = float(10**column.type.scale)
    return pa.array(sums / scale / np.maximum(count, 1), mask=count == 0)


def _spread(
    function: AggregateFunction, _call: WindowCall, values: Sequence[pa.Array], framed: Framed
) -> pa.Array:
    """(n * sum of squares - (sum)**2) / n / (n - rows_less), rounded once, or its root."""
    (column,) = values
    doubles = _doubles(column)
    is_finite = np.isfinite(doubles)
    with np.errstate(over="ignore", invalid="ignore"):
        is_huge = is_finite & np.isinf(doubles * doubles)
    plain = np.where(is_finite & ~is_huge, doubles, 0.0)
    integers, exponent = scaled_integers(plain)
    sums = list(accumulate(integers, initial=0))
    squares = list(accumulate((each * each for each in integers), initial=0))
    count = framed.count(_is_valid(column))
    out = np.zeros(count.size, np.float64)
    frames = zip(framed.low.tolist(), framed.high.tolist(), count.tolist(), strict=True)
    for place, (low, high, number) in enumerate(frames):
        if number >= function.fewest_values:
            total = sums[high] - sums[low]
            distance = number * (squares[high] - squares[low]) - total * total
            out[place] = _ratio(distance, number * (number - function.rows_less), 2 * exponent)
    out[framed.count(is_huge) > 0] = np.inf
    out[framed.count(~is_finite) > 0] = np.nan
    if function.is_root:
        out = np.sqrt(out)
    return pa.array(out, mask=count < function.fewest_values)


def _ratio(number: int, divisor: int, exponent: int) -> float:
    """The double that is nearest to number / divisor * 2**exponent."""
    try:
        if exponent >= 0:
            return (number << exponent) / divisor
        return number / (divisor << -exponent)
    except OverflowError:
        return math.inf


def _extreme(
    function: AggregateFunction, _call: WindowCall, values: Sequence[pa.Array], framed: Framed
) -> pa.Array:
    (column,) = values
    present = framed.count(_is_valid(column)) > 0
    if is_coded(column.type) or is_wide_decimal(column.type):
        return _extreme_by_order(column, framed, present, function.is_greatest)
    ranks, flags = ranks_of_values(column, is_max=function.is_greatest)
    # A NULL ranks below everything, or as the lowest value, which it does not hide.
    ranks = np.where(flags == 0, np.iinfo(np.int64).min, ranks) if flags.size else ranks
    best = _maxima(ranks, framed)
    return values_of_ranks(best, present, column.type, is_max=function.is_greatest)


def _extreme_by_order(
    column: pa.Array, framed: Framed, present: Flags, is_greatest: bool
) -> pa.Array:
    if pa.types.is_nested(column.type):
        keys = order_bytes(column)
        best = _extreme_by_order(keys, framed, present, is_greatest)
        return column.take(pc.index_in(best, value_set=keys))
    different = column.dictionary_encode()
    ordered = pc.sort_indices(different.dictionary).to_numpy()
    rank = np.empty(ordered.size, np.int64)
    rank[ordered] = np.arange(ordered.size)
    valid = _is_valid(column)
    places = different.indices.fill_null(0).to_numpy(zero_copy_only=False)
    ranks = np.full(len(column), np.iinfo(np.int64).min)
    ranks[valid] = rank[places[valid]] if is_greatest else -rank[places[valid]]
    best = np.abs(np.where(present, _maxima(ranks, framed), 0))
    index = ordered[best] if ordered.size else best
    return different.dictionary.take(pa.array(index, mask=~present))


def _maxima(ranks: Vector, framed: Framed) -> Vector:
    """The largest rank of each frame, of two spans of a power of two that cover it."""
    lengths = framed.high - framed.low
    out = np.full(lengths.size, np.iinfo(np.int64).min)
    level, span = 0, ranks
    longest = int(lengths.max()) if lengths.size else 0
    while (1 << level) <= longest:
        size = 1 << level
        chosen = np.flatnonzero((lengths >= size) & (lengths < 2 * size))
        begin, end = framed.low[chosen], framed.high[chosen]
        out[chosen] = np.maximum(span[begin], span[end - size])
        span = np.maximum(span[:-size], span[size:])
        level += 1
    return out


def _ranked(
    function: AggregateFunction, call: WindowCall, values: Sequence[pa.Array], framed: Framed
) -> pa.Array:
    """The value at a fraction of the way through each frame; equal frames are sorted once."""
    column = values[0]
    fraction, is_descending = (each.value for each in call.arguments[1:] if _is_constant(each))
    found: dict[tuple[int, int], object] = {}
    frames = list(zip(framed.low.tolist(), framed.high.tolist(), strict=True))
    for low, high in dict.fromkeys(frames):
        inside = column[low:high].drop_null()
        order = "descending" if is_descending else "ascending"
        ordered = inside.take(pc.sort_indices(inside, sort_keys=[("", order)]))
        if is_descending and pa.types.is_floating(inside.type):
            ordered = _largest_first(ordered)
        found[low, high] = _at_fraction(
            ordered, float(str(fraction)), is_nearest=function.is_nearest
        )
    return pa.array([found[frame] for frame in frames], call.field.type.arrow)


def _is_constant(argument: Expr) -> TypeGuard[Literal]:
    return isinstance(argument, Literal)


def _largest_first(ordered: pa.Array) -> pa.Array:
    """Descending numbers with NaN, which Arrow puts last, before all others."""
    is_nan = pc.is_nan(ordered)
    return pa.concat_arrays([ordered.filter(is_nan), ordered.filter(pc.invert(is_nan))])


def _at_fraction(ordered: pa.Array, fraction: float, *, is_nearest: bool) -> object:
    size = len(ordered)
    if not size:
        return None
    if is_nearest:
        return ordered[max(math.ceil(fraction * size) - 1, 0)].as_py()
    position = fraction * (size - 1)
    below = math.floor(position)
    part = position - below
    low = float(ordered[below].as_py())
    high = float(ordered[below + 1].as_py()) if part > 0 else low
    return low if part == 0 or low == high else (1.0 - part) * low + part * high


_FORMS: Mapping[Form, Callable[..., pa.Array]] = {
    Form.COUNT: _count,
    Form.SUM: _sum,
    Form.MEAN: _mean,
    Form.SPREAD: _spread,
    Form.EXTREME: _extreme,
    Form.DISTINCT: _distinct,
    Form.ABOUT_DISTINCT: _distinct,
    Form.RANKED: _ranked,
}
