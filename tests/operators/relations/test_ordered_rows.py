"""Rows in order within partitions, against a sorted list."""

from __future__ import annotations

import random
from collections import Counter
from decimal import Decimal
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.relation_changes import Change, changes_of, in_columns, relation, values_of
from support.slow_order import partitions_in_order
from windrow.operators.relations.order_words import KeyOrder, OrderWords
from windrow.operators.relations.ordered_kernels import (
    EMPTY,
    FIRST,
    FOLLOWING,
    LAST,
    LEFT,
    PREVIOUS,
    RIGHT,
    ROOT,
    apply_changes,
    priority,
    rank_of,
    row_at,
)
from windrow.operators.relations.ordered_rows import OrderedRows
from windrow.plan.relations.algebra import OrderKey, TopRows
from windrow.schema import decimal, type_named
from windrow.windows.wide_decimals import wide_of_words, words_of_wide

ROWS = relation("r", "k int, s string, d double, n bigint")
KEY, TEXT, NUMBER, WIDE = ROWS.fields
ORDER = (OrderKey(NUMBER.ref, is_descending=True), OrderKey(TEXT.ref, nulls_first=False))
NODE = TopRows(ROWS, (KEY.ref,), ORDER, None)


def apply(store: OrderedRows, changes: list[Change]) -> None:
    """One instant after the other, as operators do."""
    for at in sorted({change.at for change in changes}):
        now = [change for change in changes if change.at == at]
        coded = store.load(in_columns(now, ROWS))
        assert not apply_changes(coded.rows, coded.partitions, coded.weight, store.tree)
        store.release(coded)


def assert_is_tree(store: OrderedRows, partition: int) -> list[int]:
    """Links, priorities and sizes are as they must be; returns the rows in order."""
    tree = store.tree

    def below(node: int) -> list[int]:
        if node == EMPTY:
            return []
        left, right = below(tree.links[node, LEFT]), below(tree.links[node, RIGHT])
        for child in (tree.links[node, LEFT], tree.links[node, RIGHT]):
            assert child == EMPTY or priority(child) < priority(node)
        rows = [*left, int(node), *right]
        assert tree.sizes[node] == tree.counts[rows].sum()
        return rows

    rows = below(tree.heads[partition, ROOT])
    assert tree.heads[partition, FIRST] == (rows[0] if rows else EMPTY)
    assert tree.heads[partition, LAST] == (rows[-1] if rows else EMPTY)
    for one, other in pairwise(rows):
        assert tree.links[one, FOLLOWING] == other
        assert tree.links[other, PREVIOUS] == one
    return rows


def in_order(store: OrderedRows) -> list[list[tuple[object, ...]]]:
    """The rows of every partition, each as often as it is there."""
    found = []
    for partition in range(store.tree.heads.shape[0]):
        rows = assert_is_tree(store, partition)
        if not rows:
            continue
        copies = np.repeat(rows, store.tree.counts[rows]).astype(np.int32)
        columns = [column.to_pylist() for column in store.columns(copies)]
        found.append(list(zip(*columns, strict=True)))
        assert_ranks(store, partition, copies.tolist())
    return found


def assert_ranks(store: OrderedRows, partition: int, copies: list[int]) -> None:
    assert [row_at(rank, partition, store.tree) for rank in range(len(copies))] == copies
    assert row_at(-1, partition, store.tree) == EMPTY
    assert row_at(len(copies), partition, store.tree) == EMPTY
    assert all(rank_of(row, store.tree) == copies.index(row) for row in copies)


def held(changes: list[Change]) -> Counter[object]:
    out: Counter[object] = Counter()
    for change in changes:
        out[change.row] += change.weight
    return +out


@given(changes_of(ROWS, instants=15, changes=8))
def test_rows_are_in_order(changes):
    store = OrderedRows(ROWS.fields, (KEY.ref,), ORDER, with_sizes=True)
    apply(store, changes)
    wanted = partitions_in_order(NODE, held(changes))
    assert sorted(map(repr, in_order(store))) == sorted(map(repr, wanted))


