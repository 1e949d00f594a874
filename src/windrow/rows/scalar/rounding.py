"""ROUND, CEIL and FLOOR: half is rounded away from zero, by the decimal digits that a value shows.

As in Spark, ROUND(2.675, 2) is 2.68, although the double is a little below 2.675: what counts is
the shortest decimal text of the double. That text is only made for values next to a half; all
others are rounded by whole columns.
"""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Context, Decimal, InvalidOperation
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.rows.scalar.values import Function, from_numpy, map_distinct, numbers, over_arrays
from windrow.schema import BIGINT, DOUBLE, ColumnType

__all__ = ["ROUNDING", "decimal_to_scale", "fit_decimal"]

_WIDE = Context(prec=400, rounding=ROUND_HALF_UP, Emax=10**9, Emin=-(10**9))
_EVEN = Context(prec=400, rounding=ROUND_HALF_EVEN, Emax=10**9, Emin=-(10**9))
_NEAR_HALF = 1e-4
_LARGE = 2.0**40  # scaled values beyond leave too few bits to see how near a half is
_MAX_VECTOR_DIGITS = 15


def fit_decimal(value: Decimal, kind: ColumnType) -> Decimal | None:
    """The value with the scale of the type, None where it has too many digits or is no number."""
    if not value.is_finite() or (value and value.adjusted() > kind.precision - kind.scale):
        return None
    rounded = value.quantize(Decimal(1).scaleb(-kind.scale), context=_WIDE)
    return rounded if len(rounded.as_tuple().digits) <= kind.precision else None


def decimal_to_scale(column: pa.Array, kind: ColumnType) -> pa.Array:
    """Decimals in another decimal type, rounded; NULL where they do not fit."""
    try:
        if column.type.scale <= kind.scale:
            return column.cast(kind.arrow)
        # A carry may need one digit more; Arrow gives 0 without a word where there is none.
        roomy = column.cast(pa.decimal128(column.type.precision + 1, column.type.scale))
        rounded = pc.round(roomy, kind.scale, round_mode="half_towards_infinity")
        return rounded.cast(kind.arrow)
    except (pa.ArrowInvalid, ValueError):
        return map_distinct(
            column, lambda value: None if value is None else fit_decimal(value, kind), kind.arrow
        )


def _round(arguments: list[Any], kind: ColumnType) -> Any:
    value, digits = arguments[0], arguments[1].as_py()
    return over_arrays(lambda columns, kind: _to_digits(columns[0], digits, kind))([value], kind)


@over_arrays
def _bankers_round(arguments: list[Any], kind: ColumnType) -> Any:
    """Half goes to the even neighbour; digit by digit, for each different value."""
    column, digits = arguments[0], arguments[1][0].as_py() if len(arguments[1]) else 0
    return map_distinct(column, lambda value: _to_even(value, digits, kind), kind.arrow)


def _to_even(value: Any, digits: int, kind: ColumnType) -> Any:
    if value is None or (isinstance(value, float) and not np.isfinite(value)):
        return value
    rounded = _quantized(Decimal(repr(value) if kind.is_float else value), digits, _EVEN)
    if kind.name == "DECIMAL":
        return fit_decimal(rounded, kind)
    if kind.is_float:
        return float(rounded) + 0.0
    return int(rounded) if -(2**63) <= rounded < 2**63 else None


def _to_digits(column: pa.Array, digits: int, kind: ColumnType) -> pa.Array:
    if pa.types.is_decimal(column.type):
        return map_distinct(column, lambda value: _decimal(value, digits, kind), kind.arrow)
    if kind == BIGINT:
        if digits >= 0:
            return column
        return map_distinct(column, lambda value: _integer(value, digits), kind.arrow)
    return _doubles(column, digits)


def _decimal(value: Decimal | None, digits: int, kind: ColumnType) -> Decimal | None:
    if value is None:
        return None
    return fit_decimal(_quantized(value, digits), kind)


def _integer(value: int | None, digits: int) -> int | None:
    if value is None:
        return None
    rounded = int(_quantized(Decimal(value), digits))
    return rounded if -(2**63) <= rounded < 2**63 else None


def _quantized(value: Decimal, digits: int, context: Context = _WIDE) -> Decimal:
    bounded = max(-400, min(400, digits))
    try:
        return value.quantize(Decimal(1).scaleb(-bounded), context=context)
    except InvalidOperation:
        return value  # more digits requested than any value has


def _double(value: float | None, digits: int) -> float | None:
    if value is None or not np.isfinite(value):
        return value
    return float(_quantized(Decimal(repr(value)), digits)) + 0.0  # Spark knows one zero here


def _doubles(column: pa.Array, digits: int) -> pa.Array:
    if not 0 <= digits <= _MAX_VECTOR_DIGITS:
        return map_distinct(column, lambda value: _double(value, digits), pa.float64())
    values = numbers(column)
    power = 10.0**digits
    with np.errstate(all="ignore"):
        scaled = values * power
        rounded = np.rint(scaled) / power + 0.0
        distance = np.abs(np.abs(scaled - np.trunc(scaled)) - 0.5)
    # Infinities and NaN fail both comparisons and are checked one by one, too.
    doubtful = ~((distance > _NEAR_HALF) & (np.abs(scaled) < _LARGE))
    for row in np.flatnonzero(doubtful):
        rounded[row] = _double(float(values[row]), digits)
    return from_numpy(rounded, DOUBLE, [column])


def _whole(kernel: Any, direction: Any) -> Function:
    def apply(arguments: list[Any], kind: ColumnType) -> Any:
        (column,) = arguments
        if pa.types.is_decimal(column.type):
            return map_distinct(column, lambda value: _fits(value, direction), kind.arrow)
        whole = numbers(kernel(column))
        valid = (whole >= -(2.0**63)) & (whole < 2.0**63)
        integers = np.where(valid, whole, 0.0).astype(np.int64)
        return from_numpy(integers, kind, [column], valid)

    return over_arrays(apply)


def _fits(value: Decimal | None, direction: str) -> int | None:
    if value is None:
        return None
    whole = int(value.to_integral_value(direction))
    return whole if -(2**63) <= whole < 2**63 else None


ROUNDING: dict[str, Function] = {
    "round": _round,
    "bround": _bankers_round,
    "ceil": _whole(pc.ceil, "ROUND_CEILING"),
    "floor": _whole(pc.floor, "ROUND_FLOOR"),
}
