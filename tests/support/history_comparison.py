"""Answers of a history against the rows themselves."""

from __future__ import annotations

import math
from typing import Any

from hypothesis import strategies as st

from support.past_rows import FUNCTIONS, Row, Step, scale_of, spark_order, true_value
from windrow.history.aggregates import Aggregate
from windrow.history.answers.answer import Answer

ENDINGS = ("", "_low", "_high")
AGGREGATES = [Aggregate("count")] + [
    Aggregate(function, measure) for measure in ("v", "n") for function in FUNCTIONS
]


@st.composite
def asked(draw: st.DrawFn, given_steps: list[Step]) -> tuple[int, int]:
    """Intervals near the rows."""
    times = [row[0] for step in given_steps if isinstance(step, list) for row in step] or [0]
    since = draw(st.sampled_from(times)) + draw(st.integers(-20, 20))
    until = draw(st.sampled_from(times)) + draw(st.integers(-20, 20))
    return min(since, until), max(since, until)


def check(answer: Answer, rows: list[Row], *, is_one: bool) -> None:
    """Every group of an answer lies within its bounds, and is exact where it says so."""
    interval = answer.asked
    inside = [row for row in rows if interval.since_us <= row[0] < interval.until_us]
    table = answer.table(AGGREGATES)
    groups: list[Any] = [None] if is_one else table.column("k").to_pylist()
    if not is_one:
        assert {row[1] for row in inside} <= set(groups) or not answer.is_exact
    for index, group in enumerate(groups):
        mine = inside if is_one else [row for row in inside if row[1] == group]
        for aggregate in AGGREGATES:
            row = {"v": 2, "n": 5}.get(str(aggregate.measure), 1)
            doubt = answer.whole[row, 3 * index + 1] + answer.whole[row, 3 * index + 2] > 0
            place = {"v": 2, "n": 3}.get(str(aggregate.measure))
            values = [row[place] for row in mine if row[place] is not None] if place else mine
            shown = [table.column(aggregate.label + end)[index].as_py() for end in ENDINGS]
            compare(aggregate, values, shown, doubt=bool(doubt))


def compare(aggregate: Aggregate, values: list[Any], shown: list[Any], *, doubt: bool) -> None:
    truth = true_value(aggregate.function, values)
    if not doubt:
        assert shown[0] == shown[1] == shown[2] or all(value != value for value in shown)
        assert_close(aggregate, shown[0], truth, values)
        return
    if truth is not None:
        assert shown[0] is not None, (aggregate, values)
        low, true, high = (spark_order(value) for value in (shown[1], truth, shown[2]))
        assert low <= true <= high, (aggregate, values, shown)
    if shown[0] is not None:
        low, value, high = (spark_order(value) for value in (shown[1], shown[0], shown[2]))
        assert low <= value <= high, (aggregate, values, shown)


def assert_close(aggregate: Aggregate, value: Any, truth: Any, values: list[Any]) -> None:
    function, is_double = aggregate.function, aggregate.measure == "v"
    if (
        truth is None
        or function in ("count", "min", "max")
        or (function == "sum" and not is_double)
    ):
        assert value == truth or (value != value and truth != truth), (aggregate, values)
        return
    if math.isnan(truth) or math.isinf(truth):
        assert value == truth or (math.isnan(value) and math.isnan(truth)), (aggregate, values)
        return
    if function in ("sum", "avg"):
        # Sums are pairs of doubles: only what is small beside the sizes of the values may be lost.
        most = 2.0**-95 * scale_of(values) / (len(values) if function == "avg" else 1)
        assert math.isclose(value, truth, rel_tol=1e-15, abs_tol=most), (aggregate, values)
        return
    # Squares below the smallest doubles are lost.
    unit = max(1e-13 * max(map(abs, values)), 1e-150)
    most = 1e-9 * truth + (
        unit if function.startswith("stddev") else unit * unit + unit * truth**0.5
    )
    assert math.isclose(value, truth, rel_tol=1e-9, abs_tol=most), (aggregate, values, value, truth)
