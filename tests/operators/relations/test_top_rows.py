"""The first rows of partitions, against sorting the whole relation at every instant."""

from __future__ import annotations

import random
from collections import Counter
from itertools import groupby

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.relation_changes import (
    Change,
    Held,
    assert_follows,
    changes_of,
    in_columns,
    outcome,
    plain_changes,
    relation,
)
from support.slow_order import partitions_in_order
from windrow.operators.relations.top_rows import TopRowsOperator
from windrow.plan.expressions import Call
from windrow.plan.relations.algebra import OrderKey, TopRows, Values

ROWS = relation(
    "r",
    "k int, s string, d double, t timestamp, b boolean, p decimal(12, 2), y date, f float, "
    "n bigint",
)
ORDERS = st.lists(
    st.builds(
        lambda place, is_descending, nulls_first: OrderKey(
            ROWS.fields[place].ref, is_descending, nulls_first
        ),
        st.integers(0, len(ROWS.fields) - 1), st.booleans(), st.booleans(),
    ),
    max_size=3,
)  # fmt: skip
LIMITS = st.sampled_from([None, 0, 1, 2, 3, 5])
OFFSETS = st.sampled_from([0, 0, 1, 2, 4])
PARTITIONS = st.sampled_from([(), (0,), (1,), (2, 1)])
NARROW = relation("n", "k int, v int")


def slow_top(node: TopRows) -> object:
    def slow(held: Held) -> Held:
        end = None if node.limit is None else node.offset + node.limit
        parts = partitions_in_order(node, held)
        return Counter(row for rows in parts for row in rows[node.offset : end])

    return slow


def assert_net(node: TopRows, changes: list[Change]) -> None:
    """No row is named twice in an instant."""
    found = outcome(TopRowsOperator(node), node, [changes], [])
    for _, now in groupby(found, key=lambda change: change.at):
        rows = [repr(change.row) for change in now]
        assert len(set(rows)) == len(rows)


@given(changes_of(ROWS, 10), ORDERS, PARTITIONS, LIMITS, OFFSETS)
def test_all_types(changes, order, partition, limit, offset):
    by = tuple(ROWS.fields[place].ref for place in partition)
    node = TopRows(ROWS, by, tuple(order), limit, offset)
    assert_follows(TopRowsOperator, node, [changes], slow_top(node))
    assert_net(node, changes)


@given(st.data(), LIMITS, OFFSETS, st.booleans())
def test_many_rows_of_few_columns(data, limit, offset, is_descending):
    changes = data.draw(changes_of(NARROW, instants=30, changes=8))
    order = (OrderKey(NARROW.fields[1].ref, is_descending),)
    node = TopRows(NARROW, (NARROW.fields[0].ref,), order, limit, offset)
    assert_follows(TopRowsOperator, node, [changes], slow_top(node))
    assert_net(node, changes)


@pytest.mark.parametrize("seed", range(4))
def test_many_rows_that_come_and_go(seed):
    random_numbers = random.Random(seed)
    changes, held = [], []
    for at in range(400):
        for _ in range(random_numbers.randint(1, 3)):
            row = (random_numbers.randint(0, 2), random_numbers.randint(0, 60))
            held.append(row)
            changes.append(Change(at, 1, row))
        while len(held) > 80:
            changes.append(Change(at, -1, held.pop(random_numbers.randint(0, len(held) - 1))))
    order = (OrderKey(NARROW.fields[1].ref),)
    node = TopRows(NARROW, (NARROW.fields[0].ref,), order, 5, seed)
    found = outcome(TopRowsOperator(node), node, [changes], range(0, 400, 7), last=400)
    shown: Counter[object] = Counter()
    relation_now: Counter[object] = Counter()
    slow = slow_top(node)
    for at in range(400):
        for change in changes:
            if change.at == at:
                relation_now[change.row] += change.weight
        for change in found:
            if change.at == at:
                shown[change.row] += change.weight
        assert +shown == slow(+relation_now)


def test_a_change_behind_the_rows_shown_says_nothing():
    node = TopRows(NARROW, (), (OrderKey(NARROW.fields[1].ref),), 2)
    operator = TopRowsOperator(node)
    first = [Change(1, 1, (0, 1)), Change(1, 1, (0, 2)), Change(1, 5, (0, 9))]
    assert len(plain_changes(operator.advance([in_columns(first, NARROW)], 1))) == 2
    later = [Change(2, 1, (0, 7)), Change(2, -4, (0, 9))]
    assert operator.advance([in_columns(later, NARROW)], 2).size == 0
    (entered, pushed_out) = plain_changes(
        operator.advance([in_columns([Change(3, 1, (0, 0))], NARROW)], 3)
    )
    assert {entered, pushed_out} == {Change(3, 1, (0, 0)), Change(3, -1, (0, 2))}


def test_order_by_an_expression():
    key, value = NARROW.fields
    total = Call("+", (key.ref, value.ref), value.type)
    node = TopRows(NARROW, (), (OrderKey(total, is_descending=True),), 1)
    changes = [Change(1, 1, (1, 1)), Change(2, 1, (0, 5)), Change(3, 1, (3, 0))]
    found = outcome(TopRowsOperator(node), node, [changes], [1, 2])
    assert found[0] == Change(1, 1, (1, 1))
    assert set(found[1:]) == {Change(2, 1, (0, 5)), Change(2, -1, (1, 1))}


def test_texts_with_trailing_nul_letters_and_long_ones():
    texts = relation("t", "s string")
    assert isinstance(texts, Values)
    values = ["a", "a\0", "a\0\0", "a" * 9, "b", None, "", "\0", "a" * 8 + "\0"]
    for is_descending in (False, True):
        for size in range(len(values)):
            order = (OrderKey(texts.fields[0].ref, is_descending),)
            node = TopRows(texts, (), order, size)
            changes = [Change(at, 1, (value,)) for at, value in enumerate(values)]
            assert_follows(TopRowsOperator, node, [changes], slow_top(node))
