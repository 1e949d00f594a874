"""The shape of one group's tree, for people and tests: inner nodes are found from the leaves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from windrow.history.adaptive_tree import AdaptiveTree
from windrow.history.cells.kernels import DENSE, LEVEL_MASK, SIZE
from windrow.history.spec import HistorySpec
from windrow.history.state_kernels import ROWS, START

__all__ = ["Node", "shape_of"]


@dataclass(frozen=True)
class Node:
    """A node of the tree.

    kind: 'inner', 'leaf' (keeps its rows), 'base' (of the finest level), or 'virtual' (no rows).
    """

    level: int
    start_us: int
    rows: int
    kind: str


def shape_of(tree: AdaptiveTree, spec: HistorySpec, code: int = 0) -> list[Node]:
    """All nodes of the newest region, a node before its children, in order of time."""
    leaves = {(leaf.level, leaf.start_us): leaf for leaf in _leaves(tree, code)}
    top = len(spec.levels) - 1
    steps_us = spec.granularities_us
    roots = sorted({start_us // steps_us[top] * steps_us[top] for _, start_us in leaves})
    return [node for root in roots for node in _below(leaves, steps_us, top, root)]


def _leaves(tree: AdaptiveTree, code: int) -> Iterator[Node]:
    store = tree.stores[0]
    if code >= store.arena.series.shape[1]:
        return
    first = int(store.arena.first(np.array([code]))[0])
    for place in range(first, first + int(store.arena.series[SIZE, code])):
        shape = int(store.shape[place])
        kind = "base" if shape & DENSE else "leaf"
        start_us, rows = int(store.whole[START, place]), int(store.whole[ROWS, place])
        yield Node(shape & LEVEL_MASK, start_us, rows, kind)


def _below(
    leaves: dict[tuple[int, int], Node], steps_us: tuple[int, ...], level: int, start_us: int
) -> list[Node]:
    """A node and all below it; one without leaves is virtual."""
    leaf = leaves.get((level, start_us))
    if leaf is not None:
        return [leaf]
    end_us = start_us + steps_us[level]
    held = [
        each
        for each in leaves.values()
        if each.level < level and start_us <= each.start_us < end_us
    ]
    if not held:
        return [Node(level, start_us, 0, "virtual")]
    inner = Node(level, start_us, sum(each.rows for each in held), "inner")
    children = range(start_us, end_us, steps_us[level - 1])
    return [
        inner,
        *(node for child in children for node in _below(leaves, steps_us, level - 1, child)),
    ]
