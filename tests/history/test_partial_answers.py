"""Answers of parts that are merged, and of the tail before an edge."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.history_comparison import asked, check, compare
from support.past_rows import (
    MEASURES,
    Advance,
    Row,
    columns_of,
    specs,
    steps,
    take,
)
from windrow.errors import CheckpointError
from windrow.history.aggregates import Aggregate
from windrow.history.answers.merge import merge_answers, partial_of_table, table_of_partial
from windrow.history.history import History
from windrow.history.spec import HistorySpec, levels_of


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
