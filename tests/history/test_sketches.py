"""Quantiles and different values: exact for few values, between bounds for many, at any age."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from support.history_comparison import asked
from support.past_rows import Row, columns_of, spark_order, specs, steps, take
from windrow.history.aggregates import Aggregate
from windrow.history.answers.answer import Answer
from windrow.history.answers.merge import merge_answers, partial_of_table, table_of_partial
from windrow.history.history import History
from windrow.history.parquet_archive import ParquetArchive
from windrow.history.saved_state import restore_history, save_history
from windrow.history.spec import HistorySpec, levels_of
from windrow.schema import BIGINT, DOUBLE, STRING, Column

ASKED = [
    *(Aggregate("quantile", "v", rank) for rank in (0.0, 0.25, 0.5, 1.0)),
    Aggregate("distinct", "n"),
    Aggregate("distinct", "k"),
]


@st.composite
def sketched(draw: st.DrawFn, *, grouped: bool) -> HistorySpec:
    spec = draw(specs(grouped=grouped))
    return HistorySpec(
        spec.levels, spec.measures, spec.keys, spec.split_above, ("v",),
        (Column("n", BIGINT), Column("k", STRING)),
    )  # fmt: skip


def true_sketch(aggregate: Aggregate, rows: list[Row]) -> Any:
    if aggregate.function == "distinct":
        place = 3 if aggregate.measure == "n" else 1
        return len({row[place] for row in rows if row[place] is not None})
    values = sorted(row[2] for row in rows if row[2] is not None and not math.isnan(row[2]))
    if not values:
        return None
    return values[max(math.ceil((aggregate.rank or 0) * len(values)) - 1, 0)]


def check_sketches(answer: Answer, rows: list[Row], *, is_one: bool, step: int) -> None:
    since, until = answer.asked.since_us, answer.asked.until_us
    inside = [row for row in rows if since <= row[0] < until]
    table = answer.table(ASKED)
    for index, group in enumerate([None] if is_one else table.column("k").to_pylist()):
        mine = inside if is_one else [row for row in inside if row[1] == group]
        for aggregate in ASKED:
            value, low, high = (
                table.column(aggregate.label + end)[index].as_py() for end in ("", "_low", "_high")
            )
            truth = true_sketch(aggregate, mine)
            is_aligned = since % step == until % step == 0
            if answer.is_exact and is_aligned:
                assert value == low == high == truth, (aggregate, mine)
            elif truth is not None:
                assert spark_order(low) <= spark_order(truth) <= spark_order(high), aggregate


@given(st.data())
def test_few_values_are_exact(data: st.DataObject) -> None:
    grouped = data.draw(st.booleans())
    spec = data.draw(sketched(grouped=grouped))
    given_steps = data.draw(steps())
    history = History(spec)
    rows = take(history, given_steps)
    if data.draw(st.booleans()):
        history = restore_history(spec, save_history(history))
    total = data.draw(st.booleans())
    at = data.draw(st.sampled_from([None, *spec.granularities_us]))
    step = spec.granularities_us[-1]
    since, until = data.draw(asked(given_steps))
    for first, last in ((since, until), (since // step * step, until // step * step)):
        answer = history.snapshot(first, last, at_us=at, total=total)
        check_sketches(answer, rows, is_one=total or not grouped, step=step)
        shipped = partial_of_table(spec, table_of_partial(answer))
        merged = merge_answers([shipped, history.snapshot(last, last, total=total)])
        check_sketches(merged, rows, is_one=total or not grouped, step=step)


def test_an_archive_keeps_sketches(tmp_path: Path) -> None:
    spec = HistorySpec(
        levels_of([(1, 2), (4, 8), (16, 16)]), (Column("v", DOUBLE), Column("n", BIGINT)),
        (Column("k", STRING),), 2, ("v",), (Column("n", BIGINT), Column("k", STRING)),
    )  # fmt: skip
    history = History(spec, archive=ParquetArchive(tmp_path, spec))
    rows: list[Row] = [(time, "ab"[time % 2], float(time % 5), time % 3) for time in range(90)]
    history.insert(np.array([row[0] for row in rows]), columns_of(rows))
    history.advance(89)
    for total in (False, True):
        for since, until in ((0, 96), (16, 80), (5, 60)):
            answer = history.snapshot(since, until, total=total)
            check_sketches(answer, rows, is_one=total, step=16)


def test_many_values_lie_between_their_bounds() -> None:
    spec = HistorySpec(
        levels_of([(100, 1_000), (1_000, None)]), (Column("v", DOUBLE),), quantiles=("v",),
        distincts=(Column("w", BIGINT),),
    )  # fmt: skip
    history = History(spec)
    random = np.random.default_rng(7)
    values, words = random.normal(size=20_000), random.integers(0, 5_000, 20_000)
    times = np.sort(random.integers(0, 10_000, 20_000))
    history.insert(times, {"v": pa.array(values), "w": pa.array(words)})
    history.advance(9_999)
    inside = (times >= 2_000) & (times < 9_500)
    answer = history.snapshot(2_000, 9_500)
    found = answer.bounds("distinct", "w")
    assert found.low <= np.unique(words[inside]).size <= found.high
    assert found.high - found.low < 0.1 * found.value
    median = answer.bounds("quantile", "v", 0.5)
    assert median.low <= np.median(values[inside]) <= median.high
    assert median.high - median.low < 0.1
