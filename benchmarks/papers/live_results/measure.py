"""Structures fed with one stream of results: CPU time of a result, its enqueue and its dequeue."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from papers.live_results.result_stream import ResultStream
from windrow.operators.expiry.binary_heap import BinaryHeap
from windrow.operators.expiry.calendar_queue import CalendarQueue
from windrow.operators.expiry.expiry_queue import ExpiryQueue, Longs
from windrow.operators.expiry.ladder.ladder_queue import (
    BranchLadderQueue,
    LadderQueue,
)
from windrow.operators.expiry.wheel.timing_wheel import TimingWheel

__all__ = ["STRUCTURES", "Figure", "UnequalRowsError", "measured_figures", "structures_for"]

# Slides, and results among them, between two readings of the clock; then rows are compared.
SLIDES_AT_ONCE = 512
RESULTS_AT_ONCE = 200_000
EMPTY_SLIDES = 4_000
WARMING_SLIDES = 64
LADDER_THRESHOLD = 50  # of the plain ladder queue, as its own authors have it

STRUCTURES = (
    "calendar", "ladder", "branch ladder, paper", "branch ladder", "heap", "wheel",
)  # fmt: skip
Makers = Mapping[str, Callable[[], ExpiryQueue]]


class UnequalRowsError(Exception):
    """A structure gave out other rows than the others, or in another order."""


@dataclass(frozen=True)
class Figure:
    """What a result cost, enqueue and dequeue together, the calls of its slide shared out.

    The median of all rounds; what the feeding loop costs without a structure is taken off.
    empty_slide_ns: both calls of a slide that brings nothing, to an empty structure.
    """

    cpu_ns: float
    empty_slide_ns: float
    held_bytes: int


def paper_threshold(windows: int) -> int:
    """THRES as paper 4 sets it for a query over this many windows; 1 could not divide a bucket.

    >>> paper_threshold(2), paper_threshold(80)
    (2, 50)
    """
    return max(2, min(50, windows))


def structures_for(windows: int, slide_us: int) -> Makers:
    """The structures for a query over so many windows; "paper": THRES and bucket width as there."""
    threshold = paper_threshold(windows)
    return {
        "calendar": CalendarQueue,
        "ladder": lambda: LadderQueue(threshold=LADDER_THRESHOLD),
        "branch ladder, paper": lambda: BranchLadderQueue(threshold=threshold, step=slide_us),
        "branch ladder": BranchLadderQueue,
        "heap": BinaryHeap,
        "wheel": TimingWheel,
    }


def measured_figures(stream: ResultStream, makers: Makers, rounds: int) -> dict[str, Figure]:
    """A figure for each structure; they take turns, and every row that leaves is compared."""
    warming = _warming_stream()
    for name, make in makers.items():
        _run(name, make, warming)
    runs: dict[str, list[Figure]] = {name: [] for name in makers}
    for _ in range(rounds):
        for name, make in makers.items():
            runs[name].append(_run(name, make, stream))
    return {name: _median(figures) for name, figures in runs.items()}


def _median(figures: list[Figure]) -> Figure:
    return Figure(
        statistics.median(each.cpu_ns for each in figures),
        statistics.median(each.empty_slide_ns for each in figures),
        figures[-1].held_bytes,
    )


def _warming_stream() -> ResultStream:
    """A few results for which everything is compiled that will be needed."""
    births = np.repeat(np.arange(1, WARMING_SLIDES + 1), WARMING_SLIDES)
    return ResultStream.of(births, births + 1 + np.arange(births.size) % WARMING_SLIDES, 0)


def _run(name: str, make: Callable[[], ExpiryQueue], stream: ResultStream) -> Figure:
    queue = make()
    feed = _Feed(stream)
    slides = stream.instants.size
    results_a_slide = max(1, stream.expiries.size // max(1, slides))
    at_once = max(1, min(SLIDES_AT_ONCE, RESULTS_AT_ONCE // results_a_slide))
    seconds = 0.0
    first = stream.first_measured
    for begin in [*range(0, first, at_once), *range(first, slides, at_once)]:
        end = min(begin + at_once, slides if begin >= first else first)
        elapsed, left = feed.drive(queue, begin, end)
        seconds += elapsed if begin >= first else 0.0
        if not _is_right(stream, begin, end, left):
            raise UnequalRowsError(f"{name} gives out other rows than expire")
    loop_s = feed.time_empty(_Nothing())
    seconds -= loop_s * (slides - first)
    empty_s = feed.time_empty(make()) - loop_s
    return Figure(seconds / stream.accesses * 1e9, empty_s * 1e9, queue.nbytes)


class _Feed:
    """The stream as plain numbers, which a loop reads faster than those of arrays."""

    def __init__(self, stream: ResultStream) -> None:
        self._instants: list[int] = stream.instants.tolist()
        self._starts: list[int] = stream.starts.tolist()
        self._expiries = stream.expiries
        self._items = stream.items

    def drive(
        self, queue: ExpiryQueue, begin: int, end: int
    ) -> tuple[float, list[tuple[Longs, Longs]]]:
        """CPU seconds of these slides, and what left at each."""
        instants, starts, expiries, items = (
            self._instants, self._starts, self._expiries, self._items,
        )  # fmt: skip
        left = []
        began = time.thread_time()
        for index in range(begin, end):
            left.append(queue.dequeue(instants[index]))
            first, last = starts[index], starts[index + 1]
            queue.enqueue(expiries[first:last], items[first:last])
        return time.thread_time() - began, left

    def time_empty(self, queue: ExpiryQueue) -> float:
        """CPU seconds of a slide in the same loop when none brings anything."""
        feed = copy(self)
        feed._starts = [0] * (EMPTY_SLIDES + 1)
        feed._instants = list(range(1, EMPTY_SLIDES + 1))
        return feed.drive(queue, 0, EMPTY_SLIDES)[0] / EMPTY_SLIDES


class _Nothing:
    """Takes results in and never gives one out."""

    size = nbytes = 0
    _none = np.empty(0, np.int64), np.empty(0, np.int64)

    def enqueue(self, expiries: Longs, items: NDArray[np.integer]) -> None:
        """Nothing is kept."""

    def dequeue(self, until: int, limit: int | None = None) -> tuple[Longs, Longs]:
        """Nothing leaves."""
        del until, limit
        return self._none


def _is_right(stream: ResultStream, begin: int, end: int, left: list[tuple[Longs, Longs]]) -> bool:
    expected = stream.leaving[stream.ends[begin] : stream.ends[end]]
    counts = np.array([items.size for _, items in left])
    return (
        np.array_equal(counts, np.diff(stream.ends[begin : end + 1]))
        and np.array_equal(np.concatenate([items for _, items in left]), expected)
        and np.array_equal(np.concatenate([each for each, _ in left]), stream.expiries[expected])
    )
