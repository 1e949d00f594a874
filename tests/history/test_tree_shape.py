"""The tree that rows make: the worked example, and that neither order nor batching shows."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from papers.history.tree_shape import Node, shape_of
from windrow.history.adaptive_tree import AdaptiveTree
from windrow.history.history import History
from windrow.history.spec import HistorySpec, levels_of
from windrow.schema import BIGINT, Column

SPEC = HistorySpec(
    levels_of([(1, None), (4, None), (16, None)]), (Column("v", BIGINT),), split_above=4
)
# Values and their times.
EXAMPLE = [
    *((12, 2), (10, 4), (23, 5), (10, 5), (5, 6), (8, 6), (22, 8), (24, 8), (10, 13), (11, 15)),
    *((22, 18), (4, 25), (6, 27), (3, 27), (6, 28), (23, 30), (5, 32)),
]


def tree_of(rows: list[tuple[int, int]], batch_rows: int) -> list[Node]:
    history = History(SPEC)
    for first in range(0, len(rows), batch_rows):
        batch = rows[first : first + batch_rows]
        times = np.array([time for _, time in batch])
        history.insert(times, {"v": pa.array([value for value, _ in batch])})
    assert isinstance(history.storage, AdaptiveTree)
    return shape_of(history.storage, SPEC)


def brief(nodes: list[Node]) -> list[tuple[int, int, int, str]]:
    return [(node.level, node.start_us, node.rows, node.kind) for node in nodes]


def test_the_first_four_elements_stay_in_one_leaf() -> None:
    assert brief(tree_of(EXAMPLE[:4], 1)) == [(2, 0, 4, "leaf")]


def test_the_fifth_element_splits_the_leaf() -> None:
    assert brief(tree_of(EXAMPLE[:5], 1)) == [
        (2, 0, 5, "inner"),
        (1, 0, 1, "leaf"),
        (1, 4, 4, "leaf"),
        (1, 8, 0, "virtual"),
        (1, 12, 0, "virtual"),
    ]


def test_the_sixth_element_splits_a_child() -> None:
    assert brief(tree_of(EXAMPLE[:6], 1)) == [
        (2, 0, 6, "inner"),
        (1, 0, 1, "leaf"),
        (1, 4, 5, "inner"),
        (0, 4, 1, "base"),
        (0, 5, 2, "base"),
        (0, 6, 2, "base"),
        (0, 7, 0, "virtual"),
        (1, 8, 0, "virtual"),
        (1, 12, 0, "virtual"),
    ]


def test_the_whole_example() -> None:
    assert brief(tree_of(EXAMPLE, 1)) == [
        (2, 0, 10, "inner"),
        (1, 0, 1, "leaf"),
        (1, 4, 5, "inner"),
        (0, 4, 1, "base"),
        (0, 5, 2, "base"),
        (0, 6, 2, "base"),
        (0, 7, 0, "virtual"),
        (1, 8, 2, "leaf"),
        (1, 12, 2, "leaf"),
        (2, 16, 6, "inner"),
        (1, 16, 1, "leaf"),
        (1, 20, 0, "virtual"),
        (1, 24, 3, "leaf"),
        (1, 28, 2, "leaf"),
        (2, 32, 1, "leaf"),
    ]


def test_a_second_with_many_rows() -> None:
    burst = [(value, 9) for value in range(5)]
    assert brief(tree_of(burst, 2))[-5:] == [
        (0, 8, 0, "virtual"),
        (0, 9, 5, "base"),
        (0, 10, 0, "virtual"),
        (0, 11, 0, "virtual"),
        (1, 12, 0, "virtual"),
    ]


def expected(rows: list[tuple[int, int]]) -> list[Node]:
    """The tree by its definition."""
    steps = SPEC.granularities_us

    def below(level: int, start: int) -> list[Node]:
        held = [time for _, time in rows if start <= time < start + steps[level]]
        if not held:
            return [Node(level, start, 0, "virtual")]
        if level == 0:
            return [Node(level, start, len(held), "base")]
        if len(held) <= SPEC.split_above:
            return [Node(level, start, len(held), "leaf")]
        children = range(start, start + steps[level], steps[level - 1])
        inner = Node(level, start, len(held), "inner")
        return [inner, *(node for child in children for node in below(level - 1, child))]

    roots = sorted({time // 16 * 16 for _, time in rows})
    return [node for root in roots for node in below(2, root)]


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(-20, 60)), max_size=60),
    st.integers(1, 20),
)
def test_any_rows_in_any_order(rows: list[tuple[int, int]], batch_rows: int) -> None:
    assert tree_of(rows, batch_rows) == expected(rows)
