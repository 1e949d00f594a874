"""A history as points and as nodes, against sums over the rows themselves."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from papers.history.tree_shape import shape_of
from windrow.history.operator import HistoryOperator
from windrow.history.questions.series import group_keys, series_of, shape_table
from windrow.plan.history_schema import declared_history
from windrow.schema import StreamSchema, columns_of

SECOND_US = 1_000_000
STREAM = StreamSchema("s", columns_of("ts timestamp, k string, x double"), "ts")
LEVELS = [("1 second", "20 seconds"), ("5 seconds", "1 minute"), ("20 seconds", "forever")]

rows_of_a_stream = st.lists(
    st.tuples(st.integers(0, 200 * SECOND_US), st.sampled_from("ab"), st.integers(0, 9)),
    min_size=1,
    max_size=80,
)


def kept(rows: list[tuple[int, str, int]], by: list[str]) -> HistoryOperator:
    operator = HistoryOperator(declared_history(STREAM, ["x"], by, LEVELS))
    times, keys, values = zip(*sorted(rows), strict=True)
    batch = pa.RecordBatch.from_arrays(
        [
            pa.array(times, pa.int64()).cast(STREAM.arrow.field("ts").type),
            pa.array(keys),
            pa.array(values, pa.float64()),
        ],
        schema=STREAM.arrow,
    )
    operator.append(batch)
    due = operator.drain_due(times[-1])
    operator.insert(due, 0, due.times.size)
    operator.history.advance(times[-1])
    return operator


@given(rows_of_a_stream, st.integers(1, 300), st.sampled_from([None, "a", "b"]))
def test_points_are_sums_over_the_rows(
    rows: list[tuple[int, str, int]], points: int, group: str | None
) -> None:
    operator = kept(rows, ["k"])
    keys = None if group is None else group_keys(operator.schema, [group])
    found = series_of(operator, "x", None, None, points, keys).to_pylist()
    wanted = [(time, value) for time, key, value in rows if group in (None, key)]
    assert sum(row["count"] for row in found) == len(wanted)
    before = None
    for row in found:
        inside = [value for time, value in wanted if row["from_us"] <= time < row["to_us"]]
        assert row["exact"]
        assert row["count"] == len(inside) > 0
        assert row["sum"] == sum(inside)
        assert (row["min"], row["max"]) == (min(inside), max(inside))
        assert row["lower"] == row["mean"] == row["upper"]
        assert before is None or row["from_us"] >= before
        before = row["to_us"]


@given(rows_of_a_stream, st.integers(0, 200), st.integers(1, 100))
def test_a_part_of_the_time_has_its_rows(
    rows: list[tuple[int, str, int]], since_s: int, length_s: int
) -> None:
    operator = kept(rows, [])
    since_us, until_us = since_s * SECOND_US, (since_s + length_s) * SECOND_US
    found = series_of(operator, None, since_us, until_us, 50).to_pylist()
    # The ends are those of nodes, so that there may be more, but never less.
    inside = sum(since_us <= time < until_us for time, _, _ in rows)
    assert sum(row["count"] for row in found) >= inside
    assert all(row["exact"] for row in found)


@given(rows_of_a_stream)
def test_nodes_are_those_that_the_slow_walk_finds(rows: list[tuple[int, str, int]]) -> None:
    newest = max(time for time, _, _ in rows)
    # Within the newest region nothing is coarsened: there the slow walk knows every node.
    rows = [row for row in rows if row[0] > newest - 10 * SECOND_US]
    operator = kept(rows, [])
    found = shape_table(operator)
    history = operator.history
    slow = [
        (node.level, node.start_us, node.rows, node.kind == "inner")
        for node in shape_of(history.storage, history.spec)  # type: ignore[arg-type]
        if node.kind != "virtual"
    ]
    top = [tuple(row.values()) for row in found.to_pylist()]
    assert set(slow) <= set(top)
    counts = np.array([row[2] for row in top if row[0] == len(LEVELS) - 1])
    assert counts.sum() == len(rows)
