"""What a history takes: every array counts, and dense data cost no more than all nodes would."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from papers.rivals.full_precomputation import FullPrecomputation
from windrow.history.adaptive_tree import AdaptiveTree
from windrow.history.cells.arena import Arena
from windrow.history.cells.cell_store import CellStore
from windrow.history.history import History
from windrow.history.leaves.row_store import RowStore
from windrow.history.spec import HistorySpec, levels_of
from windrow.schema import DOUBLE, Column

SECOND = 1_000_000
LEVELS = levels_of([(SECOND, None), (60 * SECOND, None), (3600 * SECOND, None)])
SPAN = 6 * 3600 * SECOND
SPEC = HistorySpec(LEVELS, (Column("v", DOUBLE),))


def filled(storage: Any, times: np.ndarray, spec: HistorySpec = SPEC) -> History:
    history = History(spec, storage)
    for first in range(0, times.size, 50_000):
        part = times[first : first + 50_000]
        history.insert(part, {"v": pa.array(np.sin(part))})
        history.advance(int(part[-1]) - SECOND)
    return history


def ratio(times: np.ndarray) -> float:
    adaptive, full = (filled(each, times) for each in (AdaptiveTree, FullPrecomputation))
    left, right = (each.snapshot(0, SPAN).bounds("count") for each in (adaptive, full))
    assert left == right
    return adaptive.nbytes / full.nbytes


@pytest.mark.parametrize("rows_per_s", [20, 2, 0.5, 0.05])
def test_uniform_rows_take_no_more_than_all_nodes(rows_per_s: float) -> None:
    random = np.random.default_rng(7)
    times = np.sort(random.integers(0, SPAN, int(rows_per_s * SPAN / SECOND)))
    assert ratio(times) <= 1.1


def test_bursts_take_less_than_a_third() -> None:
    random = np.random.default_rng(7)
    bursts = [
        start + random.integers(0, 5 * SECOND, 4_000) for start in random.integers(0, SPAN, 40)
    ]
    quiet = random.integers(0, SPAN, 500)
    assert ratio(np.sort(np.concatenate([*bursts, quiet]))) <= 1 / 3


def arrays_of(thing: Any) -> Iterator[np.ndarray]:
    """All arrays that an object owns, views left out."""
    if isinstance(thing, np.ndarray):
        if thing.base is None:
            yield thing
    elif isinstance(thing, list | tuple):
        for each in thing:
            yield from arrays_of(each)
    elif isinstance(thing, CellStore | RowStore | Arena):
        for each in vars(thing).values():
            yield from arrays_of(each)


def test_every_array_is_counted() -> None:
    spec = HistorySpec(
        levels_of([(SECOND, 60 * SECOND), (60 * SECOND, 3600 * SECOND)]), SPEC.measures
    )
    random = np.random.default_rng(7)
    history = filled(AdaptiveTree, np.sort(random.integers(0, SPAN, 20_000)), spec)
    tree = history.storage
    assert isinstance(tree, AdaptiveTree)
    arrays = {id(array): array for array in arrays_of([*tree.stores, tree.rows])}
    assert history.nbytes == sum(array.nbytes for array in arrays.values())


def test_memory_is_given_back_when_the_past_gets_coarse() -> None:
    spec = HistorySpec(levels_of([(SECOND, 60 * SECOND), (3600 * SECOND, None)]), SPEC.measures)
    history = History(spec)
    times = np.arange(0, SPAN, SECOND)
    history.insert(times, {"v": pa.array(np.ones(times.size))})
    before = history.nbytes
    history.advance(SPAN)
    assert history.nbytes < before / 5
    assert history.snapshot(0, SPAN).bounds("sum", "v").value == times.size
