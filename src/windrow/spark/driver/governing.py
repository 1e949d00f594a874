"""The governor on the driver: after each batch it measures the windows, decides, and sends orders.

Queries without ERROR need their whole range. Those with ERROR get less when memory is short: a
narrower window (level B) or turns (level C). What it decides reaches the shards through the control
stream of each query; until then the windows are as they were.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

import pyarrow as pa

from windrow.event_time import END_OF_TIME, START_OF_TIME
from windrow.governor.admission import Refused
from windrow.governor.better_groups import BetterGroups
from windrow.governor.decide import decide
from windrow.governor.decision_log import DecisionLog, record_of
from windrow.governor.figures import active_demands
from windrow.governor.memory_taken import memory_taken
from windrow.governor.refusals import not_admitted, outgrown
from windrow.governor.tables import Decision, Demand, WidthGiven, WindowState
from windrow.governor.triggers import moved_windows, next_change_us
from windrow.rows.prepare import lifetime_of
from windrow.spark.driver.governed_window import GovernedQuery, GovernedWindow, windows_of

__all__ = ["Governing"]

# A part of the budget for the rows of a batch: they come before those that they push out go.
INCOMING_PARTS = 8
# While less than this part of the budget is in use, and nothing was narrowed, nothing is decided.
EASY_PARTS = 2
# Nearer to the budget than by this part of it, memory is short.
NEAR_PARTS = 32
# A width that differs by less than this factor is not worth an order, unless memory is short.
WORTH_CHANGING = 1.02
# How often tolerances are looked at anew, as a part of the shortest range that is not exact.
REVIEW_PARTS = 8


class Governing:
    """Governs the windows of a session's running queries under `budget` bytes.

    Batches of several queries end in several threads: one at a time is looked at.
    """

    def __init__(self, budget: int, running: Callable[[], Sequence[GovernedQuery]]) -> None:
        self._budget, self._running = budget, running
        self._lock = threading.RLock()
        self._log = DecisionLog()
        self._decision: Decision | None = None
        self._decided_by: Sequence[WindowState] = ()
        self._next_review_us = END_OF_TIME
        self._better = BetterGroups()

    # ---- when to decide

    def admit(self, query: GovernedQuery) -> None:
        """Refuse a query that certainly cannot be served beside those that run.

        Rates are those that running queries have measured; of other streams none is known.
        """
        with self._lock:
            # By the average rates, or by those of late where these are lower than before.
            found = [self._foreseen(query, is_average=each) for each in (True, False)]
            refused = [each for each in found if isinstance(each, Refused) and each.is_proven]
            if len(refused) == len(found):
                raise not_admitted(query.name, refused[0], self._budget, "WA412")

    def _foreseen(self, query: GovernedQuery, *, is_average: bool) -> Decision | Refused:
        """What would be decided if the query ran too."""
        measured = self._measured()
        telling = [each for each in measured if each.is_timed and not each.is_filtered]
        windows, demands, fixed = self._tables(measured, is_average=is_average)
        for window in windows_of(query):
            if window.is_timed:
                demand, rates = window.demand(), [0.0]
                if not window.is_filtered:
                    of_stream = [each for each in telling if each.stream == window.stream]
                    rates += [each.rate_for(demand.range_us, is_average) for each in of_stream]
                windows.append(WindowState(window.name, window.row_bytes, max(rates)))
                demands.append(demand)
        return decide(windows, demands, self._available, fixed, self._clock(), quick=True)

    def started(self, query: GovernedQuery) -> None:
        """A query was set to work."""
        with self._lock:
            self._review(f"query {query.name} starts")

    def ended(self, query: GovernedQuery) -> None:
        """A query was stopped."""
        with self._lock:
            if self._running():
                self._review(f"query {query.name} ends")
            else:
                self._decision = None

    def after_batch(self) -> None:
        """Windows were reported: decide again where that changes anything.

        A query whose windows hold too much, at any width that the queries allow, ends.
        """
        with self._lock:
            held = self.nbytes
            if self._is_easy(held):
                return
            # Windows that take turns come near the budget in their turns, as was decided.
            near = self._budget - (0 if self.case == "C" else self._budget // NEAR_PARTS)
            if held > near:
                self._make_room(held)
                return
            better = self._better.take()
            if better is not None and self.case == "C":
                self._use(better, self._tables(self._measured())[0], "better groups were found")
            if self._clock() >= self._next_review_us:
                self._look_again()
                return
            states = [each.state() for each in self._measured() if each.is_timed]
            moved = moved_windows(self._decided_by, states)
            if moved:
                self._review(f"rate of {', '.join(moved)}")

    def _make_room(self, held: int) -> None:
        if any(query.has_pending_order for query in self._running()):
            return  # what was decided has not reached the windows yet
        refused = self._review("memory is short", is_short=True)
        is_changed = any(query.has_pending_order for query in self._running())
        if held > self._budget and not is_changed:
            raise outgrown(held, self._budget, refused)

    def _look_again(self) -> None:
        """Lives and tolerances may have changed: turns go on while they serve all demands."""
        windows, demands, fixed = self._tables(self._measured())
        if self.case == "C" and self._still_serves(windows, demands, fixed):
            self._note_next_review(demands)
        else:
            self._review("a life begins or ends, or tolerances have changed")

    def _still_serves(
        self, windows: Sequence[WindowState], demands: Sequence[Demand], fixed: float
    ) -> bool:
        assert self._decision is not None
        given = {each.window: each for each in self._decision.widths}
        alive = active_demands(demands, self._clock())
        bytes_per_us = {each.window: each.bytes_per_us for each in windows}
        if any(each.window not in given for each in windows) or given.keys() - bytes_per_us.keys():
            return False
        is_served = all(given[each.window].level(each) != "none" for each in alive)
        needed = memory_taken(self._decision.widths, bytes_per_us)
        return is_served and needed + fixed <= WORTH_CHANGING * self._available

    # ---- what is so

    @property
    def nbytes(self) -> int:
        """Bytes of the windows of all running queries, in all their buckets."""
        return sum(query.status.window_bytes for query in self._running())

    @property
    def case(self) -> str:
        """The case of the last decision: 'A', 'B' or 'C'."""
        return "A" if self._decision is None else self._decision.case

    def decisions(self) -> pa.Table:
        """The latest decisions: when, why, and widths before and after."""
        with self._lock:
            return self._log.table()

    # ---- deciding

    def _review(self, why: str, *, is_short: bool = False) -> Refused | None:
        """Decide, by the rates of late; where these cannot be served, by the average ones."""
        clock, measured = self._clock(), self._measured()
        found: Decision | Refused | None = None
        for is_average in (False, True):
            windows, demands, fixed = self._tables(measured, is_average=is_average)
            found = decide(windows, demands, self._available, fixed, clock, quick=True)
            if isinstance(found, Decision):
                break
        if not isinstance(found, Decision):
            return found
        if found.case == "C":
            self._better.look_for(windows, demands, self._available, fixed, clock)
        self._use(found, windows, why, is_short=is_short)
        self._note_next_review(demands)
        return None

    def _use(
        self,
        decision: Decision,
        windows: Sequence[WindowState],
        why: str,
        *,
        is_short: bool = False,
    ) -> None:
        is_new = self._decision is None or decision.case != self._decision.case
        self._decision, self._decided_by = decision, windows
        given = {each.window: each for each in decision.widths}
        for window in self._measured():
            if window.name in given:
                is_new |= self._apply(window, given[window.name], is_short)
        if is_new:
            self._log.add(record_of(self._clock(), why, decision, windows))

    def _apply(self, window: GovernedWindow, given: WidthGiven, is_short: bool) -> bool:
        """Order another width, where that is worth it; whether it was."""
        query, position, demand = window.query, window.position, window.demand()
        if query.plan.error_percent is None or not active_demands([demand], self._clock()):
            return False
        wanted = window.lifetime_for(given, demand)
        now = query.ordered_lifetime(position)
        if (now.hold_us, now.turn_ends) == (wanted.hold_us, wanted.turn_ends):
            return False
        is_full = wanted.hold_us == lifetime_of(query.plan.inputs[position].window).hold_us
        is_close = now.hold_us < WORTH_CHANGING * wanted.hold_us < WORTH_CHANGING**2 * now.hold_us
        if is_close and now.turn_ends == wanted.turn_ends and not is_full and not is_short:
            return False
        query.order({position: wanted})
        return True

    def _tables(
        self, measured: Sequence[GovernedWindow], *, is_average: bool = False
    ) -> tuple[list[WindowState], list[Demand], float]:
        """Windows and demands, and the bytes that no width changes."""
        timed = [each for each in measured if each.is_timed]
        fixed = sum(each.fixed_bytes for each in timed)
        fixed += sum(each.report.bytes for each in measured if not each.is_timed)
        states = [each.state(is_average=is_average) for each in timed]
        return states, [each.demand() for each in timed], fixed

    def _note_next_review(self, demands: Sequence[Demand]) -> None:
        clock = self._clock()
        changes = next_change_us(demands, clock)
        self._next_review_us = END_OF_TIME if changes is None else changes
        if self.case != "A":
            ranges = [each.range_us for each in demands if each.tolerance_us or each.delay_us]
            step = max(1, min(ranges, default=END_OF_TIME) // REVIEW_PARTS)
            self._next_review_us = min(self._next_review_us, clock + step)

    # ---- memory

    @property
    def _available(self) -> float:
        return self._budget - self._budget / INCOMING_PARTS

    def _measured(self) -> list[GovernedWindow]:
        return [window for query in self._running() for window in windows_of(query)]

    def _clock(self) -> int:
        clocks = [query.status.clock_us for query in self._running()]
        return max((each for each in clocks if each is not None), default=START_OF_TIME)

    def _is_easy(self, held: int) -> bool:
        """Whether memory is far from short, so that there is nothing to decide."""
        is_plain = self.case == "A" and self._next_review_us == END_OF_TIME
        is_full = not any(query.status.limits.lifetimes for query in self._running())
        return is_plain and is_full and held <= self._budget // EASY_PARTS
