"""Progressive and continuous answers, and answers of parts that are merged."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from history.comparison import AGGREGATES, asked, check, compare
from history.past_rows import (
    MEASURES,
    Advance,
    Row,
    columns_of,
    spark_order,
    specs,
    steps,
    take,
    true_value,
)
from windrow.errors import CheckpointError
from windrow.history.aggregates import Aggregate
from windrow.history.answers.merge import merge_answers, partial_of_table, table_of_partial
from windrow.history.continuous import ContinuousQuery
from windrow.history.history import History
from windrow.history.progressive import ProgressiveStep, progressive
from windrow.history.spec import HistorySpec, levels_of


def bounds_of(step: ProgressiveStep, label: str, row: int) -> list[Any]:
    return [step.table.column(label + ending)[row].as_py() for ending in ("_low", "", "_high")]


@given(st.data())
def test_bounds_only_tighten_and_the_truth_stays_between_them(data: st.DataObject) -> None:
    spec = data.draw(specs(grouped=data.draw(st.booleans())))
    given_steps = data.draw(steps())
    history = History(spec)
    rows = take(history, given_steps)
    since, until = data.draw(asked(given_steps))
    total = data.draw(st.booleans())
    seen = list(progressive(history, since, until, AGGREGATES, total=total))
    levels = [*reversed(spec.granularities_us), None]
    assert [step.granularity_us for step in seen] == levels[: len(seen)]
    best = history.snapshot(since, until, total=total)
    assert seen[-1].answer.is_exact == best.is_exact
    is_one = total or not spec.keys
    known: dict[Any, Any] = {}
    for step in seen:
        check(step.answer, rows, is_one=is_one)
        groups = [None] if is_one else step.table.column("k").to_pylist()
        for row, group in enumerate(groups):
            mine = [each for each in rows if since <= each[0] < until]
            mine = mine if is_one else [each for each in mine if each[1] == group]
            for aggregate in AGGREGATES:
                low, value, high = bounds_of(step, aggregate.label, row)
                if low is None:
                    continue
                assert spark_order(low) <= spark_order(value) <= spark_order(high)
                before = known.get((group, aggregate))
                if before is not None:
                    assert spark_order(before[0]) <= spark_order(low)
                    assert spark_order(high) <= spark_order(before[1])
                known[(group, aggregate)] = (low, high)
                check_truth(aggregate, mine, low, high, step)


def check_truth(aggregate: Aggregate, rows: list[Row], low: Any, high: Any, step: Any) -> None:
    place = {"v": 2, "n": 3}.get(str(aggregate.measure))
    values = [row[place] for row in rows if row[place] is not None] if place else rows
    truth = true_value(aggregate.function, values)
    if truth is not None and not step.answer.is_exact and low != high:
        assert spark_order(low) <= spark_order(truth) <= spark_order(high)


@given(st.data())
def test_a_continuous_query_adds_up_to_the_rows_before_its_edge(data: st.DataObject) -> None:
    spec = data.draw(specs(grouped=True))
    given_steps = data.draw(steps())
    history = History(spec)
    first = next((row[0] for step in given_steps if isinstance(step, list) for row in step), 0)
    since = first // spec.granularities_us[0] * spec.granularities_us[0]
    total = data.draw(st.booleans())
    query = ContinuousQuery(history, since, total=total)
    rows: list[Row] = []
    for step in given_steps:
        rows += take(history, [step])
        change = query.advance()
        assert (change is None) or isinstance(step, Advance)
        if change is None:
            continue
        assert change.whole.asked.since_us == since
        assert change.edge_us <= history.now_us + 1 < change.edge_us + spec.granularities_us[0]
        check(change.added, rows, is_one=total)
        check(change.whole, rows, is_one=total)


def test_the_whole_stays_exact_when_its_nodes_are_gone() -> None:
    spec = HistorySpec(levels_of([(1, 4), (8, 16)]), MEASURES, split_above=0)
    history = History(spec)
    query = ContinuousQuery(history, 0)
    rows: list[Row] = []
    for time in range(100):
        rows += take(history, [[(time, None, float(time), time)], Advance(time)])
        change = query.advance()
        assert change is not None
        assert change.added.is_exact
        assert change.whole.is_exact
    assert query.whole.bounds("sum", "n").value == sum(range(100))
    assert not history.snapshot(3, 100).is_exact


@given(st.data())
def test_partial_answers_merge(data: st.DataObject) -> None:
    spec = data.draw(specs(grouped=data.draw(st.booleans())))
    given_steps = data.draw(steps())
    buckets = [History(spec) for _ in range(3)]
    rows: list[Row] = []
    for step in given_steps:
        if isinstance(step, Advance):
            for bucket in buckets:
                bucket.advance(step.now_us)
            continue
        rows += step
        for number, bucket in enumerate(buckets):
            part = [row for row in step if row[3] is not None and row[3] % 3 == number]
            part += [row for row in step if row[3] is None and number == 0]
            bucket.insert(np.array([row[0] for row in part], np.int64), columns_of(part))
    since, until = data.draw(asked(given_steps))
    total = data.draw(st.booleans())
    answers = [bucket.snapshot(since, until, total=total) for bucket in buckets]
    shipped = [partial_of_table(spec, through_ipc(table_of_partial(each))) for each in answers]
    merged = merge_answers(shipped)
    check(merged, rows, is_one=total or not spec.keys)
    assert merged.is_exact == all(answer.is_exact for answer in answers)


def through_ipc(table: pa.Table) -> pa.Table:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return pa.ipc.open_stream(sink.getvalue()).read_all()


def test_another_table_is_no_partial_answer() -> None:
    spec = HistorySpec(levels_of([(1, None)]), MEASURES)
    with pytest.raises(CheckpointError, match="WC301"):
        partial_of_table(spec, pa.table({"x": [1]}))


def test_the_tail_before_an_edge() -> None:
    spec = HistorySpec(levels_of([(10, None), (40, None)]), MEASURES, split_above=0)
    history = History(spec)
    rows = take(history, [[(time, None, 1.0, 1) for time in range(200)]])
    at_border = history.tail(190, 150, 100)
    assert (at_border.asked.since_us, at_border.asked.until_us) == (40, 100)
    assert at_border.is_exact
    assert at_border.rows == 60
    between = history.tail(190, 145, 100)
    shown = [getattr(between.bounds("count"), side) for side in ("value", "low", "high")]
    assert shown == [55, 50, 60]
    compare(Aggregate("count"), rows[45:100], shown, doubt=True)
