"""Aggregates that a history answers, and a value with its bounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from windrow.aggregate_functions import (
    AGGREGATE_FUNCTIONS,
    SQL_NAMES,
    AggregateFunction,
    Form,
)
from windrow.errors import BindingError
from windrow.history.spec import HistorySpec

__all__ = ["FUNCTIONS", "Aggregate", "Bounded"]

FUNCTIONS = tuple(
    each.name for each in AGGREGATE_FUNCTIONS.values() if each.sql_names and each.in_history
)
_OTHER_NAMES = {
    name.lower(): each.name
    for name, each in SQL_NAMES.items()
    if each.in_history and not each.laws.in_sketch and name.lower() != each.name
}


@dataclass(frozen=True)
class Aggregate:
    """A function of a measure; count without a measure counts rows, quantile needs its rank.

    >>> Aggregate("stddev", "celsius").label
    'stddev_samp_celsius'
    """

    function: str
    measure: str | None = None
    rank: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "function", _OTHER_NAMES.get(self.function, self.function))
        if self.function not in FUNCTIONS:
            raise BindingError(
                "WB311",
                f"histories do not support the aggregate {self.function!r}",
                hint=f"use one of {', '.join(FUNCTIONS)}",
            )
        if self.measure is None and self.traits.star is None:
            raise BindingError("WB312", f"{self.function} needs a measure", hint="name one")
        if (self.rank is not None) != (self.traits.form is Form.QUANTILE) or not (
            0 <= (self.rank or 0) <= 1
        ):
            raise BindingError(
                "WB313",
                f"{self.function} with rank {self.rank}",
                hint="a quantile has a rank from 0 to 1, and nothing else has one",
            )

    @property
    def traits(self) -> AggregateFunction:
        """What is known of its function."""
        return AGGREGATE_FUNCTIONS[self.function]

    @property
    def label(self) -> str:
        """A name for its column."""
        parts = [self.function, self.measure]
        if self.rank is not None:
            parts.append(f"{self.rank:g}")
        return "_".join(part for part in parts if part is not None)

    def check(self, spec: HistorySpec) -> None:
        """Refuse what the history keeps nothing of."""
        if self.traits.form is Form.QUANTILE:
            kept: tuple[str, ...] = spec.quantiles
        elif self.traits.form is Form.ABOUT_DISTINCT:
            kept = tuple(column.name for column in spec.distincts)
        else:
            if self.measure is not None:
                spec.measure_index(self.measure)
            return
        if self.measure not in kept:
            raise BindingError(
                "WB314",
                f"the history keeps no sketch for {self.function} of {self.measure!r}",
                hint=f"it keeps sketches of {', '.join(kept) or 'nothing'}",
            )


@dataclass(frozen=True)
class Bounded:
    """A value, and bounds that the true one lies between; all None where there is none."""

    value: Any
    low: Any
    high: Any

    @property
    def is_exact(self) -> bool:
        """Whether the bounds leave no doubt."""
        # A NaN is not equal to itself, but here it is one value.
        return bool(self.low == self.high or (self.low != self.low and self.high != self.high))
