"""The feed of a select against slow twins: a sorted list, a counter; and what it must not do."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.oracle import order_of, rows_of
from support.runners import listed, replay
from windrow.output import group_feed
from windrow.output.selects import kernels, select_feed
from windrow.output.selects.order_words import row_order
from windrow.output.selects.select_feed import SelectFeed

SCHEMA = pa.schema([("t", pa.string()), ("d", pa.float64()), ("n", pa.int64())])

texts = st.none() | st.text("a\0é€b", max_size=3) | st.sampled_from(["a" * 7, "a" * 9, "a" * 40])
doubles = st.none() | st.sampled_from([0.0, -1.5, 2.0, float("inf"), float("-inf"), float("nan")])
numbers = st.none() | st.sampled_from([0, 1, -1, 2**62, -(2**62)])
rows = st.tuples(texts, doubles, numbers)


def table_of(given_rows: list[tuple[object, ...]]) -> pa.Table:
    columns = [
        pa.array([row[i] for row in given_rows], kind) for i, kind in enumerate(SCHEMA.types)
    ]
    return pa.Table.from_arrays(columns, schema=SCHEMA)


def key_of(row: tuple[object, ...]) -> list[tuple[int, object]]:
    return [order_of(value.encode() if isinstance(value, str) else value) for value in row]


@given(st.lists(st.lists(rows, min_size=1, max_size=40), min_size=1, max_size=5))
def test_rows_are_sorted_within_runs(runs: list[list[tuple[object, ...]]]) -> None:
    flat = [row for run in runs for row in run]
    starts = np.cumsum([0, *map(len, runs)])
    order = row_order(table_of(flat), starts)
    for first, end in itertools.pairwise(starts):
        found = [key_of(flat[i]) for i in order[first:end]]
        assert found == sorted(map(key_of, flat[first:end]))


@st.composite
def steps(draw: st.DrawFn) -> list[dict[int, int]]:
    """Per step: the copies of some of eight rows."""
    return draw(st.lists(st.dictionaries(st.integers(0, 7), st.integers(0, 2)), max_size=12))


@given(
    st.lists(rows, min_size=8, max_size=8, unique_by=lambda row: str(key_of(row))),
    steps(),
    st.frozensets(st.integers(0, 12)),
    st.sampled_from([2, 1000]),
)
def test_the_result_is_a_sorted_list(
    known: list[tuple[object, ...]],
    updated: list[dict[int, int]],
    reads: frozenset[int],
    let_be: int,
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(select_feed, "ROWS_LET_BE", let_be)
        patch.setattr(group_feed, "UPDATES_LIMIT", 3)
        feed, copies = SelectFeed(SCHEMA), Counter[int]()
        for number, step in enumerate(updated):
            record(feed, known, number, step)
            for code, many in step.items():
                copies[code] = many
            if number in reads:
                check_result(feed, known, copies)
        check_result(feed, known, copies)
        assert feed.result() is feed.result()
        held: Counter = Counter()
        replay(feed.changes(), held)
        shown = [tuple(map(str, row)) for row in rows_of(feed.result())]
        assert Counter(shown) == Counter(tuple(map(str, row)) for row in listed(held))


def record(
    feed: SelectFeed, known: list[tuple[object, ...]], at: int, step: dict[int, int]
) -> None:
    codes = np.array(list(step), np.int32)
    times, many = np.full(codes.size, at, np.int64), np.array(list(step.values()), np.int64)
    feed.record(times, codes, codes, many, lambda which: table_of([known[i] for i in which]))
    feed.trim()


def check_result(feed: SelectFeed, known: list[tuple[object, ...]], copies: Counter[int]) -> None:
    expected = sorted(key_of(known[i]) for i in copies.elements())
    assert [key_of(row) for row in rows_of(feed.result())] == expected


def test_netting_again_and_again_goes_over_an_update_a_few_times(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(group_feed, "UPDATES_LIMIT", 10)
    seen = 0

    def counted(row, *others):
        nonlocal seen
        seen += row.size
        return net(row, *others)

    net = kernels.net
    monkeypatch.setattr(kernels, "net", counted)
    feed = SelectFeed(pa.schema([("n", pa.int64())]))
    for number in range(1000):  # rows that stay: netting leaves all of them
        one = np.array([number], np.int64)
        feed.record(one, one.astype(np.int32), one.astype(np.int32), np.ones(1, np.int64), numbered)
        feed.trim()
    assert 0 < seen <= 4 * 1000
    assert feed.changes().num_rows == 1000


def numbered(codes: np.ndarray) -> pa.Table:
    return pa.table({"n": pa.array(codes, pa.int64())})
