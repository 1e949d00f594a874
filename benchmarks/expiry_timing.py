"""CPU time of structures that rows expire from: they take turns, and a median is taken."""

from __future__ import annotations

import heapq
import itertools
import statistics
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from expiry_loads import Load

from papers.rivals.fifo_queue import FifoQueue
from windrow.operators.expiry.binary_heap import BinaryHeap
from windrow.operators.expiry.calendar_queue import CalendarQueue
from windrow.operators.expiry.expiry_queue import ExpiryQueue
from windrow.operators.expiry.ladder.ladder_queue import BranchLadderQueue, LadderQueue
from windrow.operators.expiry.wheel.timing_wheel import TimingWheel

__all__ = ["HEAPQ", "QUEUES", "Figures", "figures_of"]

HEAPQ = "heapq"
QUEUES: dict[str, Callable[[], ExpiryQueue]] = {
    "fifo": FifoQueue,
    "wheel": TimingWheel,
    "branch ladder": BranchLadderQueue,
    "branch ladder, paper": lambda: BranchLadderQueue(threshold=2),
    "ladder": LadderQueue,
    "calendar": CalendarQueue,
    "heap": BinaryHeap,
}
HEAPQ_ROWS = 200_000
# Batches between two looks at the clock, which takes about a microsecond to read.
BATCHES_A_LOOK = 16
# Items of which some are dead, by their lowest bits.
MARKED = 1 << 16


@dataclass(frozen=True)
class Figures:
    """Nanoseconds and bytes a row by structure, and whether all gave out the same."""

    ns: dict[str, float]
    bytes_a_row: dict[str, float]
    is_right: bool


def figures_of(load: Load, names: list[str], rounds: int, dead_share: float) -> Figures:
    """The median of some rounds, in each of which all structures have their turn."""
    names = [name for name in names if name != "fifo" or load.name == "fifo"]
    times: dict[str, list[float]] = {name: [] for name in names}
    nbytes: dict[str, float] = {}
    sums = set()
    for _ in range(rounds):
        for name in names:
            if name == HEAPQ:
                times[name].append(_time_heapq(load))
                continue
            elapsed, nbytes[name], checksum = _time_queue(QUEUES[name](), load, dead_share)
            times[name].append(elapsed)
            sums.add(checksum)
    return Figures(
        {name: round(statistics.median(each), 1) for name, each in times.items()},
        {name: round(size, 1) for name, size in nbytes.items()},
        len(sums) <= 1,
    )


def _time_queue(queue: ExpiryQueue, load: Load, dead_share: float) -> tuple[float, float, int]:
    """Nanoseconds a row, bytes a row, and a sum over rows that left, in order."""
    is_alive = np.random.default_rng(load.seed).random(MARKED) >= dead_share
    batches = load.batches()
    checksum = first = size = done = rows = 0
    elapsed = 0.0
    while group := list(itertools.islice(batches, BATCHES_A_LOOK)):
        work = []
        for instant, expiries in group:
            work.append((instant, expiries, np.arange(first, first + expiries.size)))
            first += expiries.size
        began = time.thread_time()
        for instant, expiries, items in work:
            queue.enqueue(expiries, items)
            left, gone = queue.dequeue(instant)
            if dead_share > 0:
                alive = is_alive[gone & (MARKED - 1)]
                left, gone = left[alive], gone[alive]
        if done >= load.warm_batches:
            elapsed += time.thread_time() - began
            rows += len(group) * load.batch_rows
        done += len(group)
        size = max(size, queue.size)
        checksum = zlib.crc32(gone.tobytes(), zlib.crc32(left.tobytes(), checksum))
    return elapsed / rows * 1e9, queue.nbytes / max(size, 1), checksum


def _time_heapq(load: Load) -> float:
    """Nanoseconds a row of a list of pairs."""
    rows: list[tuple[int, int]] = []
    first = timed = 0
    elapsed = 0.0
    for index, (instant, batch) in enumerate(load.batches()):
        expiries = batch.tolist()
        if index < load.warm_batches:
            rows += [(expiry, first + place) for place, expiry in enumerate(expiries)]
            first += len(expiries)
            continue
        if index == load.warm_batches:
            rows = [row for row in rows if row[0] >= instant]
            heapq.heapify(rows)
        began = time.thread_time()
        for place, expiry in enumerate(expiries, first):
            heapq.heappush(rows, (expiry, place))
        while rows and rows[0][0] <= instant:
            heapq.heappop(rows)
        elapsed += time.thread_time() - began
        first += len(expiries)
        timed += len(expiries)
        if timed >= HEAPQ_ROWS:
            break
    return elapsed / timed * 1e9
