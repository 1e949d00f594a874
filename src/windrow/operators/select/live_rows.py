"""Stores of result rows, one for each update pattern whose rows expire out of order.

All take the rows of a block of joined rows with what is known of their ends, and give the changes
up to an instant in order of time. A code stands for a row of the select list.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from windrow.operators.expiry.expiry_queue import EXPIRY_LIMIT, ExpiryQueue, Longs, grown
from windrow.operators.select import kernels
from windrow.operators.select.changes import Changes, Codes
from windrow.windows.kernels import EMPTY

__all__ = ["CountedRows", "DistinctRows", "EarlyRows", "LiveRows", "NewRows", "RowEvents"]

Slots = NDArray[np.int32]


class RowEvents(NamedTuple):
    """Rows that enter and leave windows, in order of time: when, of which input, which slot."""

    at: Longs
    input: Longs
    slot: Longs
    sign: Longs


class NewRows(NamedTuple):
    """Rows of the result that begin, in the order of their events; slot: a row for each input."""

    event: NDArray[np.int32]
    slot: Slots
    code: Codes
    expiry: Longs


class EarlyArrays(NamedTuple):
    """Results that may end early, and the lists of them by owner, a row of an input.

    following, before: the neighbours of a result in the list of each of its owners. progress: how
    far a kernel came, and where there is a free place.
    """

    code: Codes
    expiry: Longs
    state: NDArray[np.uint8]
    owner_of: Longs
    following: Longs
    before: Longs
    first_result: Longs
    results_of: Longs
    progress: Longs


class ChangeArrays(NamedTuple):
    """Room for changes: when, of which row, and by how much its number changes."""

    at: Longs
    code: Longs
    delta: Longs


class LiveRows(Protocol):
    """What an operator asks of a store."""

    def reserve(self, slots: int, codes: int) -> None:
        """Have room for slots and codes below these."""

    def begin(self) -> None:
        """New events."""

    def add(self, events: RowEvents, rows: NewRows, next_event: int) -> None:
        """Rows begin; the events before next_event, and those rows, are through."""

    def drain(self, until: int) -> tuple[Longs, Codes, Longs]:
        """The changes up to `until`: instants, codes and deltas."""

    @property
    def size(self) -> int:
        """Entries of the queue."""

    @property
    def nbytes(self) -> int:
        """Bytes held."""


class CountedRows:
    """Weak pattern: rows whose end is known when they begin; equal rows are counted."""

    def __init__(self, queue: ExpiryQueue, grid_us: int) -> None:
        self._queue = queue
        self._grid_us = grid_us
        self._changes = Changes()

    def reserve(self, slots: int, codes: int) -> None:
        """Nothing is kept by slot or code."""

    def begin(self) -> None:
        """Nothing is kept by event."""

    def add(self, events: RowEvents, rows: NewRows, next_event: int) -> None:
        """Rows begin."""
        del next_event
        self._changes.add(events.at[rows.event], rows.code, 1)
        self._queue.enqueue(rows.expiry, rows.code)

    def drain(self, until: int) -> tuple[Longs, Codes, Longs]:
        """The changes up to `until`."""
        expiry, code = self._queue.dequeue(until)
        self._changes.add(_rounded(expiry, self._grid_us), code, -1)
        return self._changes.drain()

    @property
    def size(self) -> int:
        """Rows."""
        return self._queue.size

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self._queue.nbytes


class DistinctRows:
    """Weak pattern, DISTINCT: a row lives as long as any of its duplicates would."""

    def __init__(self, queue: ExpiryQueue, grid_us: int) -> None:
        self._queue = queue
        self._grid_us = grid_us
        self._changes = Changes()
        self._latest = np.zeros(0, np.int64)
        self._is_present = np.zeros(0, np.uint8)

    def reserve(self, slots: int, codes: int) -> None:
        """Have room for codes below this."""
        del slots
        before = self._is_present.size
        self._latest = grown(self._latest, codes)
        self._is_present = grown(self._is_present, codes)
        self._is_present[before:] = 0

    def begin(self) -> None:
        """Nothing is kept by event."""

    def add(self, events: RowEvents, rows: NewRows, next_event: int) -> None:
        """Rows begin, or prolong the life of an equal one."""
        del next_event
        size = rows.code.size
        queued = np.empty(size, np.int64)
        at, code, delta = (np.empty(2 * size, np.int64) for _ in range(3))
        counts = np.zeros(2, np.int64)
        kernels.prolong(
            events.at[rows.event], rows.code, rows.expiry, self._grid_us, self._latest,
            self._is_present, queued, at, code, delta, counts,
        )  # fmt: skip
        fresh = queued[: counts[0]]
        self._queue.enqueue(rows.expiry[fresh], rows.code[fresh])
        used = int(counts[1])
        self._changes.add(at[:used], code[:used], delta[:used])

    def drain(self, until: int) -> tuple[Longs, Codes, Longs]:
        """The changes up to `until`."""
        again = 1
        while again:
            expiry, code = self._queue.dequeue(until)
            later, codes = np.empty_like(expiry), np.empty_like(code)
            again, ended = kernels.end_prolonged(
                expiry, code, self._grid_us, self._latest, self._is_present, later, codes,
                expiry, code,
            )  # fmt: skip
            self._queue.enqueue(later[:again], codes[:again])
            self._changes.add(expiry[:ended], code[:ended], -1)
        return self._changes.drain()

    @property
    def size(self) -> int:
        """Different rows."""
        return self._queue.size

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self._queue.nbytes + self._latest.nbytes + self._is_present.nbytes


class EarlyRows:
    """Strict pattern: rows may end before they expire, found by the rows that they are made of."""

    def __init__(self, queue: ExpiryQueue, grid_us: int, ends_early: NDArray[np.bool_]) -> None:
        self._queue = queue
        self._grid_us = grid_us
        self._changes = Changes()
        owners = int(ends_early.sum())
        self._early_place = np.where(ends_early, np.cumsum(ends_early) - 1, EMPTY)
        self._results = EarlyArrays(
            code=np.zeros(0, np.int32),
            expiry=np.zeros(0, np.int64),
            state=np.zeros(0, np.uint8),
            owner_of=np.zeros((0, owners), np.int64),
            following=np.zeros((0, owners), np.int64),
            before=np.zeros((0, owners), np.int64),
            first_result=np.zeros(0, np.int64),
            results_of=np.zeros(0, np.int64),
            progress=np.zeros(kernels.PROGRESS_ENTRIES, np.int64),
        )
        self._results.progress[kernels.FIRST_FREE] = EMPTY

    def reserve(self, slots: int, codes: int) -> None:
        """Have room for slots below this."""
        del codes
        results, rows = self._results, slots * self._results.owner_of.shape[1]
        before = results.first_result.size
        if rows <= before:
            return
        first_result = grown(results.first_result, rows)
        results_of = grown(results.results_of, rows)
        first_result[before:] = EMPTY
        results_of[before:] = 0
        self._results = results._replace(first_result=first_result, results_of=results_of)

    def begin(self) -> None:
        """New events."""
        self._results.progress[kernels.EVENT] = 0

    def add(self, events: RowEvents, rows: NewRows, next_event: int) -> None:
        """Rows begin, and others end early."""
        progress = self._results.progress
        self._reserve_results(int(progress[kernels.NEXT_FRESH]) + rows.code.size)
        results = np.empty(rows.code.size, np.int64)
        room = rows.code.size + kernels.PROGRESS_ENTRIES
        progress[kernels.ROW] = 0
        is_done = False
        while not is_done:
            at, code, delta = (np.empty(room, np.int64) for _ in range(3))
            progress[kernels.USED] = 0
            is_done = kernels.run_early(
                next_event, events, self._early_place, rows, EXPIRY_LIMIT, self._grid_us,
                self._results, results, ChangeArrays(at, code, delta),
            )  # fmt: skip
            used = int(progress[kernels.USED])
            self._changes.add(at[:used], code[:used], delta[:used])
            if not is_done and used == 0:
                room *= 2
        expiring = rows.expiry < EXPIRY_LIMIT
        self._queue.enqueue(rows.expiry[expiring], results[expiring])

    def drain(self, until: int) -> tuple[Longs, Codes, Longs]:
        """The changes up to `until`."""
        expiry, result = self._queue.dequeue(until)
        ended = kernels.end_results(expiry, result, self._grid_us, self._results, expiry, result)
        self._changes.add(expiry[:ended], result[:ended], -1)
        return self._changes.drain()

    @property
    def size(self) -> int:
        """Entries of the queue, dead ones too."""
        return self._queue.size

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self._queue.nbytes + sum(array.nbytes for array in self._results)

    def _reserve_results(self, count: int) -> None:
        results = self._results
        if count > results.code.size:
            self._results = results._replace(
                code=grown(results.code, count),
                expiry=grown(results.expiry, count),
                state=grown(results.state, count),
                owner_of=grown(results.owner_of, count),
                following=grown(results.following, count),
                before=grown(results.before, count),
            )


def _rounded(expiry: Longs, grid_us: int) -> Longs:
    return expiry if grid_us == 1 else -(-expiry // grid_us) * grid_us
