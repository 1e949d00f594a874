"""Arithmetic with intervals: of times, of dates, and of intervals with each other and numbers."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.rows.scalar.time_columns import (
    checked_sum,
    column_of,
    days,
    integers,
    micros,
    zone_of,
)
from windrow.rows.scalar.values import Function, NoValueError, over_arrays, per_value
from windrow.schema import ColumnType
from windrow.times.civil import DAY_US, MOST_DAYS, add_months
from windrow.times.interval_texts import year_month_text

__all__ = ["INTERVALS"]

_SECOND_US = 1_000_000


@over_arrays
def _plus_span(columns: list[Any], kind: ColumnType) -> Any:
    total, right = checked_sum(micros(columns[0]), integers(columns[1]))
    return column_of(total, kind, columns, right)


def _plus_span_in_zone(arguments: list[Any], kind: ColumnType) -> Any:
    """Whole days go by the calendar of the zone, what is left of them by the clock."""
    zone = zone_of(arguments[2])

    def apply(columns: list[Any], kind: ColumnType) -> Any:
        instants, spans = micros(columns[0]), integers(columns[1])
        whole = np.fix(spans / DAY_US).astype(np.int64)
        # A quotient of doubles may be a day off near whole days of large spans.
        whole = np.where(np.abs(spans) < 2**52, whole, _whole_days(spans))
        offset = zone.offset(instants)
        wall, right = checked_sum(instants + offset, whole * DAY_US)
        moved = np.where(whole == 0, instants, zone.instant(wall, offset))
        total, fits = checked_sum(moved, spans - whole * DAY_US)
        return column_of(total, kind, columns, right & fits)

    return over_arrays(apply)(arguments[:2], kind)


def _whole_days(spans: Any) -> Any:
    return np.where(spans < 0, -(-spans // DAY_US), spans // DAY_US)


@over_arrays
def _plus_months(columns: list[Any], kind: ColumnType) -> Any:
    months = integers(columns[1])
    if pa.types.is_date32(columns[0].type):
        return column_of(add_months(days(columns[0]), months), kind, columns)
    moments = micros(columns[0])
    moved = add_months(np.floor_divide(moments, DAY_US), months)
    wall, fits = _at_time_of(moments, moved)
    return column_of(wall, kind, columns, fits)


def _at_time_of(moments: Any, day: Any) -> tuple[Any, Any]:
    """Other days at the same times of day, and where 64 bits hold them."""
    fits = np.abs(day) < MOST_DAYS
    return np.where(fits, day, 0) * DAY_US + np.mod(moments, DAY_US), fits


def _plus_months_in_zone(arguments: list[Any], kind: ColumnType) -> Any:
    zone = zone_of(arguments[2])

    def apply(columns: list[Any], kind: ColumnType) -> Any:
        instants = micros(columns[0])
        offset = zone.offset(instants)
        wall = instants + offset
        moved = add_months(np.floor_divide(wall, DAY_US), integers(columns[1]))
        later, fits = _at_time_of(wall, moved)
        return column_of(zone.instant(later, offset), kind, columns, fits)

    return over_arrays(apply)(arguments[:2], kind)


@over_arrays
def _minus_times(columns: list[Any], kind: ColumnType) -> Any:
    total, right = checked_sum(micros(columns[0]), -micros(columns[1]))
    return column_of(total, kind, columns, right)


@over_arrays
def _plus_intervals(columns: list[Any], kind: ColumnType) -> Any:
    total, right = checked_sum(integers(columns[0]), integers(columns[1]))
    return column_of(total, kind, columns, right)


def _negated(values: Any) -> tuple[Any, Any]:
    return -values, values != np.iinfo(np.int64).min


@over_arrays
def _negate(columns: list[Any], kind: ColumnType) -> Any:
    values, right = _negated(integers(columns[0]))
    return column_of(values, kind, columns, right)


@over_arrays
def _absolute(columns: list[Any], kind: ColumnType) -> Any:
    values, right = _negated(integers(columns[0]))
    return column_of(np.abs(values), kind, columns, right)


@over_arrays
def _sign(columns: list[Any], kind: ColumnType) -> Any:
    signs = np.sign(integers(columns[0])).astype(np.float64)
    return pa.array(signs, kind.arrow, mask=columns[0].is_null().to_numpy(zero_copy_only=False))


def _scaled(*, is_divided: bool) -> Function:
    """An interval times or by a number, rounded half up; beyond its bits, or by 0, a fault."""

    def scale(amount: int, number: int | float | Decimal) -> int:
        exact = _exact(number)
        if is_divided and not exact:
            raise NoValueError
        if isinstance(number, float):  # as doubles, and rounded then
            exact, amount = Decimal(amount / number if is_divided else amount * number), 1
            return int(_exact(exact).to_integral_value(ROUND_HALF_UP))
        product = Decimal(amount) / exact if is_divided else Decimal(amount) * exact
        return int(product.to_integral_value(ROUND_HALF_UP))

    return over_arrays(
        lambda columns, kind: _each_scaled(scale, columns, kind, is_product=not is_divided)
    )


def _product(columns: list[Any], kind: ColumnType) -> Any:
    """Whole multiples at once, unless one may be beyond its bits."""
    sizes, counts = integers(columns[0]), integers(columns[1])
    largest = (float(np.abs(each).max()) if len(each) else 0.0 for each in (sizes, counts))
    if not len(sizes) or next(largest) * next(largest) < 2.0 ** (kind.arrow.bit_width - 2):
        return column_of(sizes * counts, kind, columns)
    return None


def _exact(number: int | float | Decimal) -> Decimal:
    found = Decimal(number)
    if not found.is_finite():
        raise NoValueError
    return found


def _each_scaled(scale: Any, columns: list[Any], kind: ColumnType, *, is_product: bool) -> Any:
    """Row by row, on integers: the column of months and that of microseconds look alike."""
    if pa.types.is_integer(columns[1].type) and is_product:
        quick = _product(columns, kind)
        if quick is not None:
            return quick
    stored = columns[0].view(pa.int32() if kind.arrow.bit_width == 32 else pa.int64())
    half = 1 << (kind.arrow.bit_width - 1)

    def within(amount: int, number: int | float | Decimal) -> int | None:
        try:
            found = scale(amount, number)
        except NoValueError:
            return None
        return found if -half <= found < half else None

    results = per_value(within)([stored, columns[1]], ColumnType("BIGINT"))
    plain = results.value.cast(stored.type)
    return plain if plain.type == kind.arrow else plain.view(kind.arrow)


def _field(unit_us: int, modulus: int | None) -> Function:
    """A field of a day-time interval, with the sign of the whole."""

    @over_arrays
    def apply(columns: list[Any], kind: ColumnType) -> Any:
        spans = integers(columns[0])
        sizes = np.abs(spans) // unit_us
        sizes = sizes if modulus is None else sizes % modulus
        return column_of(np.sign(spans) * sizes, kind, columns)

    return apply


@over_arrays
def _seconds(columns: list[Any], kind: ColumnType) -> Any:
    spans = integers(columns[0])
    within = np.sign(spans) * (np.abs(spans) % (60 * _SECOND_US))
    found = [Decimal(int(value)).scaleb(-6) for value in within]
    mask = columns[0].is_null().to_numpy(zero_copy_only=False)
    return pa.array(found, kind.arrow, mask=mask)


def _months_field(modulus: int | None, divisor: int) -> Function:
    @over_arrays
    def apply(columns: list[Any], kind: ColumnType) -> Any:
        months = integers(columns[0])
        sizes = np.abs(months) // divisor
        sizes = sizes if modulus is None else sizes % modulus
        return column_of(np.sign(months) * sizes, kind, columns)

    return apply


@over_arrays
def _make_day_time(columns: list[Any], kind: ColumnType) -> Any:
    """Days, hours, minutes and seconds with their fraction, added up exactly."""

    def total(days: int, hours: int, minutes: int, seconds: Decimal) -> int | None:
        whole = (days * 24 + hours) * 60 + minutes
        span = whole * 60 * _SECOND_US + int(seconds * _SECOND_US)
        return span if -(2**63) <= span < 2**63 else None

    found = per_value(total)(columns, ColumnType("BIGINT"))
    return found.value.view(kind.arrow)


@over_arrays
def _make_year_month(columns: list[Any], kind: ColumnType) -> Any:
    years, months = (integers(column) for column in columns)
    return column_of(years * 12 + months, kind, columns)


INTERVALS: dict[str, Function] = {
    "plus_span": _plus_span,
    "plus_span_in_zone": _plus_span_in_zone,
    "plus_months": _plus_months,
    "plus_months_in_zone": _plus_months_in_zone,
    "minus_times": _minus_times,
    "plus_intervals": _plus_intervals,
    "negate_interval": _negate,
    "abs_interval": _absolute,
    "sign_interval": _sign,
    "times_interval": _scaled(is_divided=False),
    "divide_interval": _scaled(is_divided=True),
    "span_days": _field(DAY_US, None),
    "span_hours": _field(3600 * _SECOND_US, 24),
    "span_minutes": _field(60 * _SECOND_US, 60),
    "span_seconds": _seconds,
    "months_years": _months_field(None, 12),
    "months_months": _months_field(12, 1),
    "months_to_text": per_value(year_month_text),
    "make_dt_interval": _make_day_time,
    "make_ym_interval": _make_year_month,
}
