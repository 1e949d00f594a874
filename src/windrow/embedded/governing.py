"""The governor in one process: it admits queries and rows, and decides after each step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import pyarrow as pa

from windrow.embedded.governed_windows import EmbeddedWindow
from windrow.embedded.held_tables import rows_of_reads
from windrow.embedded.query import EmbeddedQuery
from windrow.embedded.row_admission import RowAdmission
from windrow.embedded.session_memory import INCOMING_PARTS, SessionMemory
from windrow.embedded.unread_answers import UnreadAnswers
from windrow.errors import AdmissionError
from windrow.governor.demands import MeasuredTables, measured_tables
from windrow.governor.governed_input import GovernedInput
from windrow.governor.measured_window import RateOf
from windrow.governor.refusals import not_less
from windrow.governor.service_rows import query_rows, window_rows
from windrow.governor.tables import Demand
from windrow.governor.whole_ranges import WholeRanges
from windrow.governor.window_governor import WindowGovernor
from windrow.governor.window_table import QueryRow, WindowRow
from windrow.rows.shared_rows import RowPool
from windrow.service_levels import INCOMPLETE

__all__ = ["Governing"]

# Of the budget a query with ERROR has so much for what it knows of arrivals.
PROFILE_PARTS = 16


class Governing:
    """Governs the windows of one session under `budget` bytes.

    histories: bytes of histories, which are not governed, but count. set_aside: bytes of rows that
    no window holds.
    """

    def __init__(
        self,
        budget: int,
        pool: RowPool,
        running: Callable[[], list[EmbeddedQuery]],
        histories: Callable[[], int],
        set_aside: Callable[[], int],
    ) -> None:
        self._memory = SessionMemory(budget, pool, running, histories, set_aside)
        self._governor = WindowGovernor(self._memory, budget, "WA102", is_thorough=True)
        self._rows = RowAdmission(self._memory, self._governor)
        self._ranges = WholeRanges(budget)
        # Rows of streams that may be taken, and steps that may be made, without asking.
        self.granted: dict[str, int] = {}

    # ---- saved, and restored

    def state(self, log_from: int = 0) -> dict[str, Any]:
        """What was decided, as JSON has it; log_from: decisions that are known already."""
        return {"governor": self._governor.state(log_from), "rows": self._rows.state()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """What was decided elsewhere holds here."""
        self._governor.restore(state["governor"])
        self._rows.restore(state["rows"])

    def count(self) -> None:
        """Rows have come that nobody asked for, and queries: count what is held."""
        self._take_stock()
        self._rows.count()

    def change_budget(self, budget: int) -> None:
        """Another budget from now on; where what runs does not fit into it, the old one stays.

        So it does where this is interrupted.
        """
        before = self._memory.budget
        try:
            self._set_budget(budget)
            has_more = self._memory.has_room and budget >= before
            if not has_more:
                self._check_foreseen(before)
        except BaseException:
            self._set_budget(before)
            raise
        try:
            self._governor.change_budget(budget)
            if not has_more:
                self._make_narrow(before)
            self._limit_profiles()
        except BaseException:
            self._set_budget(before)
            self._governor.change_budget(before)
            raise

    def _check_foreseen(self, before: int) -> None:
        """Refuse a budget that is less than all queries will need, and than they hold."""
        available = self._memory.available_bytes(self._memory.windows())
        refused = self._governor.foreseen_refusal(available)
        if refused is not None and not self._memory.has_room:
            raise not_less(self.nbytes, before, self._memory.budget, refused)

    def _make_narrow(self, before: int) -> None:
        """Give back memory, from windows that become narrower, until the budget is kept."""
        self._memory.reclaim()
        self._rows.count()
        if not self._memory.has_room and not self._rows.narrow_enough():
            raise not_less(self.nbytes, before, self._memory.budget, None)

    def _set_budget(self, budget: int) -> None:
        self._take_stock()
        self._memory.change_budget(budget)
        self._ranges.change_budget(budget)
        for query in self._memory.running():
            query.limit_steps(budget)
        self._rows.count()

    def _take_budget(self, budget: int) -> None:
        """Another budget from now on; what follows from it is known already."""
        self._set_budget(budget)
        self._governor.take_budget(budget)

    def _limit_profiles(self) -> None:
        for query in self._memory.running():
            query.limit_profile(self._memory.budget // PROFILE_PARTS)

    # ---- queries

    def limit(self, query: EmbeddedQuery) -> None:
        """Give a query that begins its parts of the budget, whatever else is decided of it."""
        query.limit_unread(self.unread.limit)
        query.limit_steps(self._memory.budget)
        query.limit_profile(self._memory.budget // PROFILE_PARTS)

    def admit(self, query: EmbeddedQuery, rate_of: RateOf) -> None:
        """Refuse a query that cannot be served at any level; nothing that runs changes by it."""
        if self.granted:
            self._take_stock()
        if not query.plan.inputs:
            return  # the views that it reads were asked for before it
        if self._has_room_for(query, rate_of) or self._held_is_enough(query, rate_of):
            return
        measured = self._memory.windows()
        foreseen = partial(self._foreseen, measured, rate_of)
        self._governor.admit(query.name, foreseen, measured)

    def _foreseen(
        self, measured: list[EmbeddedWindow], rate_of: RateOf, is_average: bool
    ) -> MeasuredTables:
        fixed_bytes = self._memory.fixed_bytes()
        return measured_tables(measured, fixed_bytes, rate_of, is_average=is_average)

    def _held_is_enough(self, query: EmbeddedQuery, rate_of: RateOf) -> bool:
        """Whether there is room for what a query adds, while all windows stay as wide as they are.

        Rows that others hold for as long as it asks for cost nothing more.
        """
        measured = self._memory.windows()
        if not all(each.has_width for each in measured):
            return False
        grown = [each.growth_with(query.name, rate_of) for each in measured]
        moved = [
            each.copied_bytes(each.bytes + more)
            for each, more in zip(measured, grown, strict=True)
            if more
        ]
        budget = self._memory.budget
        needed = self.nbytes + sum(grown) + max(moved, default=0.0)
        return needed <= budget - budget / INCOMING_PARTS

    def _has_room_for(self, query: EmbeddedQuery, rate_of: RateOf) -> bool:
        """Whether all have their whole ranges, with a new query too: nothing is to be decided."""
        if not self._is_at_ease or query.plan.duration is not None:
            return False
        memory, own = self._memory, partial(self._memory.windows_of, query)
        return self._ranges.have_room(own, memory.windows, memory.history_bytes, rate_of)

    @property
    def memory_budget(self) -> int:
        """The bytes of the session."""
        return self._memory.budget

    @property
    def _is_at_ease(self) -> bool:
        return self._governor.has_decided and self._governor.has_nothing_due

    def started(self, query: EmbeddedQuery, rate_of: RateOf) -> None:
        """A query was admitted."""
        self._rows.forget_costs()
        if not query.plan.inputs:
            return
        if self._has_room_for(query, rate_of):
            return
        if query.plan.duration is not None or self._governor.start_matters(query.name):
            self._governor.started(query.name)

    def ended(self, query: EmbeddedQuery) -> None:
        """A query was stopped, or its life is over."""
        self.granted.clear()
        self._rows.forget_costs()
        if not self._is_at_ease or not self._memory.running():
            self._governor.ended(query.name)

    # ---- rows

    def note_size(self, stream: str, rows: pa.RecordBatch) -> None:
        """Rows of a stream will be taken: wide ones need more room than others."""
        self._rows.note_size(stream, rows)

    def make_room(self, stream: str, rows: int, move_on: Callable[[], None]) -> int:
        """How many of that many rows of a stream may be taken now; windows shrink if they must.

        0: none, as refusal() says. move_on: lets time go on as far as the rows allow, so that what
        is too old leaves.
        """
        return self._rows.make_room(stream, rows, move_on)

    def refusal(self) -> AdmissionError:
        """What is said of rows that could not be taken last."""
        return self._rows.refusal()

    def grant(self, stream: str) -> None:
        """A step is over: say how many rows more of the stream may come without asking."""
        self.granted[stream] = self._rows.granted(stream)

    def may_wait(self, stream: str, rows: int) -> bool:
        """Whether memory is so far from short that so many rows of a stream may be taken later."""
        return self._rows.may_wait(stream, rows)

    def _take_stock(self) -> None:
        """Rows may have come without asking: what is known of windows is no longer so."""
        self.granted.clear()
        self._ranges.forget()

    def after_step(self) -> None:
        """Rows were taken and clocks have moved: decide again where that changes anything."""
        self._ranges.forget()
        self.unread.trim()
        if not self._rows.is_easy():
            self.granted.clear()
            self._governor.after_step()

    # ---- what is so

    @property
    def unread(self) -> UnreadAnswers:
        """What is held for readers that have not come."""
        return self._memory.unread

    @property
    def nbytes(self) -> int:
        """Bytes of everything that the running queries and histories hold, as far as it counts."""
        return self._memory.nbytes

    def window_rows(self) -> list[WindowRow]:
        """The table of windows."""
        return window_rows(self._memory.windows(), self._level)

    def query_rows(self) -> list[QueryRow]:
        """The table of queries: a row for each window, view and table that one reads."""
        rows = query_rows(self._memory.windows(), self._level)
        rows += [row for query in self._memory.running() for row in rows_of_reads(query)]
        return sorted(rows, key=lambda row: (row.query, row.alias))

    def decisions(self) -> pa.Table:
        """The latest decisions: when, why, and widths before and after."""
        return self._governor.decisions()

    def _level(self, read: GovernedInput, demand: Demand) -> str:
        """How a query is served: rows that were refused are worse than any width."""
        return INCOMPLETE if read.lacks_rows else self._governor.level(demand)
