"""Generated rows of the past, and what is true of them: the slow twin of a history."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from papers.rivals.full_precomputation import FullPrecomputation
from papers.rivals.sequential_list import SequentialList
from windrow.history.adaptive_tree import AdaptiveTree
from windrow.history.history import History
from windrow.history.spec import HistorySpec, levels_of
from windrow.schema import BIGINT, DOUBLE, STRING, Column

STORAGES = {
    "adaptive": AdaptiveTree,
    "full": FullPrecomputation,
    "sequential": SequentialList,
}
MEASURES = (Column("v", DOUBLE), Column("n", BIGINT))
FUNCTIONS = ("count", "sum", "avg", "min", "max", "stddev_samp", "var_pop")

Row = tuple[int, str | None, float | None, int | None]  # time, key, double, integer


@dataclass(frozen=True)
class Advance:
    """All rows through this instant have come."""

    now_us: int


Step = list[Row] | Advance

doubles = st.one_of(
    st.sampled_from(
        [0.0, -0.0, 1.0, -1.5, 2.25, 1e16, -1e16, 1e300, math.inf, -math.inf, math.nan]
    ),
    st.integers(-50, 50).map(float),
    st.floats(-1e3, 1e3),
    st.none(),
)
plain_doubles = st.integers(-50, 50).map(lambda n: n / 4)
integers = st.one_of(
    st.integers(-9, 9), st.sampled_from([2**63 - 1, -(2**63), 2**53 + 1]), st.none()
)
keys = st.sampled_from(["a", "b", "c", None])
gaps = st.sampled_from([0, 0, 0, 1, 1, 2, 3, 7, 20, 90])


@st.composite
def specs(draw: st.DrawFn, *, grouped: bool, ever: bool = False) -> HistorySpec:
    """One to four levels; retentions that grow, some of them equal, the last often without end."""
    fine = draw(st.sampled_from([1, 2, 5]))
    granularities = [fine]
    for _ in range(draw(st.integers(0, 3))):
        granularities.append(granularities[-1] * draw(st.sampled_from([2, 3, 4])))
    retentions: list[int | None] = []
    kept = 0
    for step in granularities:
        kept += step * draw(st.sampled_from([0, 1, 3, 5]))
        retentions.append(kept)
    if ever:
        retentions = [None] * len(granularities)
    elif draw(st.booleans()):
        retentions[-1] = None
    return HistorySpec(
        levels_of(list(zip(granularities, retentions, strict=True))),
        MEASURES,
        (Column("k", STRING),) if grouped else (),
        split_above=draw(st.sampled_from([0, 1, 3, 4, 16])),
    )


@st.composite
def steps(draw: st.DrawFn, lateness_us: int = 6, most_batches: int = 6) -> list[Step]:
    """Batches out of order within the lateness, silence, bursts, and advances in between."""
    now = draw(st.sampled_from([0, 1_000, -50]))
    complete = now - 1
    out: list[Step] = []
    for _ in range(draw(st.integers(1, most_batches))):
        rows: list[Row] = []
        for _ in range(draw(st.sampled_from([0, 1, 2, 5, 12]))):
            now += draw(gaps)
            time = max(now - draw(st.integers(0, lateness_us)), complete + 1)
            rows.append((time, draw(keys), draw(doubles), draw(integers)))
        out.append(rows)
        if draw(st.booleans()):
            complete = max(complete, now - lateness_us - 1 + draw(st.sampled_from([0, 0, 40])))
            now = max(now, complete + 1)
            out.append(Advance(complete))
    return out


def columns_of(rows: list[Row]) -> dict[str, pa.Array]:
    return {
        "k": pa.array([row[1] for row in rows], pa.string()),
        "v": pa.array([row[2] for row in rows], pa.float64()),
        "n": pa.array([row[3] for row in rows], pa.int64()),
    }


def take(history: History, given: Iterable[Step]) -> list[Row]:
    """Let a history have the steps; returns all rows."""
    seen: list[Row] = []
    for step in given:
        if isinstance(step, Advance):
            history.advance(step.now_us)
        else:
            times = np.array([row[0] for row in step], np.int64)
            history.insert(times, columns_of(step))
            seen += step
    return seen


def true_value(function: str, values: list[Any]) -> Any:
    """An aggregate of values without NULL, by the rules of Spark; None where it is NULL."""
    if function == "count":
        return len(values)
    if not values or (function.endswith("_samp") and len(values) < 2):
        return None
    if function in ("min", "max"):
        best = (min if function == "min" else max)(values, key=spark_order)
        return best + 0 if not isinstance(best, float) or math.isfinite(best) else best
    special = [value for value in values if isinstance(value, float) and not math.isfinite(value)]
    if special:
        total = sum(special)
        return total if function in ("sum", "avg") else math.nan
    exact = sum(map(Fraction, values), Fraction(0))
    if function == "sum":
        return float(exact) if isinstance(values[0], float) else int(exact)
    mean = exact / len(values)
    if function == "avg":
        return float(mean)
    squares = sum(((Fraction(value) - mean) ** 2 for value in values), Fraction(0))
    if squares > Fraction(1.7e308):  # a history sums squares in doubles
        return math.inf
    variance = squares / (len(values) - (1 if function.endswith("_samp") else 0))
    return math.sqrt(variance) if function.startswith("stddev") else float(variance)


def spark_order(value: float) -> tuple[bool, float]:
    """NaN is larger than all others."""
    return (True, 0.0) if value != value else (False, value)


def scale_of(values: list[Any]) -> float:
    """The size of all values: what rounding is measured by."""
    finite = [abs(value) for value in values if math.isfinite(value)]
    return min(float(sum(map(Fraction, finite), Fraction(0))), 1e308) if finite else 0.0
