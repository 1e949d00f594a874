"""Rows as lists, aggregates of them by fractions, and the relative error as it is defined."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from support.slow_aggregates import exact_sum, largest, smallest
from windrow.governor.error_bounds.arrival_profile import ArrivalProfile
from windrow.governor.error_bounds.bounds import relative_error_bounds
from windrow.governor.error_bounds.tail import HeldValues

__all__ = [
    "FUNCTIONS", "NEED_VALUES", "Row", "add", "answer", "bound", "bounds", "relative_error",
    "rows_of", "values_of",
]  # fmt: skip

# How many values each needs so as not to be NULL.
FUNCTIONS = {
    **{"count_star": 0, "count": 0, "sum": 1, "avg": 1, "min": 1, "max": 1},
    **{"var_pop": 1, "var_samp": 2, "stddev_pop": 1, "stddev_samp": 2},
}
NEED_VALUES = [name for name in FUNCTIONS if name != "count_star"]


@dataclass(frozen=True)
class Row:
    """One row: its time, its group, its value or NULL."""

    time: int
    group: int
    value: float | None


KINDS: dict[str, st.SearchStrategy[float]] = {
    "small": st.integers(-3, 3).map(float),
    "positive": st.floats(0.5, 20.0),
    "everyday": st.floats(-100, 100).map(lambda value: round(value, 2)),
    "large": st.integers(0, 5).map(lambda value: 1e8 + value),
    "cancelling": st.sampled_from([1e16, -1e16, 1.0, -1.0, 0.1, -0.1]),
    "tiny": st.sampled_from([5e-324, -5e-324, 1e-310, 2e-308, 1e-160, 3e-155, 0.0, -0.0]),
    "wild": st.sampled_from([math.nan, math.inf, -math.inf, 1e308, -1e308, 1e160, -0.0, 1.0, 2.0]),
    "any": st.floats(),
}


def values_of(*kinds: str) -> st.SearchStrategy[st.SearchStrategy[float]]:
    """One kind of values for a whole stream."""
    return st.sampled_from([KINDS[name] for name in kinds or KINDS])


@st.composite
def rows_of(
    draw: st.DrawFn,
    values: st.SearchStrategy[float],
    latest: int,
    groups: int = 3,
    most: int = 40,
) -> list[Row]:
    """Rows in the order of arrival: evenly, in bursts with ties, or at the ends of a silence."""
    times = draw(
        st.sampled_from(
            [
                st.integers(0, latest),
                st.sampled_from(sorted({latest // 7, latest // 3, latest // 2, latest})),
                st.integers(0, latest // 10) | st.integers(latest - latest // 10, latest),
            ]
        )
    )
    # Few groups are busy, the last is rare.
    codes = st.sampled_from([0] * 6 + list(range(groups)))
    row = st.builds(Row, times, codes, st.none() | values | values | values)
    # Lists without a given size are mostly short.
    size = draw(st.integers(0, most))
    rows = draw(st.lists(row, min_size=size, max_size=size))
    return rows if draw(st.booleans()) else sorted(rows, key=lambda each: each.time)


def add(profile: ArrivalProfile, rows: Sequence[Row]) -> None:
    """All rows in one batch, for a profile of one measure."""
    profile.add(
        np.array([row.time for row in rows], np.int64),
        np.array([row.group for row in rows], np.int32),
        np.array([[math.nan if row.value is None else row.value for row in rows]]),
        np.array([[row.value is not None for row in rows]], np.uint8),
    )


def answer(function: str, rows: Sequence[Row]) -> float | None:
    """What a query answers from these rows: exact, and rounded once."""
    if function == "count_star":
        return float(len(rows))
    values = [row.value for row in rows if row.value is not None]
    if function == "count":
        return float(len(values))
    fewest = FUNCTIONS[function]
    if len(values) < fewest:
        return None
    if function in ("min", "max"):
        return float({"min": smallest, "max": largest}[function](values))
    if function == "sum":
        return float(exact_sum(values))
    return _mean_or_spread(function, values, fewest - 1)


def _mean_or_spread(function: str, values: list[float], rows_less: int) -> float:
    if not all(map(math.isfinite, values)):
        return math.nan
    exact = [Fraction(value) for value in values]
    mean = sum(exact) / len(exact)
    if function == "avg":
        return _rounded(mean)
    variance = sum((value - mean) ** 2 for value in exact) / (len(exact) - rows_less)
    if function.startswith("var"):
        return _rounded(variance)
    return _root(variance)


def _root(value: Fraction) -> float:
    """The root of what may be beyond the doubles itself."""
    shift = (value.denominator.bit_length() - value.numerator.bit_length()) // 2
    return math.ldexp(math.sqrt(value * Fraction(4) ** shift), -shift)


def _rounded(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def relative_error(said: float | None, truth: float | None) -> float:
    """|said - truth| / |truth|; 0 for 0 / 0 and for two NULLs; infinite where it has no meaning."""
    if said is None or truth is None:
        return 0.0 if said is truth else math.inf
    if said == truth or (math.isnan(said) and math.isnan(truth)):
        return 0.0
    if truth == 0 or not (math.isfinite(said) and math.isfinite(truth)):
        return math.inf
    error = abs(Fraction(said) - Fraction(truth)) / abs(Fraction(truth))
    # Rounded down, as the bound must not be below the error itself.
    return math.nextafter(_rounded(error), 0.0)


def bound(
    function: str, profile: ArrivalProfile, at: int, edge: int, group: int, held: Sequence[Row]
) -> float:
    """The bound on the error of an answer from the rows held."""
    return bounds(function, profile, [(at, edge, group, held)])[0]


def bounds(
    function: str, profile: ArrivalProfile, asked: Sequence[tuple[int, int, int, Sequence[Row]]]
) -> list[float]:
    """Bounds of many answers: the instant, the edge, the group and the rows held of each."""
    every = [[row for row in held if _counts(function, row)] for *_, held in asked]
    said, means = (
        np.array([math.nan if each is None else each for each in given])
        for given in (
            [answer(function, held) for *_, held in asked],
            [answer("avg", held) for *_, held in asked],
        )
    )
    tail = profile.tail(
        np.array([at for at, *_ in asked]), np.array([edge for _, edge, *_ in asked]),
        np.array([group for *_, group, _ in asked], np.int32),
        None if function == "count_star" else 0, np.where(np.isnan(means), 0.0, means),
    )  # fmt: skip
    known = HeldValues(np.array([float(len(rows)) for rows in every]), said)
    found: list[float] = relative_error_bounds(function, tail, known).tolist()
    return found


def _counts(function: str, row: Row) -> bool:
    return function == "count_star" or row.value is not None
