"""One suite for the adaptive tree and its rivals: every answer against all rows ever given."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.history_comparison import AGGREGATES, asked, check
from support.past_rows import MEASURES, STORAGES, Advance, Row, Step, specs, steps, take
from windrow.history.answers.answer import Answer
from windrow.history.history import History
from windrow.history.spec import HistorySpec, levels_of

each_storage = pytest.mark.parametrize("storage", STORAGES.values(), ids=STORAGES)


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


def nearest(exact: Fraction) -> float:
    """The nearest double, which may be infinite; bounds are rounded alike."""
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


huge = st.sampled_from([1e308, -1e308, 1.7e308, -1.7e308, 1.0, -1.0, 0.0])


@given(st.lists(huge, min_size=1, max_size=4), st.lists(huge, min_size=1, max_size=4), st.data())
def test_bounds_hold_where_sums_run_beyond_the_largest_double(
    sure: list[float], cut: list[float], data: st.DataObject
) -> None:
    history = History(HistorySpec(levels_of([(10, None)]), MEASURES, split_above=0))
    rows: list[Row] = [(data.draw(st.integers(0, 9)), None, value, 1) for value in cut]
    rows += [(data.draw(st.integers(10, 19)), None, value, 1) for value in sure]
    take(history, [rows, Advance(30)])
    answer = history.snapshot(data.draw(st.integers(1, 9)), 20)
    inside = [row[2] for row in rows if row[0] >= answer.asked.since_us]
    for function in ("sum", "avg"):
        found = answer.bounds(function, "v")
        count = len(inside) if function == "avg" else 1
        truth = nearest(sum(map(Fraction, inside), Fraction(0)) / count)
        assert found.low == found.low, (function, found, inside)
        assert found.low <= truth <= found.high, (function, found, inside)
        assert found.low <= found.value <= found.high, (function, found, inside)
