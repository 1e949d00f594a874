"""Rows that keep a second code for themselves count what rows in cells count."""

from __future__ import annotations

from collections import deque
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.runners import outcome
from support.streams import Action, plan_of, scenarios
from windrow.operators.tree import operator as tree_operator
from windrow.operators.tree import queue_kernels, second_codes
from windrow.operators.tree.chain_tree import ChainTree
from windrow.operators.tree.code_queues import CodeQueues
from windrow.operators.tree.distinct_tree import DistinctTree
from windrow.operators.tree.operator import TreeOperator
from windrow.plan.model import QueryPlan
from windrow.rows.prepare import Preparer
from windrow.rows.prepared_rows import PreparedRows
from windrow.rows.shape import shape_of
from windrow.runtime.shard import Shard
from windrow.windows.kernels import EMPTY

THREE = "FROM a [2 SECONDS], b [3 SECONDS], c [1 SECOND] WHERE"
PAIR = "FROM a [2 SECONDS], b [1 SECOND] WHERE a.k = b.k"
CHAIN = f"SELECT COUNT(*) AS n {THREE} a.k = b.k AND b.l = c.l"
TEXTS = (
    CHAIN,
    f"{CHAIN} EVERY (1 SECOND)",
    f"SELECT COUNT(*) AS n {THREE} b.o = a.o AND a.s = c.s",
    "SELECT COUNT(*) AS n FROM a [2 SECONDS], b [ROWS 5], c [RANGE 2 SECONDS SLIDE 1 SECOND] "
    "WHERE a.k = b.k AND b.o = c.o",
    f"SELECT COUNT(DISTINCT a.l) AS n {PAIR}",
    f"SELECT COUNT(DISTINCT b.d) AS n, SUM(a.k) AS s {PAIR} EVERY (1 SECOND)",
    f"SELECT COUNT(DISTINCT c.s) AS n, COUNT(*) AS m {THREE} a.k = b.k AND b.k = c.k",
    "SELECT COUNT(DISTINCT a.o) AS n FROM a [ROWS 4], b [1 SECOND] WHERE a.k = b.k",
)
READS = frozenset([3, 6])


@pytest.mark.parametrize("text", TEXTS)
@given(actions=scenarios(streams="abc"))
def test_rows_count_what_cells_count(text: str, actions: list[Action]) -> None:
    plan = plan_of(text)
    found = outcome(plan, actions, reads=READS)
    with patch.object(tree_operator, "second_code", return_value=None):
        assert outcome(plan, actions, reads=READS) == found


@pytest.mark.parametrize("text", [TEXTS[0], TEXTS[1], TEXTS[5]])
@given(actions=scenarios(streams="abc"))
def test_no_answer_changes_when_rows_are_folded(text: str, actions: list[Action]) -> None:
    plan = plan_of(text)
    found = outcome(plan, actions, reads=READS)
    with (
        patch.object(second_codes.Walks, "are_due", lambda _self, walked, _rows: walked > 0),
        patch.object(tree_operator, "prefers_cells", return_value=True),
    ):
        assert outcome(plan, actions, reads=READS) == found


def changes_of(plan: QueryPlan, first_us: int) -> dict[int, PreparedRows]:
    """Rows of all inputs, one a microsecond: 40 of the first key, 5 of another."""
    found = {}
    for input_index, entry in enumerate(plan.inputs):
        schema, keys = entry.stream.arrow, np.repeat([7, 8], [40, 5])
        columns = {"ts": np.arange(first_us, first_us + keys.size), "k": keys, "l": keys}
        arrays = [
            pa.array(columns[field.name]).cast(field.type)
            if field.name in columns
            else pa.nulls(keys.size, field.type)
            for field in schema
        ]
        batch = pa.RecordBatch.from_arrays(arrays, schema=schema)
        found[input_index] = Preparer(plan, input_index).prepare(batch)
    return found


def states_of(shard: Shard) -> list[tuple[int, int, list[int]]]:
    """The states of a shard to which rows of few cells come again and again."""
    found = []
    for turn in range(8):
        first_us = 1 + 2_000_000 * turn
        partial = shard.advance(changes_of(shard.plan, first_us), first_us + 100)
        extras = partial.extras.tolist() or [[]] * partial.at.size
        found += list(zip(partial.at.tolist(), partial.count.tolist(), extras, strict=True))
    return found


@pytest.mark.parametrize("text", [CHAIN, TEXTS[4]])
def test_many_rows_of_one_cell_are_folded(text: str) -> None:
    plan = plan_of(text)
    unfolded, folded, folding = Shard(plan), Shard(plan), Shard(plan)
    folded._fold()
    wanted = states_of(unfolded)
    assert not unfolded._shape.is_folded
    assert states_of(folded) == wanted
    with (
        patch.object(second_codes, "FEW_WALKED", 1),
        patch.object(second_codes, "WALKED_FOR_EACH", 1),
    ):
        folding._begin_anew(folding.algorithm)  # where the number is read
        assert states_of(folding) == wanted
    assert folding._shape.is_folded


def test_what_has_a_second_code() -> None:
    def trees(text: str) -> list[object]:
        plan = plan_of(text)
        return list(TreeOperator(plan, shape_of(plan), 1)._aggregate.trees)

    assert any(isinstance(each, ChainTree) for each in trees(CHAIN))
    assert any(isinstance(each, DistinctTree) for each in trees(TEXTS[4]))
    summed = f"SELECT SUM(b.k) AS n {THREE} a.k = b.k AND b.l = c.l"
    partitioned = "SELECT COUNT(DISTINCT a.l) AS n FROM a [PARTITION BY o ROWS 2], b [1 SECOND] "
    for text in (summed, partitioned + "WHERE a.k = b.k"):
        assert not any(isinstance(each, ChainTree | DistinctTree) for each in trees(text))


@given(st.lists(st.tuples(st.integers(0, 3), st.booleans()), max_size=200))
def test_queues_are_queues(steps: list[tuple[int, bool]]) -> None:
    """Against deques; blocks that were left are taken again before new ones."""
    queues, twins = CodeQueues(), [deque[int]() for _ in range(4)]
    queues.reserve(4)
    for code, (owner, enters) in enumerate(steps):
        if enters:
            assert queue_kernels.has_room(owner, queues.arrays)
            queue_kernels.push_code(owner, code, queues.arrays)
            twins[owner].append(code)
        elif twins[owner]:
            queue_kernels.pop_code(owner, queues.arrays)
            twins[owner].popleft()
        assert [codes_of(queues, owner) for owner in range(4)] == [list(each) for each in twins]
    most = len(steps) // (queue_kernels.BLOCK - 1) + len(twins)
    assert queues.arrays.control[queue_kernels.NEXT_FRESH] <= most


def codes_of(queues: CodeQueues, owner: int) -> list[int]:
    block, begin, last, behind = queues.arrays.owners[owner].tolist()
    found: list[int] = []
    while block != EMPTY:
        stop = behind if block == last else queue_kernels.BLOCK
        found += queues.arrays.blocks[block, begin:stop].tolist()
        block, begin = int(queues.arrays.blocks[block, queue_kernels.NEXT]), 1
    return found


def test_room_for_rows_is_foretold() -> None:
    queues = CodeQueues()
    before = queues.nbytes
    foretold = queues.growth_bytes(5_000, 10)
    queues.reserve(10)
    for code in range(5_000):
        while not queue_kernels.has_room(code % 10, queues.arrays):
            queues.grow()
        queue_kernels.push_code(code % 10, code, queues.arrays)
    assert before < queues.nbytes <= before + foretold
