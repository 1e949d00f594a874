"""Rows of a batch that are too far ahead of the others: every bucket sets the same ones aside.

Rows of a batch have no order among each other, so they are judged in clusters: times of which none
is further from the next than a stream allows. A cluster is believed when it is not further ahead
of what came before, when it is of about now, or when enough rows are in it, those of batches
before counted too. Every bucket receives all clusters, and reaches the same verdict.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from windrow.event_time import START_OF_TIME
from windrow.windows.plausible_times import CONFIRMING

__all__ = ["Cluster", "FarAhead", "clusters_of", "far_ahead", "is_in"]

# A task reports at most this many clusters; the rest are reported as one.
MOST_CLUSTERS = 64

Instants = NDArray[np.int64]
Cluster = tuple[int, int, int]  # its first time, its last one, its rows


@dataclass(frozen=True)
class FarAhead:
    """The clusters that are not believed, and the one that a later batch may confirm."""

    aside: tuple[Cluster, ...]
    suspect: Cluster | None
    newest_us: int | None  # of the rows that are believed; None: there are none


def clusters_of(times_us: Instants, apart_us: int) -> list[Cluster]:
    """The clusters of times that are sorted.

    >>> clusters_of(np.array([1, 2, 9, 10, 11]), apart_us=5)
    [(1, 2, 2), (9, 11, 3)]
    """
    if times_us.size == 0:
        return []
    starts = np.flatnonzero(np.diff(times_us) > apart_us) + 1
    edges = [0, *starts[: MOST_CLUSTERS - 1].tolist(), times_us.size]
    return [
        (int(times_us[first]), int(times_us[end - 1]), end - first)
        for first, end in pairwise(edges)
    ]


def far_ahead(
    told: Iterable[Sequence[int]],
    newest_us: int,
    now_us: int | None,
    suspect: Sequence[int] | None,
    ahead_us: int,
) -> FarAhead:
    """The verdict on all clusters of a batch.

    newest_us: of the stream before. suspect: what the batch before left to be confirmed.

    >>> far_ahead([(1, 3, 9), (90, 91, 2)], 0, None, None, 10).aside
    ((90, 91, 2),)
    >>> far_ahead([(90, 91, 2)], 3, None, (85, 85, 1), 10).aside
    ()
    """
    aside: list[Cluster] = []
    reached_us, believed = newest_us, False
    for low, high, count in _merged(told, ahead_us):
        is_near = reached_us == START_OF_TIME or low <= reached_us + ahead_us
        is_now = now_us is not None and low <= now_us + ahead_us and high >= now_us - ahead_us
        before = suspect[2] if suspect is not None and _agree(suspect, low, high, ahead_us) else 0
        if is_near or is_now or count + before >= CONFIRMING:
            reached_us, believed = max(reached_us, high), True
        else:
            aside.append((low, high, count + before))
    left = None
    if not believed:
        left = aside[-1] if aside else _cluster(suspect)
    return FarAhead(tuple(aside), left, reached_us if believed else None)


def is_in(times_us: Instants, clusters: Iterable[Cluster]) -> NDArray[np.bool_]:
    """Which times lie in one of the clusters."""
    found = np.zeros(times_us.size, np.bool_)
    for low, high, _ in clusters:
        found |= (times_us >= low) & (times_us <= high)
    return found


def _merged(told: Iterable[Sequence[int]], apart_us: int) -> list[Cluster]:
    merged: list[Cluster] = []
    for low, high, count in sorted(map(tuple, told)):
        if merged and low - merged[-1][1] <= apart_us:
            first, last, rows = merged[-1]
            merged[-1] = (first, max(last, high), rows + count)
        else:
            merged.append((low, high, count))
    return merged


def _agree(suspect: Sequence[int], low: int, high: int, ahead_us: int) -> bool:
    return low <= suspect[1] + ahead_us and high >= suspect[0] - ahead_us


def _cluster(parts: Sequence[int] | None) -> Cluster | None:
    return None if parts is None else (parts[0], parts[1], parts[2])