@pytest.mark.parametrize("seed", range(3))
def test_many_rows(seed):
    numbers = random.Random(seed)
    store = OrderedRows(ROWS.fields, (KEY.ref,), ORDER, with_sizes=True)
    now: list[tuple[object, ...]] = []
    for at in range(60):
        entering = [
            (numbers.randint(0, 2), numbers.choice("abc") * numbers.randint(0, 9 + at), 0.5, at)
            for _ in range(20)
        ]
        leaving = [now.pop(numbers.randint(0, len(now) - 1)) for _ in range(len(now) // 8)]
        now += entering
        apply(store, [Change(at, 1, row) for row in entering])
        apply(store, [Change(at, -1, row) for row in leaving])
    wanted = partitions_in_order(NODE, Counter(now))
    assert sorted(map(repr, in_order(store))) == sorted(map(repr, wanted))


def test_codes_of_rows_that_left_are_used_again():
    store = OrderedRows(ROWS.fields, (KEY.ref,), ORDER)
    for at in range(3_000):
        apply(store, [Change(at, 1, (at, "x", 0.0, at))])
        apply(store, [Change(at, -1, (at, "x", 0.0, at))])
    assert store.capacity == 64
    assert store.tree.heads.shape[0] == 64
    assert store.nbytes < 20_000


def test_memory_is_counted():
    store = OrderedRows(ROWS.fields, (KEY.ref,), ORDER)
    before, growth = store.nbytes, store.growth_bytes(1_000)
    apply(store, [Change(0, 1, (n, "x" * 30, 0.0, n)) for n in range(1_000)])
    # Links, a multiplicity and at least six words each.
    assert 1_000 * (32 + 8 + 6 * 8) < store.nbytes - before < growth


TYPES = ["int", "double", "float", "string", "timestamp", "date", "boolean", "decimal(18, 3)"]


@given(st.data(), st.sampled_from(TYPES), st.booleans(), st.booleans())
def test_words_have_the_order_of_values(data, name, is_descending, nulls_first):
    kind = type_named(name)
    batches = data.draw(st.lists(st.lists(values_of(kind), min_size=1), min_size=1, max_size=4))
    words = OrderWords([KeyOrder(kind.arrow, is_descending, nulls_first)])
    matrix, forms = np.empty((0, words.width), np.int64), words.forms()
    for batch in batches:
        added = words.encode([pa.array(batch, kind.arrow)])
        matrix = np.concatenate([words.widened(matrix, forms), added])
        forms = words.forms()
    values = [value for batch in batches for value in batch]
    table = relation("v", f"v {name}")
    order = (OrderKey(table.fields[0].ref, is_descending, nulls_first),)
    (wanted,) = partitions_in_order(
        TopRows(table, (), order, None), Counter((value,) for value in values)
    )
    found = [values[place] for place in np.lexsort(matrix.T[::-1])]
    assert [repr(_plain(value)) for value in found] == [repr(_plain(row[0])) for row in wanted]


def _plain(value: object) -> object:
    return 0.0 if value == 0 and isinstance(value, float) else value


def test_wide_decimals_go_to_words_and_back():
    kind = decimal(38, 2).arrow
    top = Decimal("9" * 36 + ".99")
    values = [Decimal("1.00"), None, top, top.copy_negate(), Decimal(2**64), Decimal("-0.01")]
    column = pa.array(values, kind)
    words = words_of_wide(column)
    mask = np.array([value is None for value in values])
    parts = [pa.array(np.ascontiguousarray(words[:, i]), mask=mask) for i in range(2)]
    assert wide_of_words(*parts, kind).to_pylist() == values
    order = np.lexsort(OrderWords([KeyOrder(kind)]).encode([column]).T[::-1])
    ordered = [values[place] for place in order]
    assert ordered == [None, *sorted(value for value in values if value is not None)]
