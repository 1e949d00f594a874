"""The governor at work in a session: it measures the windows, decides, and changes their widths.

Queries without ERROR need their whole range. Those with ERROR get less when memory is short: a
narrower window (level B) or turns (level C). When even that is not enough, rows are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from math import inf

import pyarrow as pa

from windrow.embedded.demands import demand_of, demands_on
from windrow.embedded.measured_windows import MeasuredWindow, measured_windows
from windrow.embedded.query import EmbeddedQuery
from windrow.embedded.service_tables import query_rows, window_rows
from windrow.embedded.shedding import Allowance, let_go
from windrow.embedded.unread_room import UnreadRoom
from windrow.embedded.whole_ranges import WholeRanges
from windrow.errors import AdmissionError
from windrow.event_time import END_OF_TIME, START_OF_TIME
from windrow.governor.admission import Refused
from windrow.governor.better_groups import BetterGroups
from windrow.governor.decide import decide, narrowest
from windrow.governor.decision_log import DecisionLog, record_of
from windrow.governor.figures import active_demands, figures_of
from windrow.governor.memory_taken import memory_taken
from windrow.governor.refusals import not_admitted, not_taken
from windrow.governor.tables import Decision, Demand, WidthGiven, WindowState
from windrow.governor.triggers import moved_windows, next_change_us, start_matters
from windrow.governor.window_table import QueryRow, WindowRow
from windrow.rows.prepare import lifetime_of
from windrow.rows.shared_rows import RowPool
from windrow.service_levels import UNMET
from windrow.windows.lifetime import Lifetime

__all__ = ["Governing"]

# A part of the budget for rows that are being taken in.
INCOMING_PARTS = 32
# While less than this part of the budget is in use, and nothing was narrowed, nothing is decided.
EASY_PARTS = 2
# More than a row needs, its key and spare room included, by algorithm; joined rows are unforeseen.
ROW_COSTS = {"factorised": 768.0}
# A row of more bytes than this is foreseen with its bytes, in so many copies for each query: in the
# window, as a key and in the result.
ORDINARY_ROW_BYTES = 256
WIDE_ROW_COPIES = 3
# More than a row adds to a history of its stream.
HISTORY_ROW_COST = 256.0
# A width that differs by less than this factor is not worth a change, unless memory is short.
WORTH_CHANGING = 1.02
# How often tolerances are looked at anew, as a part of the shortest range that is not exact.
REVIEW_PARTS = 8


class Governing:
    """Governs the windows of one session under `budget` bytes.

    beside: bytes of what else the session holds; histories are not governed, but count. set_aside:
    bytes of rows that no window holds.
    """

    def __init__(
        self,
        budget: int,
        pool: RowPool,
        running: Callable[[], list[EmbeddedQuery]],
        beside: Callable[[], int],
        set_aside: Callable[[], int],
    ) -> None:
        self._budget, self._pool, self._running = budget, pool, running
        self._beside = beside
        self.log = DecisionLog()
        self._decision: Decision | None = None
        self._decided_by: Sequence[WindowState] = ()
        self._next_review_us = self._next_life_us = END_OF_TIME
        self._better = BetterGroups()
        self._ranges = WholeRanges(budget)
        self.unread = UnreadRoom(budget, running, set_aside)
        self._wide_bytes: dict[str, float] = {}
        # More than is held, as long as rows need no more than is foreseen; known exactly now and
        # then, as adding up all arrays at every push would cost more than the push.
        self._at_most = 0.0
        self._row_costs: dict[str, float] = {}
        self._allowances: dict[str, Allowance] = {}
        self._refused: Refused | None = None

    # ---- when to decide

    def admit(self, query: EmbeddedQuery, rate_of: Callable[[str, int], float]) -> None:
        """Refuse a query that cannot be served at any level; nothing that runs changes by it."""
        if self._has_room_for(query, rate_of):
            return
        if self._held_is_enough(query, rate_of):
            return
        refused: list[Refused] = []
        for is_average in (True, False):
            windows, demands, fixed = self._tables(rate_of, is_average=is_average)
            found = decide(windows, demands, self._available(), fixed, self._clock())
            if isinstance(found, Decision):
                return
            refused.append(found)
        raise not_admitted(query.name, refused[0], self._budget)

    def _held_is_enough(self, query: EmbeddedQuery, rate_of: Callable[[str, int], float]) -> bool:
        """Whether there is room for what a query adds, while all windows stay as wide as they are.

        Rows that others hold for as long as it asks for cost nothing more.
        """
        measured = self._measured()
        if not all(each.is_timed for each in measured):
            return False
        grown = [each.growth_with(query, rate_of) for each in measured]
        moved = [
            (each.bytes + more) * each.store.largest_share
            for each, more in zip(measured, grown, strict=True)
            if more
        ]
        room = self._budget - self._budget / INCOMING_PARTS
        return self.nbytes + sum(grown) + max(moved, default=0.0) <= room

    def _has_room_for(self, query: EmbeddedQuery, rate_of: Callable[[str, int], float]) -> bool:
        """Whether all have their whole ranges, with a new query too: nothing is to be decided."""
        if not self._is_at_ease or query.plan.duration is not None:
            return False
        own = partial(measured_windows, [query], self._pool)
        return self._ranges.have_room(own, self._measured, self._beside, rate_of)

    @property
    def _is_at_ease(self) -> bool:
        """Whether every query has its whole range, and none has a life to watch."""
        is_decided = self._decision is not None and self.case == "A"
        return is_decided and self._next_review_us == END_OF_TIME

    def started(self, query: EmbeddedQuery, rate_of: Callable[[str, int], float]) -> None:
        """A query was admitted."""
        self._row_costs = {}
        if not self._has_room_for(query, rate_of) and self._start_matters(query):
            self._review(f"query {query.name} starts")

    def _start_matters(self, query: EmbeddedQuery) -> bool:
        """Whether a query asks for more than its windows have, or has a life to watch."""
        windows, demands, _ = self._tables()
        others = [each for each in demands if each.query != query.name]
        known = {each.window: each for each in figures_of(windows, others)}
        own = [each for each in demands if each.query == query.name]
        return query.plan.duration is not None or any(
            each.window not in known or start_matters(self.case, known[each.window], each)
            for each in own
        )

    def ended(self, query: EmbeddedQuery) -> None:
        """A query was stopped, or its life is over."""
        self._row_costs = {}
        if not self._running():
            self._decision = None
        elif not self._is_at_ease:
            self._review(f"query {query.name} ends")

    def after_step(self) -> None:
        """Rows were taken and clocks have moved: decide again where that changes anything."""
        self._ranges.forget()
        self.unread.settle()
        if self._is_easy():
            return
        clock = self._clock()
        better = self._better.take()
        if better is not None and self._decision is not None and self._decision.case == "C":
            self._use(better, self._tables()[0], "better groups were found", is_short=False)
        if clock >= self._next_review_us:
            self._look_again(clock)
            return
        states = [each.state() for each in self._measured() if each.is_timed]
        moved = moved_windows(self._decided_by, states)
        if moved:
            self._review(f"rate of {', '.join(moved)}")

    def _look_again(self, clock: int) -> None:
        """Lives and tolerances may have changed: turns go on while they serve all demands."""
        windows, demands, fixed = self._tables()
        if self.case == "C" and self._still_serves(windows, demands, fixed):
            self._note_next_review(demands, clock)
        else:
            is_life = clock >= self._next_life_us
            self._review("a life begins or ends" if is_life else "tolerances have changed")

    def _still_serves(
        self, windows: Sequence[WindowState], demands: Sequence[Demand], fixed: float
    ) -> bool:
        assert self._decision is not None
        bytes_per_us = {each.window: each.bytes_per_us for each in windows}
        needed = memory_taken(self._decision.widths, bytes_per_us)
        alive = active_demands(demands, self._clock())
        is_served = all(self._level(each) != UNMET for each in alive)
        return is_served and needed + fixed <= WORTH_CHANGING * self._available()

    def note_size(self, stream: str, rows: pa.RecordBatch) -> None:
        """Rows of a stream will be taken: wide ones need more room than others."""
        reading = sum(stream in query.plan.streams for query in self._running())
        wide = max(0.0, rows.nbytes / max(1, rows.num_rows) - ORDINARY_ROW_BYTES)
        self._wide_bytes[stream] = WIDE_ROW_COPIES * reading * wide

    def make_room(self, stream: str, rows: int, move_on: Callable[[], None]) -> int:
        """How many of so many rows of a stream may be taken now; windows shrink if they must.

        0: none, as refusal() says. move_on: lets time go on as far as the rows allow, so that what
        is too old leaves.
        """
        incoming = rows * (self._row_cost(stream) + self._wide_bytes.get(stream, 0.0))
        self._at_most += incoming
        if self._is_easy(incoming) or self._lets_in(stream, rows):
            return rows
        move_on()
        self._trim()
        if not self._fits(stream, rows):
            self._refused = self._review("memory is short", is_short=True)
            self._trim()
        if not self._fits(stream, 1):
            self._use_tolerance()
        while not self._lets_in(stream, rows) and not self._shed(stream, rows):
            rows //= 2
            if not rows:
                self._note_refusal(stream)
                break
        return rows

    def refusal(self) -> AdmissionError:
        """What is said of rows that could not be taken last."""
        return not_taken(self.nbytes, self._budget, self._refused)

    def _use_tolerance(self) -> None:
        """Before a row is refused, windows become as narrow as their queries allow.

        What was decided foresees the rows to come; here and now it may be too much, or too little.
        """
        windows, demands, _ = self._tables()
        if self.case == "C" or not any(each.tolerance_us for each in demands):
            return
        self._use(
            narrowest(windows, demands, self._clock()), windows, "rows have no room", is_short=True
        )
        self._note_next_review(demands, self._clock())

    def _lets_in(self, stream: str, rows: int) -> bool:
        """Whether there is room for rows of a stream that is not kept for others to come."""
        if not self._fits(stream, rows):
            return False
        allowance = self._allowances.get(stream)
        return allowance is None or allowance.lets_in(rows, self._clock())

    def _shed(self, stream: str, rows: int) -> bool:
        """Make room for rows by letting go of others that no complete answer needs."""
        allowance = self._allowances.get(stream)
        if allowance is None or not allowance.spend(rows, self._clock()):
            return False
        gone = 0
        while more := let_go((each for each in self._measured() if each.stream == stream), rows):
            gone += more
            if self._fits(stream, rows):
                allowance.keep(gone - rows)
                return True
        return False

    def _note_refusal(self, stream: str) -> None:
        """Rows that come after those refused may take the place of others, within limits."""
        windows = [each for each in self._measured() if each.stream == stream and each.is_timed]
        known, clock = self._allowances.get(stream), self._clock()
        if windows and (known is None or not known.prolong(clock)):
            ranges = [demand.range_us for each in windows for demand in demands_on(each)]
            rows = max(each.store.row_count for each in windows)
            self._allowances[stream] = Allowance(rows, max(ranges), clock)

    # ---- what is so

    @property
    def nbytes(self) -> int:
        """Bytes of everything that the running queries and histories hold, as far as it counts."""
        held = self._pool.nbytes + sum(query.state_bytes for query in self._running())
        return held + self._beside() + self.unread.counted_bytes

    @property
    def case(self) -> str:
        """The case of the last decision: 'A', 'B' or 'C'."""
        return "A" if self._decision is None else self._decision.case

    def window_rows(self) -> list[WindowRow]:
        """The table of windows."""
        return window_rows(self._measured(), self._level)

    def query_rows(self) -> list[QueryRow]:
        """The table of queries."""
        return query_rows(self._measured(), self._level)

    def decisions(self) -> pa.Table:
        """The latest decisions: when, why, and widths before and after."""
        return self.log.table()

    # ---- deciding

    def _review(self, why: str, *, is_short: bool = False) -> Refused | None:
        """Decide, by the rates of late; where these cannot be served, by the average ones."""
        clock = self._clock()
        found: Decision | Refused | None = None
        for is_average in (False, True):
            windows, demands, fixed = self._tables(is_average=is_average)
            available = self._available()
            found = decide(windows, demands, available, fixed, clock, quick=True)
            if isinstance(found, Refused) and is_average and not found.is_proven:
                found = decide(windows, demands, available, fixed, clock)
            if isinstance(found, Decision):
                break
        if not isinstance(found, Decision):
            return found
        if found.case == "C":
            self._better.look_for(windows, demands, available, fixed, clock)
        self._use(found, windows, why, is_short=is_short)
        self._note_next_review(demands, clock)
        return None

    def _use(
        self, decision: Decision, windows: Sequence[WindowState], why: str, *, is_short: bool
    ) -> None:
        is_new = self._decision is None or decision.case != self._decision.case
        self._decision, self._decided_by = decision, windows
        given = {each.window: each for each in decision.widths}
        for window in self._measured():
            if window.is_timed and window.name in given:
                for query, position in window.members:
                    found = given[window.name]
                    is_new |= self._apply(query, position, found, window.name, is_short)
        if is_new:
            self.log.add(record_of(self._clock(), why, decision, windows))
        if decision.case != "A":
            self._trim()

    def _apply(
        self,
        query: EmbeddedQuery,
        position: int,
        given: WidthGiven,
        window: str,
        is_short: bool,
    ) -> bool:
        """Change a query's width, where that is worth it; whether it was."""
        if query.plan.error_percent is None:
            return False
        demand = demand_of(window, query, position)
        wanted = _lifetime(query, position, given, demand, query.clock)
        now = query.lifetime(position)
        if (now.hold_us, now.turn_ends) == (wanted.hold_us, wanted.turn_ends):
            return False
        is_full = wanted.hold_us == lifetime_of(query.plan.inputs[position].window).hold_us
        is_close = now.hold_us < WORTH_CHANGING * wanted.hold_us < WORTH_CHANGING**2 * now.hold_us
        if is_close and now.turn_ends == wanted.turn_ends and not is_full and not is_short:
            return False
        query.change_lifetime(position, wanted)
        return True

    def _tables(
        self,
        rate_of: Callable[[str, int], float] | None = None,
        *,
        is_average: bool = False,
    ) -> tuple[list[WindowState], list[Demand], float]:
        """Windows and demands, and the bytes that no width changes.

        rate_of: of a stream and for a range, for windows that have no rows to tell it by.
        """
        windows, demands = [], []
        fixed = float(self._beside() + self.unread.counted_bytes)
        for window in self._measured():
            if not window.is_timed:
                fixed += window.bytes
                continue
            state = window.state(is_average=is_average)
            if rate_of is not None and not state.rate and not _is_filtered(window):
                state = replace(state, rate=rate_of(window.stream, window.range_us))
            windows.append(state)
            fixed += window.fixed_bytes
            demands += demands_on(window)
        return windows, demands, fixed

    def _level(self, demand: Demand) -> str:
        if self._decision is None:
            return "A"
        known = [each for each in self._decision.widths if each.window == demand.window]
        level = known[0].level(demand) if known else "A"
        return UNMET if level == "none" else level

    def _note_next_review(self, demands: list[Demand], clock: int) -> None:
        changes = next_change_us(demands, clock)
        self._next_life_us = END_OF_TIME if changes is None else changes
        self._next_review_us = self._next_life_us
        if self.case != "A":
            ranges = [each.range_us for each in demands if each.tolerance_us or each.delay_us]
            step = max(1, min(ranges, default=END_OF_TIME) // REVIEW_PARTS)
            self._next_review_us = min(self._next_review_us, clock + step)

    # ---- memory

    def _measured(self) -> list[MeasuredWindow]:
        return measured_windows(self._running(), self._pool)

    def _clock(self) -> int:
        clocks = [query.clock for query in self._running()]
        return max(clocks, default=START_OF_TIME)

    def _is_easy(self, incoming: float = 0.0) -> bool:
        """Whether memory is far from short, so that there is nothing to decide."""
        if self.case != "A" or self._next_review_us < END_OF_TIME:
            return False
        if self._at_most > self._budget // EASY_PARTS:
            self._at_most = self.nbytes + incoming
        return self._at_most <= self._budget // EASY_PARTS

    def _row_cost(self, stream: str) -> float:
        """More bytes than a row of the stream brings, in all windows; infinite if unforeseeable."""
        if stream not in self._row_costs:
            reading = [each for each in self._running() if stream in each.plan.streams]
            costs = [ROW_COSTS.get(each.algorithm, inf) for each in reading]
            self._row_costs[stream] = HISTORY_ROW_COST + sum(costs)
        return self._row_costs[stream]

    def _available(self) -> float:
        """The budget less what is needed while rows come in and arrays are moved.

        One array of one window exists twice while it grows.
        """
        measured = [each for each in self._measured() if each.is_timed]
        total = sum(each.rows * each.row_bytes for each in measured) or 1.0
        share = max(
            (each.rows * each.row_bytes / total * each.store.largest_share for each in measured),
            default=0.0,
        )
        if not any(each.rows for each in measured):
            share = 1 / 2
        return (self._budget - self._budget / INCOMING_PARTS) / (1 + share)

    def _fits(self, stream: str, rows: int) -> bool:
        held, most = self.nbytes + self.unread.growth_bytes(stream, rows), 0
        held += int(rows * self._wide_bytes.get(stream, 0.0))
        for window in self._measured():
            if window.stream != stream:
                continue
            columns = window.store.nbytes_of_all
            after, meanwhile = window.store.bytes_after(rows)
            held += after - columns
            most = max(most, meanwhile - after)
        held += sum(
            query.growth_bytes(rows) for query in self._running() if stream in query.plan.streams
        )
        return held + most <= self._budget

    def _trim(self) -> None:
        for window in self._measured():
            window.store.trim()


def _lifetime(
    query: EmbeddedQuery, position: int, given: WidthGiven, demand: Demand, clock: int
) -> Lifetime:
    """How long rows stay for a demand in a window of the given width."""
    spec = query.plan.inputs[position].window
    full = lifetime_of(spec)
    width = min(demand.range_us, given.width_us)
    if given.turn is not None and given.level(demand) == "C":
        turn = given.turn
        narrow = full.narrowed(width, clock)
        return narrow.turning(turn.start_us, turn.period_us, turn.growth_us)
    if spec.kind == "slide":
        width -= width % spec.slide_us
    return full.narrowed(width, clock)


def _is_filtered(window: MeasuredWindow) -> bool:
    query, position = window.members[0]
    return query.plan.inputs[position].filter is not None
