"""CORR, COVAR, REGR, SKEWNESS and KURTOSIS from exact sums, rounded once, at the very end.

Sums of products, cubes and fourth powers are kept without rounding, so that what large values
left behind when they went is nothing; here they are whole numbers in units of a power of two.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.aggregate_functions import AggregateFunction, Form
from windrow.exact.kernels import LIMB_BITS, LOWEST_BIT
from windrow.operators.lanes import ValueLanes
from windrow.operators.variances import doubles_of
from windrow.plan.expressions import Call, Expr
from windrow.schema import DOUBLE

__all__ = ["POWER_FORMS", "power_parts", "power_values"]

POWER_FORMS = (Form.PAIRED, Form.MOMENT)
# Of a pair: how many of the measures y, x, yx, xx, yy a formula reads, two each but the first two.
_READ = {"covariance": 4, "products": 4, "slope": 6, "intercept": 6, "squares of x": 6}
# Which measures make each sum.
_PAIRED = ((0,), (1,), (2, 3), (4, 5), (6, 7))
_MOMENT = ((0,), (1, 2), (3, 4, 5, 6), (7, 8, 9, 9, 10, 10, 11, 12))


def power_parts(function: AggregateFunction, arguments: Sequence[Expr]) -> list[Expr]:
    """The numbers that are summed: what is exact of a product is it and what it was rounded by."""
    if function.form is Form.MOMENT:
        return _moment_parts(arguments[0])
    y, x = arguments
    own_y, own_x = _where(y, x), _where(x, y)
    parts = [own_y, own_x, *_both("product", y, x)]
    parts += [*_both("square", own_x), *_both("square", own_y)]
    return parts[: _READ.get(function.formula, len(parts))]


def _moment_parts(value: Expr) -> list[Expr]:
    square, error = _both("square", value)
    cubes = [*_both("product", square, value), *_both("product", error, value)]
    fourths = [*_both("square", square), *_both("product", square, error), *_both("square", error)]
    # The product of a square and its error counts twice: see _MOMENT.
    first, second, third, fourth, fifth, sixth = fourths
    return [value, square, error, *cubes, first, second, third, fourth, fifth, sixth]


def _both(function: str, *arguments: Expr) -> list[Expr]:
    return [Call(name, arguments, DOUBLE) for name in (function, f"{function}_error")]


def _where(value: Expr, other: Expr) -> Expr:
    """The value in rows in which the other is not NULL: as the product with 1 of what is there."""
    return Call("first_of_pair", (value, other), DOUBLE)


def power_values(function: AggregateFunction, reads: Sequence[ValueLanes]) -> pa.Array:
    """The value of each state."""
    is_moment = function.form is Form.MOMENT
    sums = _MOMENT if is_moment else _PAIRED
    used = [places for places in sums if places[-1] < len(reads)]
    low = reads[0].low_limb
    exponent = LIMB_BITS * low + LOWEST_BIT
    wholes = [_wholes(read) for read in reads]
    count = reads[0].valid
    out: list[float | None] = []
    special = _special(function, reads, 1 if is_moment else 2)
    for state, number in enumerate(count.tolist()):
        found = None
        if number >= function.fewest_values:
            found = special[state]
            if found is None:
                totals = [sum(wholes[place][state] for place in places) for places in used]
                found = _FORMULAS[function.formula](function, number, totals, exponent)
        out.append(found)
    return pa.array(out, pa.float64(), from_pandas=False)


def _wholes(read: ValueLanes) -> list[int]:
    return [
        sum(limb << (LIMB_BITS * place) for place, limb in enumerate(row) if limb)
        for row in read.limbs.tolist()
    ]


def _special(
    function: AggregateFunction, reads: Sequence[ValueLanes], values: int
) -> list[float | None]:
    """NaN where a value is infinite or NaN; where only a product is too large, what it tells."""
    found: NDArray[np.object_] = np.full(reads[0].valid.size, None, np.object_)
    for place, read in enumerate(reads):
        flags = np.any(read.special > 0, axis=1)
        if place >= values and function.formula in ("covariance", "products"):
            found[flags] = doubles_of(read)[flags]
        else:
            found[flags] = math.nan
    for read in reads[:values]:
        found[np.any(read.special > 0, axis=1)] = math.nan
    return [None if each is None else float(each) for each in found]


# ---- formulas: of a count and of sums in units of 2**exponent, which is 0 or less


Totals = list[int]


def _central(number: int, product: int, one: int, other: int, exponent: int) -> int:
    """Count * (sum of products) - product of sums, in units of 2**(2 * exponent)."""
    return ((number * product) << -exponent) - one * other


def _covariance(function: AggregateFunction, number: int, sums: Totals, exponent: int) -> float:
    central = _central(number, sums[2], sums[0], sums[1], exponent)
    return _ratio(central, number * (number - function.rows_less), 2 * exponent)


def _products(_: AggregateFunction, number: int, sums: Totals, exponent: int) -> float:
    return _ratio(_central(number, sums[2], sums[0], sums[1], exponent), number, 2 * exponent)


def _squares_of_x(_: AggregateFunction, number: int, sums: Totals, exponent: int) -> float:
    central = _central(number, sums[3], sums[1], sums[1], exponent)
    return _ratio(max(central, 0), number, 2 * exponent)


def _squares_of_y(_: AggregateFunction, number: int, sums: Totals, exponent: int) -> float:
    central = _central(number, sums[4], sums[0], sums[0], exponent)
    return _ratio(max(central, 0), number, 2 * exponent)


def _slope(_: AggregateFunction, number: int, sums: Totals, exponent: int) -> float | None:
    along = _central(number, sums[3], sums[1], sums[1], exponent)
    return (
        _ratio(_central(number, sums[2], sums[0], sums[1], exponent), along) if along > 0 else None
    )


def _intercept(_: AggregateFunction, number: int, sums: Totals, exponent: int) -> float | None:
    along = _central(number, sums[3], sums[1], sums[1], exponent)
    both = _central(number, sums[2], sums[0], sums[1], exponent)
    if along <= 0:
        return None
    return _ratio(sums[0] * along - both * sums[1], number * along, exponent)


def _correlation(_: AggregateFunction, number: int, sums: Totals, exponent: int) -> float | None:
    both, along, across = _three(number, sums, exponent)
    if along <= 0 or across <= 0:
        return None
    found = min(_root(both * both, along * across), 1.0)
    return -found if both < 0 else found


def _determination(_: AggregateFunction, number: int, sums: Totals, exponent: int) -> float | None:
    both, along, across = _three(number, sums, exponent)
    if along <= 0:
        return None
    return 1.0 if across <= 0 else min(_ratio(both * both, along * across), 1.0)


def _three(number: int, sums: Totals, exponent: int) -> tuple[int, int, int]:
    return (
        _central(number, sums[2], sums[0], sums[1], exponent),
        _central(number, sums[3], sums[1], sums[1], exponent),
        _central(number, sums[4], sums[0], sums[0], exponent),
    )


def _third(_: AggregateFunction, number: int, sums: Totals, exponent: int) -> float | None:
    one, two, three = (each << -exponent * place for place, each in enumerate(sums[:3]))
    second = number * two - one * one
    if second <= 0:
        return None
    third = number * number * three - 3 * number * one * two + 2 * one**3
    found = _root(third * third, second**3)
    return -found if third < 0 else found


def _fourth(_: AggregateFunction, number: int, sums: Totals, exponent: int) -> float | None:
    one, two, three, four = (each << -exponent * place for place, each in enumerate(sums))
    second = number * two - one * one
    if second <= 0:
        return None
    fourth = number**3 * four - 4 * number**2 * one * three + 6 * number * one**2 * two
    fourth -= 3 * one**4
    return _ratio(fourth - 3 * second**2, second**2)


_FORMULAS: Mapping[str, Callable[[AggregateFunction, int, Totals, int], float | None]] = {
    "covariance": _covariance,
    "products": _products,
    "squares of x": _squares_of_x,
    "squares of y": _squares_of_y,
    "slope": _slope,
    "intercept": _intercept,
    "correlation": _correlation,
    "determination": _determination,
    "third": _third,
    "fourth": _fourth,
}


def _ratio(number: int, divisor: int, exponent: int = 0) -> float:
    """The double that is nearest to number / divisor * 2**exponent."""
    try:
        return number / (divisor << -exponent)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def _root(number: int, divisor: int) -> float:
    """The root of number / divisor, made of a ratio near 1."""
    shift = (divisor.bit_length() - number.bit_length()) // 2
    moved = (number << 2 * shift) / divisor if shift >= 0 else number / (divisor << -2 * shift)
    return math.ldexp(math.sqrt(moved), -shift)
