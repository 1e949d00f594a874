"""/, % and DIV: NULL where the divisor is 0; of decimals exact, a quotient rounded once, half up.

A quotient of decimals that has more digits than its type is NULL here, and a fault (engine.faults).
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.rows.scalar.rounding import fit_decimal
from windrow.rows.scalar.values import Function, from_numpy, numbers, over_arrays
from windrow.schema import BIGINT, MAX_DECIMAL_DIGITS, ColumnType
from windrow.windows.column_words import array_of_words, words_of_array

__all__ = ["QUOTIENTS"]

_ARROW_DIGITS = 76  # of its widest decimals
_MIN = -(2**63)
_WIDE = Context(prec=400, rounding=ROUND_HALF_UP)


@over_arrays
def _divide(arguments: list[Any], kind: ColumnType) -> Any:
    dividend, divisor = arguments
    if kind.name == "DECIMAL":
        return _divide_decimals(dividend, divisor, kind)
    nothing = pa.scalar(None, pa.float64())
    return pc.if_else(pc.equal(divisor, 0.0), nothing, pc.divide(dividend, divisor))


def _divide_by_scalar(arguments: list[Any], kind: ColumnType) -> Any:
    dividend, divisor = arguments
    if not kind.is_float or not isinstance(divisor, pa.Scalar) or not divisor.as_py():
        return _divide(arguments, kind)
    return pc.divide(dividend, divisor)


def _divide_decimals(dividend: pa.Array, divisor: pa.Array, kind: ColumnType) -> pa.Array:
    """By Arrow, which cuts digits off: one digit more than wanted says how to round."""
    zero = pc.equal(divisor, pa.scalar(Decimal(0), divisor.type))
    divisor = pc.if_else(zero, pa.scalar(None, divisor.type), divisor)
    one, other = dividend.type, divisor.type
    # Arrow's quotient has scale s1 + p2 - s2 + 1, 4 at least, and p1 + p2 + 1 digits at most.
    more = max(0, kind.scale - one.scale - other.precision + other.scale)
    if one.precision + more + other.precision + 4 > _ARROW_DIGITS:
        return _by_row(dividend, divisor, lambda a, b: fit_decimal(_WIDE.divide(a, b), kind), kind)
    finer = dividend.cast(pa.decimal256(one.precision + more, one.scale + more))
    quotient = pc.divide(finer, divisor.cast(pa.decimal256(other.precision, other.scale)))
    # Rounding up may need a digit more.
    roomy = quotient.cast(pa.decimal256(quotient.type.precision + 1, quotient.type.scale))
    rounded = pc.round(roomy, kind.scale, round_mode="half_towards_infinity")
    try:
        return rounded.cast(kind.arrow)
    except pa.ArrowInvalid:  # some quotient has too many digits
        values = (
            None if value is None else fit_decimal(value, kind) for value in rounded.to_pylist()
        )
        return pa.array(list(values), kind.arrow)


@over_arrays
def _remainder(arguments: list[Any], kind: ColumnType) -> Any:
    if kind.name == "DECIMAL":
        return _remainder_of_decimals(arguments, kind)
    dividend, divisor = (numbers(column) for column in arguments)
    nonzero = divisor != 0
    if kind == BIGINT:
        # The remainder by -1 is that by 1, without the one quotient that does not fit.
        divisor = np.where(nonzero & (divisor != -1), divisor, 1)
    with np.errstate(all="ignore"):
        return from_numpy(np.fmod(dividend, divisor), kind, arguments, nonzero)


@over_arrays
def _whole_quotient(arguments: list[Any], kind: ColumnType) -> Any:
    """Of integers, cut off towards 0; the one quotient beyond 64 bits is NULL, and a fault."""
    dividend, divisor = (numbers(column) for column in arguments)
    defined = (divisor != 0) & ~((dividend == _MIN) & (divisor == -1))
    divisor = np.where(defined, divisor, 1)
    # NumPy rounds down: what is cut off first leaves nothing to round.
    found = (dividend - np.fmod(dividend, divisor)) // divisor
    return from_numpy(found, kind, arguments, defined)


def _remainder_of_decimals(arguments: list[Any], kind: ColumnType) -> pa.Array:
    digits = [column.type.precision - column.type.scale + kind.scale for column in arguments]
    if max(digits) > MAX_DECIMAL_DIGITS:
        one, other = arguments
        return _by_row(one, other, lambda a, b: _WIDE.remainder(a, b) if b else None, kind)
    dividend, divisor = (
        words_of_array(column)[0] * 10 ** (kind.scale - column.type.scale) for column in arguments
    )
    missing = divisor == 0
    for column in arguments:
        if column.null_count:
            missing = missing | column.is_null().to_numpy(zero_copy_only=False)
    return array_of_words(np.fmod(dividend, np.where(missing, 1, divisor)), missing, kind.arrow)


def _by_row(
    one: pa.Array,
    other: pa.Array,
    function: Callable[[Decimal, Decimal], Decimal | None],
    kind: ColumnType,
) -> pa.Array:
    """For digits that no kernel holds; NULL where either is."""
    pairs = zip(one.to_pylist(), other.to_pylist(), strict=True)
    found = [None if None in pair else function(*pair) for pair in pairs]
    step = Decimal(1).scaleb(-kind.scale)
    shown = [None if each is None else each.quantize(step, context=_WIDE) for each in found]
    return pa.array(shown, kind.arrow)


@over_arrays
def _positive_remainder(arguments: list[Any], kind: ColumnType) -> Any:
    """PMOD: a negative remainder has the divisor added, and is taken once more."""
    dividend, divisor = arguments
    if kind.name == "DECIMAL":
        return _by_row(
            dividend, divisor, lambda a, b: fit_decimal(_positive(a, b), kind) if b else None, kind
        )
    remainder = _remainder(arguments, kind)
    again = _remainder([pc.add(remainder, divisor), divisor], kind)
    return pc.if_else(pc.less(remainder, pa.scalar(0, kind.arrow)), again, remainder)


def _positive(dividend: Decimal, divisor: Decimal) -> Decimal:
    remainder = _WIDE.remainder(dividend, divisor)
    return remainder if remainder >= 0 else _WIDE.remainder(remainder + divisor, divisor)


QUOTIENTS: dict[str, Function] = {
    "try_divide": _divide_by_scalar,
    "try_mod": _remainder,
    "pmod": _positive_remainder,
    "/": _divide_by_scalar,
    "%": _remainder,
    "div": _whole_quotient,
}
