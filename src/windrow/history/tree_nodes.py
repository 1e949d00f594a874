"""All nodes of a history's trees as columns, for people to look at: leaves, and what is above them.

Trees of several groups are laid over each other: a node that any of them has split counts as split.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from windrow.history.adaptive_tree import AdaptiveTree
from windrow.history.cells.arena import Longs
from windrow.history.cells.kernels import LEVEL_MASK, SIZE
from windrow.history.spec import HistorySpec
from windrow.history.state_kernels import ROWS, START

__all__ = ["NODE_SCHEMA", "first_start_us", "tree_nodes"]

NODE_SCHEMA = pa.schema(
    [
        ("level", pa.int64()),
        ("start_us", pa.int64()),
        ("rows", pa.int64()),
        ("is_split", pa.bool_()),
    ]
)


def tree_nodes(tree: AdaptiveTree, spec: HistorySpec, codes: Longs | None = None) -> pa.Table:
    """Nodes of these groups, or of all, by level from fine to coarse and in order of time.

    Nodes above the level of a region are found from those below them, over all regions.
    """
    levels, starts, rows = _leaves(tree, codes)
    found = []
    for level, step_us in enumerate(spec.granularities_us):
        below = levels < level
        here = levels <= level
        if not (levels == level).any() and not below.any():
            continue
        places, index = np.unique(starts[here] // step_us * step_us, return_inverse=True)
        counts = np.zeros(places.size, np.int64)
        np.add.at(counts, index, rows[here])
        is_split = np.zeros(places.size, np.bool_)
        is_split[index[below[here]]] = True
        found.append((np.full(places.size, level), places, counts, is_split))
    if not found:
        return NODE_SCHEMA.empty_table()
    columns = [np.concatenate(column) for column in zip(*found, strict=True)]
    return pa.table([pa.array(column) for column in columns], schema=NODE_SCHEMA)


def first_start_us(tree: AdaptiveTree) -> int | None:
    """Where the oldest node begins; None while there is none."""
    starts = _leaves(tree, None)[1]
    return int(starts.min()) if starts.size else None


def _leaves(tree: AdaptiveTree, codes: Longs | None) -> tuple[Longs, Longs, Longs]:
    """Level, start and rows of all leaves, in all regions."""
    parts: list[tuple[Longs, Longs, Longs]] = [(np.empty(0, np.int64),) * 3]
    for store in tree.stores:
        counts = store.arena.series[SIZE].copy()
        if codes is not None:
            counts[np.setdiff1d(np.arange(counts.size), codes)] = 0
        places = store.arena.places(counts)
        levels = (store.shape[places] & LEVEL_MASK).astype(np.int64)
        parts.append((levels, store.whole[START, places], store.whole[ROWS, places]))
    levels, starts, rows = (np.concatenate(column) for column in zip(*parts, strict=True))
    return levels, starts, rows
