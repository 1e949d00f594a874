"""Live selects as a careful person would write them by hand: plain Python, O(log n) a result.

Each loop takes events (at, stream, key, value) in order of time and a window length, and gives the
changes as (at, +1 or -1, row), those of one instant in any order. A row of time t is in the window
through t + length.
"""

from __future__ import annotations

import heapq
from collections import defaultdict, deque
from collections.abc import Callable, Iterable

__all__ = ["LOOPS", "Change", "Event"]

Event = tuple[int, int, int, int]
Change = tuple[int, int, tuple[int, ...]]
Loop = Callable[[Iterable[Event], int], list[Change]]


def select(events: Iterable[Event], length: int) -> list[Change]:
    """SELECT k, v FROM a."""
    out: list[Change] = []
    held: deque[tuple[int, tuple[int, int]]] = deque()
    for at, stream, key, value in events:
        if stream:
            continue
        while held and held[0][0] <= at:
            ends, row = held.popleft()
            out.append((ends, -1, row))
        held.append((at + length + 1, (key, value)))
        out.append((at, 1, (key, value)))
    return out


def join(events: Iterable[Event], length: int) -> list[Change]:
    """SELECT a.k, a.v, b.v FROM a, b WHERE a.k = b.k."""
    out: list[Change] = []
    results: list[tuple[int, tuple[int, int, int]]] = []
    sides: list[dict[int, deque[tuple[int, int]]]] = [defaultdict(deque), defaultdict(deque)]
    for at, stream, key, value in events:
        _end(results, at, out)
        ends = at + length + 1
        for other_ends, other in _alive(sides[1 - stream][key], at):
            row = (key, other, value) if stream else (key, value, other)
            out.append((at, 1, row))
            heapq.heappush(results, (min(ends, other_ends), row))
        sides[stream][key].append((ends, value))
    return out


def distinct(events: Iterable[Event], length: int) -> list[Change]:
    """SELECT DISTINCT k FROM a."""
    return _distinct(((at, at + length + 1, (key,)) for at, side, key, _ in events if side == 0))


def distinct_join(events: Iterable[Event], length: int) -> list[Change]:
    """SELECT DISTINCT a.v, b.v FROM a, b WHERE a.k = b.k."""
    return _distinct(_pairs(events, length))


def unmatched(events: Iterable[Event], length: int) -> list[Change]:
    """SELECT a.k, a.v FROM a LEFT ANTI JOIN b ON a.k = b.k."""
    out: list[Change] = []
    rows: dict[int, deque[tuple[int, int]]] = defaultdict(deque)
    matches: dict[int, int] = defaultdict(int)
    leaving: deque[tuple[int, int, int, int]] = deque()
    for at, stream, key, value in events:
        while leaving and leaving[0][0] <= at:
            ends, side, old, number = leaving.popleft()
            if side:
                matches[old] -= 1
                if not matches[old]:
                    out += [(ends, 1, (old, each)) for _, each in rows[old]]
            else:
                rows[old].popleft()
                if not matches[old]:
                    out.append((ends, -1, (old, number)))
        leaving.append((at + length + 1, stream, key, value))
        if stream:
            matches[key] += 1
            if matches[key] == 1:
                out += [(at, -1, (key, each)) for _, each in rows[key]]
        else:
            rows[key].append((at, value))
            if not matches[key]:
                out.append((at, 1, (key, value)))
    return out


def _pairs(events: Iterable[Event], length: int) -> Iterable[tuple[int, int, tuple[int, ...]]]:
    sides: list[dict[int, deque[tuple[int, int]]]] = [defaultdict(deque), defaultdict(deque)]
    for at, stream, key, value in events:
        ends = at + length + 1
        for other_ends, other in _alive(sides[1 - stream][key], at):
            yield at, min(ends, other_ends), (other, value) if stream else (value, other)
        sides[stream][key].append((ends, value))


def _distinct(rows: Iterable[tuple[int, int, tuple[int, ...]]]) -> list[Change]:
    """A row lives until the latest end of its duplicates; it has one entry in the heap."""
    out: list[Change] = []
    latest: dict[tuple[int, ...], int] = {}
    heap: list[tuple[int, tuple[int, ...]]] = []
    for at, ends, row in rows:
        while heap and heap[0][0] <= at:
            due, old = heapq.heappop(heap)
            if latest[old] > due:
                heapq.heappush(heap, (latest[old], old))
            else:
                del latest[old]
                out.append((due, -1, old))
        if row in latest:
            latest[row] = max(latest[row], ends)
        else:
            latest[row] = ends
            heapq.heappush(heap, (ends, row))
            out.append((at, 1, row))
    return out


def _alive(rows: deque[tuple[int, int]], at: int) -> deque[tuple[int, int]]:
    while rows and rows[0][0] <= at:
        rows.popleft()
    return rows


def _end(results: list[tuple[int, tuple[int, int, int]]], at: int, out: list[Change]) -> None:
    while results and results[0][0] <= at:
        ends, row = heapq.heappop(results)
        out.append((ends, -1, row))


LOOPS: dict[str, Loop] = {
    "SELECT": select,
    "join": join,
    "DISTINCT": distinct,
    "DISTINCT of a join": distinct_join,
    "LEFT ANTI JOIN": unmatched,
}
