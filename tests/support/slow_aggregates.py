"""Aggregates made in Python from all their values at once, exactly, and rounded once at the end."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from fractions import Fraction

from support.duckdb_text import key_text
from windrow.aggregate_functions import Takes
from windrow.plan.model import Aggregate
from windrow.schema import ColumnType

Number = int | float | Decimal
# The values of one joined row's factors, term after term.
Factors = tuple[Number, ...]


class SumOverflowError(ArithmeticError):
    """A SUM of integers is beyond 64 bits: the engine must refuse to show it."""


def gathered_text(aggregate: Aggregate, index: int) -> str:
    """What DuckDB collects for an aggregate: a count, or the list of all values that are there."""
    name = f"a{index}"
    if aggregate.argument is None:
        return "NULL"
    if _is_duckdbs(aggregate):
        return aggregate.traits.duckdb.format(key_text(name, aggregate.argument.type))
    if aggregate.terms:
        names = [f"{name}_{i}" for i in range(sum(map(len, aggregate.terms)))]
        there = " AND ".join(f"{each} IS NOT NULL" for each in names)
        return f"list(row({', '.join(names)})) FILTER (WHERE {there})"
    return f"list({name}) FILTER (WHERE {name} IS NOT NULL)"


def _is_duckdbs(aggregate: Aggregate) -> bool:
    """Whether DuckDB's own value is exact: that of counts, and of all that is of truth values."""
    return aggregate.traits.is_count or aggregate.traits.takes is Takes.TRUTH


def made(aggregate: Aggregate, count: object, gathered: object) -> object:
    """The value of an aggregate: from the count of rows, or from what was gathered."""
    if aggregate.argument is None:
        return count
    if _is_duckdbs(aggregate):
        return gathered
    if not gathered:
        return None
    assert isinstance(gathered, list)
    if aggregate.function in _FROM_VALUES:
        return _FROM_VALUES[aggregate.function](gathered)
    if aggregate.terms:
        products = [each for row in gathered for each in _products(aggregate, row)]
        total = _as_type(_total(products), aggregate.argument.type)
    else:
        total = exact_sum(gathered)
    if aggregate.function == "avg":
        return float(total) / len(gathered)
    if aggregate.type.is_integer and not -(2**63) <= total < 2**63:
        raise SumOverflowError(total)
    return total


def exact_sum(values: Sequence[Number]) -> Number:
    """The sum, rounded once where the values are floats."""
    if isinstance(values[0], Decimal):
        unscaled = sum(Fraction(value) for value in values)
        scale = max(-int(value.as_tuple().exponent) for value in map(Decimal, values))
        return Decimal(int(unscaled * 10**scale)).scaleb(-scale)
    if not isinstance(values[0], float):
        return sum(values)
    return _nearest(_total(values))


def exact_variance(values: Sequence[float], rows_less: int) -> float | None:
    """The sum of squared distances from the mean over (rows - rows_less), rounded once."""
    if len(values) == rows_less:
        return None
    if not all(map(math.isfinite, values)):
        return math.nan
    if any(math.isinf(value * value) for value in values):
        return math.inf  # a square beyond the doubles is infinite, and so is their sum
    # A square below the doubles is nothing.
    exact = [Fraction(value if abs(value) > 1e-150 else 0) for value in values]
    mean = sum(exact, Fraction(0)) / len(exact)
    squares = sum(((value - mean) ** 2 for value in exact), Fraction(0))
    return _nearest(squares / (len(exact) - rows_less))


def largest(values: Iterable[Number]) -> Number:
    """The largest value; NaN is above all others, and both zeros are 0.0."""
    return _one_zero(max(values, key=_height))


def smallest(values: Iterable[Number]) -> Number:
    """The smallest value; NaN only where there is nothing else."""
    return _one_zero(min(values, key=_height))


def _height(value: Number) -> tuple[bool, Number]:
    return (True, 0) if value != value else (False, value)


def _one_zero(value: Number) -> Number:
    return 0.0 if isinstance(value, float) and value == 0 else value


def _root(variance: float | None) -> float | None:
    return None if variance is None else math.sqrt(variance)


_FROM_VALUES: dict[str, Callable[[list[float]], object]] = {
    "min": smallest,
    "max": largest,
    "var_pop": lambda values: exact_variance(values, 0),
    "var_samp": lambda values: exact_variance(values, 1),
    "stddev_pop": lambda values: _root(exact_variance(values, 0)),
    "stddev_samp": lambda values: _root(exact_variance(values, 1)),
}


def _products(aggregate: Aggregate, row: Factors) -> list[Fraction | float]:
    """The terms of one joined row: exact, or what IEEE says of an infinity or NaN."""
    products: list[Fraction | float] = []
    place = 0
    for term in aggregate.terms:
        factors = row[place : place + len(term)]
        place += len(term)
        if all(map(math.isfinite, factors)):
            products.append(math.prod(map(Fraction, factors)))
        else:
            products.append(math.prod(map(float, factors)))
    return products


def _total(values: Sequence[Fraction | Number]) -> Fraction | float:
    """The exact sum; NaN and infinities win over all that is finite."""
    floats = (value for value in values if isinstance(value, float))
    # A set can hold NaN twice, but its name only once.
    endless = {"NaN" if value != value else value for value in floats if not math.isfinite(value)}
    if endless:
        return float(endless.pop()) if len(endless) == 1 else math.nan
    return sum(map(Fraction, values), Fraction(0))


def _as_type(total: Fraction | float, kind: ColumnType) -> Number:
    if kind.is_float:
        return _nearest(total)
    scaled = Fraction(total) * 10**kind.scale
    assert scaled.denominator == 1, f"{total} has more places than {kind}"
    return int(scaled) if kind.is_integer else Decimal(int(scaled)).scaleb(-kind.scale)


def _nearest(value: Fraction | float) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
