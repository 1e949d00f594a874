"""Rows that come with numbers, and fronts with a rest behind them, against slow twins."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.numbered_changes import Numbered
from support.relation_changes import (
    Change,
    assert_follows,
    changes_of,
    in_columns,
    plain_changes,
    relation,
)
from support.slow_order import partitions_in_order
from support.slow_windows import slow_windows
from windrow.operators.relations import neighbour_values, top_rows
from windrow.operators.relations.neighbour_values import NeighbourValuesOperator
from windrow.operators.relations.numbered_rows import NumberedRows, places_of
from windrow.operators.relations.ordered_kernels import (
    EMPTY,
    FIRST,
    FOLLOWING,
    LAST,
    LISTED,
    PREVIOUS,
    ROOT,
    ROWS,
    apply_changes,
)
from windrow.operators.relations.ordered_rows import OrderedRows
from windrow.operators.relations.rest_kernels import FRONT, SIZE
from windrow.operators.relations.row_numbers import RowNumbers
from windrow.operators.relations.top_rows import TopRowsOperator
from windrow.operators.relations.window_functions import WindowFunctionsOperator
from windrow.plan.expressions import Literal
from windrow.plan.relations.algebra import (
    Field,
    Frame,
    OrderKey,
    TopRows,
    WindowCall,
    WindowFunctions,
)
from windrow.schema import BIGINT

NARROW = relation("n", "k int, v int")
MIXED = relation("m", "k int, s string, d double")
KEY, VALUE = NARROW.fields


@pytest.fixture
def numbered(monkeypatch):
    monkeypatch.setattr(top_rows, "has_numbers", lambda _: True)
    monkeypatch.setattr(neighbour_values, "has_numbers", lambda _: True)


@pytest.fixture
def short_front(monkeypatch):
    """A rest of nearly everything, however few rows there are."""
    monkeypatch.setattr(top_rows, "_FRONT_OF_PREFIX", 1)
    monkeypatch.setattr(top_rows, "_SHORTEST_FRONT", 1)


def slow_top(node):
    def slow(held):
        end = None if node.limit is None else node.offset + node.limit
        parts = partitions_in_order(node, held)
        return Counter(row for rows in parts for row in rows[node.offset : end])

    return slow


def top_node(data, source, key, value):
    limit = data.draw(st.sampled_from([None, 0, 1, 2, 3, 5]))
    offset = data.draw(st.sampled_from([0, 0, 1, 3]))
    order = (OrderKey(value.ref, data.draw(st.booleans()), data.draw(st.booleans())),)
    return TopRows(source, (key.ref,), order, limit, offset)


@given(data=st.data())
@pytest.mark.usefixtures("short_front")
def test_front_and_rest(data):
    node = top_node(data, NARROW, KEY, VALUE)
    changes = data.draw(changes_of(NARROW, instants=30, changes=8))
    assert_follows(TopRowsOperator, node, [changes], slow_top(node))


@given(data=st.data())
@pytest.mark.usefixtures("short_front", "numbered")
def test_front_and_rest_of_numbered_rows(data):
    source = data.draw(st.sampled_from([NARROW, MIXED]))
    node = top_node(data, source, source.fields[0], source.fields[-1])
    changes = data.draw(changes_of(source, instants=20, changes=8))
    assert_follows(
        lambda each: Numbered(TopRowsOperator(each), each), node, [changes], slow_top(node)
    )


@given(data=st.data(), shift=st.sampled_from([-3, -1, 1, 2]))
@pytest.mark.usefixtures("numbered")
def test_neighbours_of_numbered_rows(data, shift):
    source = data.draw(st.sampled_from([NARROW, MIXED]))
    changes = data.draw(changes_of(source, instants=15, changes=6))
    value = source.fields[1]
    arguments = (value.ref, Literal(abs(shift), BIGINT))
    name = "lag" if shift < 0 else "lead"
    call = WindowCall(Field("x", "x", value.type), name, arguments, Frame("rows", None, None))
    order = (OrderKey(source.fields[-1].ref, data.draw(st.booleans())),)
    node = WindowFunctions(source, (source.fields[0].ref,), order, (call,))
    assert_follows(
        lambda each: Numbered(NeighbourValuesOperator(each), each), node, [changes],
        slow_windows(node),
    )  # fmt: skip


@given(changes=changes_of(NARROW, instants=10), function=st.sampled_from(["lag", "row_number"]))
def test_columns_that_nobody_reads_are_not_shown(changes, function):
    arguments = (VALUE.ref,) if function == "lag" else ()
    kind = VALUE.type if function == "lag" else BIGINT
    call = WindowCall(Field("x", "x", kind), function, arguments, Frame("rows", None, None))
    whole = WindowFunctions(NARROW, (KEY.ref,), (OrderKey(VALUE.ref),), (call,))
    slow = slow_windows(whole)

    def slow_shown(held):
        found: Counter[object] = Counter()
        for (_, *shown), count in slow(held).items():
            found[tuple(shown)] += count
        return found

    node = replace(whole, shown=frozenset({VALUE.id}))
    assert_follows(WindowFunctionsOperator, node, [changes], slow_shown)


ORDERS = {
    "first in, first out": lambda at: at,
    "last in, first out": lambda at: -at,
    "saw": lambda at: at % 37,
    "all equal": lambda _: 7,
    "scattered": lambda at: at * 7919 % 1009,
}


@pytest.mark.parametrize("name", ORDERS)
@pytest.mark.parametrize("offset", [0, 2])
def test_any_order_of_a_sliding_window(name, offset):
    """The first three rows while 150 rows slide: those in front leave first, last or anyhow."""
    node = TopRows(NARROW, (), (OrderKey(VALUE.ref),), 3, offset)
    operator = TopRowsOperator(node)
    held: list[tuple[int, int]] = []
    shown: Counter[tuple[int, int]] = Counter()
    for at in range(600):
        row = (at, ORDERS[name](at))
        now = [Change(at, 1, row)]
        held.append(row)
        if len(held) > 150 or (at > 450 and held):
            now.append(Change(at, -1, held.pop(0)))
        if at > 450 and held:
            now.append(Change(at, -1, held.pop(0)))
        found = operator.advance([in_columns(now, NARROW)], at)
        for change in plain_changes(found):
            shown[change.row] += change.weight
        wanted = sorted(held, key=lambda row: (row[1], row[0]))[offset : offset + 3]
        assert +shown == Counter(wanted), at
        assert not -shown
        rest, front = operator._rests[0], operator._rows.tree.heads[0, ROWS]
        assert rest[SIZE] + max(0, front) == len(held)
        assert front <= 2 * rest[FRONT]


def test_rows_that_always_leave_in_front_are_not_read_over_and_over():
    """ORDER BY time: a front drains with every row that leaves, so it becomes longer."""
    node = TopRows(NARROW, (), (OrderKey(VALUE.ref),), 3)
    operator = TopRowsOperator(node)
    size = 4_000
    operator.advance([in_columns([Change(0, 1, (0, n)) for n in range(size)], NARROW)], 0)
    for at in range(1, 60):
        now = [Change(at, 1, (0, size + at * 50 + n)) for n in range(50)]
        now += [Change(at, -1, (0, (at - 1) * 50 + n)) for n in range(50)]
        operator.advance([in_columns(now, NARROW)], at)
    assert operator._rests[0, FRONT] > size // 8


@pytest.mark.parametrize("seed", range(3))
def test_lists_and_trees_of_partitions(seed):
    """Rows in order of time need no tree; one that is looked for makes it, silence drops it."""
    numbers = random.Random(seed)
    store = OrderedRows(NARROW.fields, (KEY.ref,), (OrderKey(VALUE.ref),))
    held: list[tuple[int, int]] = []
    kinds = set()
    for at in range(500):
        value = numbers.randint(0, at) * 1_000 + at if at % 150 > 120 else at * 1_000
        now = [Change(at, 1, (at % 2, value))]
        held.append((at % 2, value))
        if len(held) > 60:
            now.append(Change(at, -1, held.pop(numbers.choice([0, 0, 30]))))
        coded = store.load(in_columns(now, NARROW))
        assert not apply_changes(coded.rows, coded.partitions, coded.weight, store.tree)
        store.release(coded)
        for partition in {int(each) for each in coded.partitions}:
            rows = _listed(store, partition)
            values = store.columns(np.array(rows, np.int32))[1].to_pylist()
            wanted = [v for k, v in held if k == at % 2]
            assert len(coded.partitions) > 1 or values == sorted(wanted)
            kinds.add(bool(store.tree.heads[partition, ROOT] == LISTED))
    assert kinds == {True, False}


def _listed(store, partition):
    tree, rows = store.tree, []
    row = int(tree.heads[partition, FIRST])
    while row != EMPTY:
        rows.append(row)
        row = int(tree.links[row, FOLLOWING])
    assert len(rows) == max(0, tree.heads[partition, ROWS])
    assert tree.heads[partition, LAST] == (rows[-1] if rows else EMPTY)
    assert all(tree.links[other, PREVIOUS] == one for one, other in pairwise(rows))
    return rows


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 9)), max_size=40))
def test_numbers_are_dense_and_of_one_row_at_a_time(steps):
    numbers, used, most = RowNumbers(), [], 0
    for takes, count in steps:
        if takes:
            fresh = numbers.take(count).tolist()
            assert not set(fresh) & set(used)
            used += fresh
        else:
            numbers.give_back(np.array(used[:count], np.int32))
            del used[:count]
        most = max(most, len(used))
        assert all(0 <= number < most for number in used)
        assert numbers.nbytes <= 4 * max(64, 2 * most)


def test_places_are_a_slice_where_numbers_follow_each_other():
    assert places_of(np.array([3, 4, 5], np.int32)) == slice(3, 6)
    for apart in ([3, 5], [3, 5, 4, 6], [5, 4, 3], []):
        assert isinstance(places_of(np.array(apart, np.int32)), np.ndarray)


def test_memory_of_numbered_rows_is_counted():
    rows = NumberedRows([pa.int64(), pa.string()])
    before = rows.nbytes
    promised = rows.growth_bytes(5_000)
    numbers = np.arange(5_000, dtype=np.int32)
    rows.hold(numbers, [pa.array(numbers, pa.int64()), pa.array([f"text {n}" for n in numbers])])
    assert rows.capacity == 8_192
    assert before + promised >= rows.nbytes >= 8_192 * 3 * 8 + 5_000 * 8
    rows.forget(numbers)
    assert rows.grown_bytes(rows.nbytes, 8_192) == 0
    assert rows.grown_bytes(rows.nbytes, 8_193) > 0
