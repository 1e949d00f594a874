"""A leaf that is given changes holds their sum, however it is run, undone, saved and read again."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from windrow.event_time import START_OF_TIME
from windrow.operators.relations.changes import Changes
from windrow.plan.relations.algebra import Field
from windrow.plan.relations.exchange_algebra import Received
from windrow.runtime.trees.received_leaf import ReceivedLeaf
from windrow.schema import BIGINT, STRING

NODE = Received(0, (Field("x", "x", BIGINT), Field("y", "y", STRING)))
ROWS = [(1, "a"), (1, None), (None, "b"), (2, "")]
# Instants that follow each other, each with rows that enter or leave.
STEPS = st.lists(
    st.lists(st.tuples(st.integers(0, 3), st.sampled_from(ROWS), st.sampled_from([-1, 1, 2]))),
    max_size=6,
)


def changes_of(items: list[tuple[int, tuple[object, object], int]]) -> Changes:
    at, weight = ([item[place] for item in items] for place in (0, 2))
    columns = zip(*(row for _, row, _ in items), strict=True) if items else ([], [])
    types = (pa.int64(), pa.string())
    arrays = tuple(pa.array(list(part), kind) for part, kind in zip(columns, types, strict=True))
    return Changes(np.array(at, np.int64), np.array(weight, np.int64), arrays)


def counted(changes: Changes) -> Counter[tuple[object, ...]]:
    found: Counter[tuple[object, ...]] = Counter()
    for *row, weight in zip(*(c.to_pylist() for c in changes.columns), changes.weight, strict=True):
        found[tuple(row)] += int(weight)
    return Counter({row: count for row, count in found.items() if count})


@given(STEPS, st.lists(st.sampled_from(["keep", "undo", "save"]), max_size=6))
def test_it_holds_the_sum_of_what_it_gave(
    steps: list[list[tuple[int, tuple[object, object], int]]], fates: list[str]
) -> None:
    leaf, told, clock = ReceivedLeaf(NODE), Counter[tuple[object, ...]](), 0
    for number, step in enumerate(steps):
        begin = START_OF_TIME if number == 0 else clock + 1
        items = sorted(
            ((begin + after, row, many) for after, row, many in step), key=lambda i: i[0]
        )
        leaf.receive(changes_of(items), begin)
        clock, fate = begin + 3, fates[number] if number < len(fates) else "keep"
        mark = leaf.mark(())
        found = leaf.run(clock)
        if fate == "undo":
            leaf.rewind(mark)
            assert counted(leaf.held(clock)) == Counter({r: n for r, n in told.items() if n})
            found = leaf.run(clock)
        leaf.keep(mark)
        for row, count in counted(found).items():
            told[row] += count
        if fate == "save":
            saved, leaf = leaf.saved(), ReceivedLeaf(NODE)
            leaf.load(saved, clock)
        assert counted(leaf.held(clock)) == Counter({r: n for r, n in told.items() if n})
        assert set(leaf.held(clock).at.tolist()) <= {clock}
        assert leaf.first_us == START_OF_TIME
    assert not leaf.run(clock + 9).size
