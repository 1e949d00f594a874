"""The tree and its two rivals, fed with the same rows: space, time to build, time of a range."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from papers.rivals.full_precomputation import FullPrecomputation
from papers.rivals.sequential_list import SequentialList
from windrow.history.adaptive_tree import AdaptiveTree
from windrow.history.answers.answer import Answer
from windrow.history.history import History
from windrow.history.spec import HistorySpec, levels_of
from windrow.history.storage import Storage
from windrow.schema import DOUBLE, Column
from windrow.windows.undo_log import UndoLog

__all__ = [
    "FULL", "LIST", "STORAGES", "TREE", "Built", "UnequalAnswersError", "asked_us", "built",
    "check_equal", "spec_for", "values_for",
]  # fmt: skip

Longs = NDArray[np.int64]
Storages = Mapping[str, Callable[[HistorySpec, UndoLog], Storage]]

TREE, FULL, LIST = "adaptive tree", "full pre-computation", "sequential list"
STORAGES: Storages = {TREE: AdaptiveTree, FULL: FullPrecomputation, LIST: SequentialList}
PUSH_ROWS = 100_000
SUM_TOLERANCE = 1e-12  # rivals add in other orders


class UnequalAnswersError(Exception):
    """A storage answered otherwise than the tree did."""


@dataclass(frozen=True)
class Built:
    """A history of all rows; cpu_ms: to push them, and to bring it up to date for a question."""

    history: History
    cpu_ms: float


def spec_for(granularities_us: Sequence[int]) -> HistorySpec:
    """Levels that are all kept, and one measure."""
    levels = levels_of([(each, None) for each in granularities_us])
    return HistorySpec(levels, (Column("v", DOUBLE),))


def values_for(rows: int, seed: int) -> pa.Array:
    """A value for each row."""
    return pa.array(np.random.default_rng(seed).normal(20.0, 5.0, rows))


def built(
    make: Callable[[HistorySpec, UndoLog], Storage],
    spec: HistorySpec,
    times: Longs,
    values: pa.Array,
) -> Built:
    """Push all rows, then ask for the last one: the first question brings sums up to date."""
    last_us = int(times[-1])
    began = time.thread_time()
    history = History(spec, make)
    for first in range(0, times.size, PUSH_ROWS):
        part = slice(first, first + PUSH_ROWS)
        history.insert(times[part], {"v": values[part]})
    history.snapshot(last_us, last_us + 1)
    return Built(history, 1e3 * (time.thread_time() - began))


def asked_us(history: History, ranges: Sequence[tuple[int, int]], rounds: int) -> float:
    """CPU microseconds of a range: the mean of all, the median of some rounds."""
    spent = []
    for _ in range(rounds):
        began = time.thread_time()
        for since_us, until_us in ranges:
            history.snapshot(since_us, until_us).bounds("sum", "v")
        spent.append(1e6 * (time.thread_time() - began) / len(ranges))
    return statistics.median(spent)


def check_equal(histories: Mapping[str, History], ranges: Sequence[tuple[int, int]]) -> None:
    """Every storage answers every range exactly, and as the first one does."""
    (first, truth), *others = histories.items()
    for since_us, until_us in ranges:
        expected = truth.snapshot(since_us, until_us)
        for name, history in ((first, truth), *others):
            if not _is_equal(history.snapshot(since_us, until_us), expected):
                raise UnequalAnswersError(
                    f"{name} answers [{since_us}, {until_us}) otherwise than {first}, or in doubt"
                )


def _is_equal(found: Answer, expected: Answer) -> bool:
    if not found.is_exact:
        return False
    for function, measure in (("count", None), ("min", "v"), ("max", "v")):
        if found.bounds(function, measure).value != expected.bounds(function, measure).value:
            return False
    sums = [each.bounds("sum", "v").value for each in (found, expected)]
    if None in sums:
        return sums[0] is sums[1]
    return math.isclose(*sums, rel_tol=SUM_TOLERANCE)
