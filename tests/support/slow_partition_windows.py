"""Windows that look at the rows of a partition, worked out anew from all rows at every instant."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from windrow.sql.statements import Window

__all__ = ["SCHEDULED", "Session", "complete_at", "held_of_partition", "sessions_of"]

SCHEDULED = (
    *("session", "partition_range", "partition_rows_range"),
    *("tumble_rows", "partition_tumble_rows"),
)
Key = tuple[object, ...]


@dataclass(frozen=True)
class Session:
    """Rows of one partition, none of which is later than the one before it by more than the gap."""

    places: tuple[int, ...]
    start: int
    end: int


def sessions_of(
    times: Sequence[int], keys: Sequence[Key], gap: int, until: int
) -> Iterator[Session]:
    """All sessions of the rows up to an instant."""
    for places in _by_key(times, keys, until):
        run: list[int] = []
        for place in places:
            if run and times[place] > times[run[-1]] + gap:
                yield _session(run, times, gap)
                run = []
            run.append(place)
        yield _session(run, times, gap)


def _session(run: list[int], times: Sequence[int], gap: int) -> Session:
    return Session(tuple(run), times[run[0]], times[run[-1]] + gap)


def held_of_partition(
    window: Window, times: Sequence[int], keys: Sequence[Key], instant: int
) -> list[int]:
    """The rows that are in a window of any of these kinds but sessions."""
    found: list[int] = []
    for places in _by_key(times, keys, instant):
        newest, rows = times[places[-1]], window.rows
        if window.kind == "partition_range":
            found += [i for i in places if times[i] >= newest - window.length_us]
        elif window.kind == "partition_rows_range":
            found += [i for i in places[-rows:] if times[i] >= instant - window.length_us]
        else:
            complete = len(places) // rows * rows
            found += places[max(0, complete - rows) : complete]
    return found


def complete_at(window: Window, times: Sequence[int], keys: Sequence[Key]) -> Iterable[int]:
    """When another number of rows is complete."""
    for places in _by_key(times, keys, max(times, default=0)):
        for last in range(window.rows - 1, len(places), window.rows):
            yield times[places[last]]


def _by_key(times: Sequence[int], keys: Sequence[Key], until: int) -> list[list[int]]:
    """The places of rows up to an instant in the order of time, by key."""
    found: dict[Key, list[int]] = {}
    for place in sorted(range(len(times)), key=lambda each: times[each]):
        if times[place] <= until:
            found.setdefault(keys[place] if keys else (), []).append(place)
    return list(found.values())
