"""Which rows a session can take: windows become narrower for them, or they are refused."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import inf
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.embedded.governed_windows import EmbeddedWindow
from windrow.embedded.session_memory import SessionMemory
from windrow.errors import AdmissionError
from windrow.governor.admission import Refused
from windrow.governor.allowance import Allowance
from windrow.governor.refusals import not_taken
from windrow.governor.window_governor import WindowGovernor

__all__ = ["ORDINARY_ROW_BYTES", "RowAdmission"]

# While less than this part of the budget is in use, and nothing was narrowed, nothing is decided.
EASY_PARTS = 2
# More than a row needs, its key and spare room included, by algorithm; joined rows are unforeseen.
ROW_COSTS = {"factorised": 768.0}
# What a row is taken for while it waits, where joined rows are unforeseen.
UNFORESEEN_ROW_COST = 4096.0
# So many rows of a stream are taken at most without asking: counting costs more than they do.
GRANTED_ROWS = 256
# A row of more bytes than this is foreseen with its bytes, in so many copies for each query: in the
# window, as a key and in the result.
ORDINARY_ROW_BYTES = 256
WIDE_ROW_COPIES = 3
# More than a row adds to a history of its stream.
HISTORY_ROW_COST = 256.0
# At most this part of the rows held goes at once: moving rows down in their arrays needs as much.
PARTS_AT_ONCE = 8


class RowAdmission:
    """Admits the rows of one session; the governor makes windows narrower where it must."""

    def __init__(self, memory: SessionMemory, governor: WindowGovernor) -> None:
        self._memory, self._governor = memory, governor
        self._wide_bytes: dict[str, float] = {}
        # More than is held, as long as rows need no more than is foreseen; known exactly now and
        # then, as adding up all arrays at every push would cost more than the push.
        self._at_most = 0.0
        self._lets_wait = True  # whether nothing is decided by when rows come
        self._counted = 0  # bytes when they were counted last
        self._row_costs: dict[str, float] = {}
        self._allowances: dict[str, Allowance] = {}
        self._refused: Refused | None = None

    def state(self) -> dict[str, Any]:
        """Which rows may take the place of others, as JSON has it."""
        return {name: each.state() for name, each in self._allowances.items()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """The same, elsewhere."""
        self._allowances = {name: Allowance.restore(each) for name, each in state.items()}

    def count(self) -> None:
        """Rows have come that nobody asked for: count what is held."""
        self.forget_costs()
        self._counted = self._memory.nbytes
        self._at_most = self._counted

    def forget_costs(self) -> None:
        """Other queries run: rows cost something else now."""
        self._row_costs = {}
        running = self._memory.running()
        # What bounds an error, or ends a query, depends on when rows come.
        plans = [query.plan for query in running]
        self._lets_wait = all(each.error_percent is None is each.duration for each in plans)

    def is_easy(self, incoming_bytes: float = 0.0) -> bool:
        """Whether memory is far from short, so that there is nothing to decide."""
        if not self._governor.has_nothing_due:
            return False
        if self._at_most > self._memory.budget // EASY_PARTS:
            self._counted = self._memory.nbytes
            self._at_most = self._counted + incoming_bytes
        return self._at_most <= self._memory.budget // EASY_PARTS

    def may_wait(self, stream: str, rows: int) -> bool:
        """Whether so many rows would be taken without a question; nothing is counted for it."""
        held, cost = self._at_most, self._row_cost(stream)
        if cost == inf:
            held, cost = self._counted, UNFORESEEN_ROW_COST
        has_room = held + rows * cost <= self._memory.budget // EASY_PARTS
        return has_room and self._lets_wait and self._governor.has_nothing_due

    def note_size(self, stream: str, rows: pa.RecordBatch) -> None:
        """Rows of a stream will be taken: wide ones need more room than others."""
        reading = sum(stream in query.plan.streams for query in self._memory.running())
        wide = max(0.0, rows.nbytes / max(1, rows.num_rows) - ORDINARY_ROW_BYTES)
        self._wide_bytes[stream] = WIDE_ROW_COPIES * reading * wide

    def make_room(self, stream: str, rows: int, move_on: Callable[[], None]) -> int:
        """How many of that many rows of a stream may be taken now; windows shrink if they must.

        0: none, as refusal() says. move_on: lets time go on as far as the rows allow, so that what
        is too old leaves.
        """
        incoming = rows * (self._row_cost(stream) + self._wide_bytes.get(stream, 0.0))
        self._at_most += incoming
        if self.is_easy(incoming) or self._lets_in(stream, rows):
            return rows
        move_on()
        self._memory.reclaim()
        if not self._fits(stream, rows):
            self._refused = self._governor.review("memory is short", is_short=True)
            self._memory.reclaim()
        self._squeeze(lambda: self._fits(stream, 1), "rows have no room")
        while not self._lets_in(stream, rows) and not self._shed(stream, rows):
            rows //= 2
            if not rows:
                self._note_refusal(stream)
                break
        return rows

    def narrow_enough(self) -> bool:
        """Make windows as narrow as it takes for the budget; whether that is possible."""
        self._squeeze(lambda: self._memory.has_room, "the memory was changed")
        self.count()
        return self._memory.has_room

    def _squeeze(self, is_enough: Callable[[], bool], why: str) -> None:
        """Make windows narrower than was decided, until that is enough: A, then B, then C."""
        while not is_enough():
            if not self._governor.squeeze(why):
                break
            self._memory.reclaim()
        for level in "BC":
            if not is_enough() and not (level == "B" and self._governor.case == "C"):
                self._governor.use_tolerance(why, level)
                self._memory.reclaim()

    def granted(self, stream: str) -> int:
        """How many more rows of ordinary size may be taken before it is asked again."""
        if not self.is_easy():
            return 0
        cost = self._row_cost(stream)
        rows = min(GRANTED_ROWS, int((self._memory.budget // EASY_PARTS - self._at_most) / cost))
        self._at_most += 0.0 if rows == 0 else rows * cost
        return rows

    def refusal(self) -> AdmissionError:
        """What is said of rows that could not be taken last."""
        return not_taken(self._memory.nbytes, self._memory.budget, self._refused)

    def _row_cost(self, stream: str) -> float:
        """More bytes than a row of the stream brings, in all windows; infinite if unforeseeable."""
        if stream not in self._row_costs:
            reading = [each for each in self._memory.running() if stream in each.plan.streams]
            costs = [ROW_COSTS.get(each.algorithm, inf) for each in reading]
            self._row_costs[stream] = HISTORY_ROW_COST + sum(costs)
        return self._row_costs[stream]

    def _fits(self, stream: str, rows: int) -> bool:
        return self._memory.fits(stream, rows, rows * self._wide_bytes.get(stream, 0.0))

    def _lets_in(self, stream: str, rows: int) -> bool:
        """Whether there is room for rows of a stream that is not kept for others to come."""
        if not self._fits(stream, rows):
            return False
        allowance = self._allowances.get(stream)
        return allowance is None or allowance.lets_in(rows, self._memory.clock_us())

    def _shed(self, stream: str, rows: int) -> bool:
        """Free memory for rows by evicting others that no complete answer needs."""
        allowance = self._allowances.get(stream)
        if allowance is None or not allowance.spend(rows, self._memory.clock_us()):
            return False
        gone = 0
        while more := _let_go_oldest(self._windows_on(stream), rows):
            gone += more
            if self._fits(stream, rows):
                allowance.keep(gone - rows)
                return True
        return False

    def _note_refusal(self, stream: str) -> None:
        """Rows that come after those refused may take the place of others, within limits."""
        windows = self._windows_on(stream)
        known, clock_us = self._allowances.get(stream), self._memory.clock_us()
        if windows and (known is None or not known.prolong(clock_us)):
            range_us = max(each.range_us for each in windows)
            rows = max(each.store.row_count for each in windows)
            self._allowances[stream] = Allowance(rows, range_us, clock_us)

    def _windows_on(self, stream: str) -> list[EmbeddedWindow]:
        """The windows of a stream that have a width."""
        measured = self._memory.windows()
        return [each for each in measured if each.stream == stream and each.has_width]


def _let_go_oldest(windows: Iterable[EmbeddedWindow], rows: int) -> int:
    """Let the oldest rows of windows go that no complete answer needs; how many, of one window."""
    return max([_let_go(window, rows) for window in windows], default=0)


def _let_go(window: EmbeddedWindow, rows: int) -> int:
    until_us = min(each.query.spare_until_us(each.input_index) for each in window.inputs)
    columns = [each.window.columns for each in window.inputs]
    head, tail = min(each.head for each in columns), min(each.tail for each in columns)
    times = window.store.times[head:tail]
    most = max(rows, times.size // PARTS_AT_ONCE)
    count = min(most, int(np.searchsorted(times, until_us, side="right")))
    if not count:
        return 0
    last_us = int(times[count - 1])
    for each in window.inputs:
        each.query.let_go(each.input_index, last_us)
    return int(np.searchsorted(times, last_us, side="right"))
