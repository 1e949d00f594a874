"""One suite for the adaptive tree and its rivals: every answer against all rows ever given."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from history.past_rows import (
    FUNCTIONS,
    MEASURES,
    STORAGES,
    Row,
    Step,
    scale_of,
    spark_order,
    specs,
    steps,
    take,
    true_value,
)
from windrow.history.aggregates import Aggregate
from windrow.history.answers.answer import Answer
from windrow.history.history import History
from windrow.history.spec import HistorySpec, levels_of

each_storage = pytest.mark.parametrize("storage", STORAGES.values(), ids=STORAGES)
intervals = st.tuples(st.integers(-60, 1_200), st.integers(0, 400)).map(
    lambda pair: (pair[0], pair[0] + pair[1])
)
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


ENDINGS = ("", "_low", "_high")


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
    unit = 1e-13 * max(map(abs, values))
    most = 1e-9 * truth + (
        unit if function.startswith("stddev") else unit * unit + unit * truth**0.5
    )
    assert math.isclose(value, truth, rel_tol=1e-9, abs_tol=most), (aggregate, values, value, truth)


@each_storage
@given(st.data())
def test_one_group(storage: Any, data: st.DataObject) -> None:
    spec = data.draw(specs(grouped=False))
    given_steps = data.draw(steps())
    history = History(spec, storage)
    rows = take(history, given_steps)
    for _ in range(3):
        since, until = data.draw(asked(given_steps))
        at = data.draw(st.sampled_from([None, *spec.granularities_us]))
        answer = history.snapshot(since, until, at_us=at)
        check(answer, rows, is_one=True)
        check_borders(history, answer, rows, at)


def check_borders(history: History, answer: Answer, rows: list[Row], at: int | None) -> None:
    """The intervals that an answer offers have exact answers."""
    assert answer.asked in answer.outside
    if answer.is_exact:
        assert answer.inside == answer.outside == answer.asked
        return
    outer = history.snapshot(answer.outside.since_us, answer.outside.until_us, at_us=at)
    assert outer.is_exact
    check(outer, rows, is_one=True)
    if answer.inside is not None:
        assert answer.inside in answer.asked
        inner = history.snapshot(answer.inside.since_us, answer.inside.until_us, at_us=at)
        assert inner.is_exact
        check(inner, rows, is_one=True)


@each_storage
@given(st.data())
def test_many_groups(storage: Any, data: st.DataObject) -> None:
    spec = data.draw(specs(grouped=True))
    given_steps = data.draw(steps())
    history = History(spec, storage)
    rows = take(history, given_steps)
    since, until = data.draw(asked(given_steps))
    at = data.draw(st.sampled_from([None, *spec.granularities_us]))
    check(history.snapshot(since, until, at_us=at), rows, is_one=False)
    check(history.snapshot(since, until, at_us=at, total=True), rows, is_one=True)


@each_storage
@given(st.data())
def test_every_level_is_exact_at_its_borders_while_it_is_kept(
    storage: Any, data: st.DataObject
) -> None:
    spec = data.draw(specs(grouped=False))
    given_steps = data.draw(steps())
    history = History(spec, storage)
    take(history, given_steps)
    since, until = data.draw(asked(given_steps))
    for level in spec.levels:
        step = level.granularity_us
        kept_from = -(10**6) if level.retention_us is None else history.now_us - level.retention_us
        first = max(since, kept_from) // step * step + step
        answer = history.snapshot(first, max(first, until // step * step), at_us=step)
        assert answer.is_exact
        assert history.snapshot(answer.asked.since_us, answer.asked.until_us).is_exact


@given(st.data())
def test_batching_does_not_show(data: st.DataObject) -> None:
    spec = data.draw(specs(grouped=True))
    given_steps = data.draw(steps())
    one_by_one: list[Step] = []
    for step in given_steps:
        one_by_one += [[row] for row in step] if isinstance(step, list) else [step]
    first, second = History(spec), History(spec)
    take(first, given_steps)
    take(second, one_by_one)
    since, until = data.draw(asked(given_steps))
    same = [each for each in AGGREGATES if each.function in ("count", "sum", "min", "max")]
    tables = [
        history.snapshot(since, until).table(same).sort_by("k").to_pylist()
        for history in (first, second)
    ]
    for left, right in zip(*tables, strict=True):
        for name in left:
            if name.startswith("sum_v") and name != "sum_v":
                continue  # bounds are widened by what rounding may do, which depends on the order
            assert left[name] == right[name] or (left[name] != left[name] != right[name])


@pytest.mark.parametrize("storage", STORAGES.values(), ids=STORAGES)
def test_extremes_that_have_left_are_not_felt(storage: Any) -> None:
    spec = HistorySpec(levels_of([(1, None), (10, None)]), MEASURES, split_above=2)
    history = History(spec, storage)
    given_rows: list[Row] = [(0, None, value, 1) for value in (1e300, math.inf, math.nan, -1e300)]
    given_rows += [(time, None, 0.1 * time, time) for time in range(1, 90)]
    rows = take(history, [given_rows])
    answer = history.snapshot(1, 90)
    assert answer.is_exact
    check(answer, rows, is_one=True)
    assert answer.bounds("sum", "v").value == math.fsum(row[2] for row in rows[4:] if row[2])
