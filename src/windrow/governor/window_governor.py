"""The governor at work, in whichever runner: it decides when that is due, and changes widths.

Queries without ERROR need their whole range. Those with ERROR get less when memory is short: a
narrower window (level B) or turns (level C). What a runner does when even that is not enough is
its own affair; it is notified by a Refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Protocol

import pyarrow as pa

from windrow.event_time import END_OF_TIME
from windrow.governor.admission import Refused
from windrow.governor.better_groups import BetterGroups
from windrow.governor.decide import decide, narrowest
from windrow.governor.decision_log import DecisionLog, record_of
from windrow.governor.demands import MeasuredTables, demand_of, measured_tables
from windrow.governor.figures import active_demands, figures_of
from windrow.governor.measured_window import MeasuredWindow
from windrow.governor.memory_taken import memory_taken
from windrow.governor.refusals import not_admitted
from windrow.governor.tables import Decision, Demand, WindowState, decision_from_json
from windrow.governor.triggers import moved_windows, next_change_us, start_matters
from windrow.governor.width_orders import WORTH_CHANGING, order_width
from windrow.service_levels import UNMET

__all__ = ["GovernorPort", "WindowGovernor"]

# How often tolerances are computed again, as a part of the shortest range that is not exact.
REVIEW_PARTS = 8


class GovernorPort(Protocol):
    """What the governor asks of a runner; widths it orders from the inputs of the windows."""

    def windows(self) -> Sequence[MeasuredWindow]:
        """All windows of running queries, as they are."""

    def clock_us(self) -> int:
        """The latest instant through which a query has answered."""

    def fixed_bytes(self) -> float:
        """What counts against the budget and lies in no window."""

    def available_bytes(self, windows: Sequence[MeasuredWindow]) -> float:
        """The budget less what must be free while rows come in."""

    def reclaim(self) -> None:
        """Windows were made narrower: give back the memory that they no longer need."""


class WindowGovernor:
    """Decides the widths of a runner's windows, and remembers what was decided.

    budget: bytes, as people gave it. refusal_code: of the error for a query that is not admitted.
    is_thorough: a refusal is believed only after a search that may take long. Otherwise all
    searches are quick, and a query is refused only where no search would find room for it.
    """

    def __init__(
        self, port: GovernorPort, budget: int, refusal_code: str, *, is_thorough: bool
    ) -> None:
        self._port, self._budget, self._refusal_code = port, budget, refusal_code
        self._is_thorough = is_thorough
        self._log = DecisionLog()
        self._decision: Decision | None = None
        self._decided_by: Sequence[WindowState] = ()
        self._next_review_us = self._next_life_us = END_OF_TIME
        self._better = BetterGroups()
        self.changes = 0  # a number that is another one whenever state() is

    # ---- what is so

    def state(self, log_from: int = 0) -> dict[str, Any]:
        """What was decided, as JSON has it; log_from: records of the log that are known already."""
        return {
            "decision": None if self._decision is None else asdict(self._decision),
            "decided_by": [asdict(each) for each in self._decided_by],
            "next": [self._next_review_us, self._next_life_us],
            "log": self._log.since(log_from),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """What was decided elsewhere holds here."""
        told = state["decision"]
        self._decision = None if told is None else decision_from_json(told)
        self._decided_by = [WindowState(**each) for each in state["decided_by"]]
        self._next_review_us, self._next_life_us = state["next"]
        self._log.load(state["log"])

    @property
    def logged(self) -> int:
        """How many records were made."""
        return self._log.added

    @property
    def case(self) -> str:
        """The case of the last decision: 'A', 'B' or 'C'."""
        return "A" if self._decision is None else self._decision.case

    @property
    def has_decided(self) -> bool:
        """Whether there is a decision that holds."""
        return self._decision is not None

    @property
    def has_nothing_due(self) -> bool:
        """Whether every query has its whole range, and none has a life to watch."""
        return self.case == "A" and self._next_review_us == END_OF_TIME

    def level(self, demand: Demand) -> str:
        """How the last decision serves a demand."""
        if self._decision is None:
            return "A"
        known = [each for each in self._decision.widths if each.window == demand.window]
        level = known[0].level(demand) if known else "A"
        return UNMET if level == "none" else level

    def decisions(self) -> pa.Table:
        """The latest decisions: when, why, and widths before and after."""
        return self._log.table()

    # ---- when to decide

    def admit(
        self,
        query: str,
        foreseen: Callable[[bool], MeasuredTables],
        windows: Sequence[MeasuredWindow],
    ) -> None:
        """Refuse a query that cannot be served at any level; nothing that runs changes by it.

        foreseen: the tables with the query, by the average rates or by those of late: it is refused
        only where neither would do. windows: those that hold rows now.
        """
        available, clock_us = self._port.available_bytes(windows), self._port.clock_us()
        refused = []
        for is_average in (True, False):
            states, demands, fixed_bytes = foreseen(is_average)
            is_quick = not self._is_thorough
            found = decide(states, demands, available, fixed_bytes, clock_us, quick=is_quick)
            if isinstance(found, Decision) or (is_quick and not found.is_proven):
                return
            refused.append(found)
        raise not_admitted(query, refused[0], self._budget, self._refusal_code)

    def started(self, query: str) -> None:
        """A query runs."""
        self.review(f"query {query} starts")

    def start_matters(self, query: str) -> bool:
        """Whether a query that runs asks for more than its windows had without it."""
        states, demands, _ = self._tables(self._port.windows())
        own = [each for each in demands if each.query == query]
        others = [each for each in demands if each.query != query]
        known = {each.window: each for each in figures_of(states, others)}
        return any(start_matters(self.case, known[each.window], each) for each in own)

    def ended(self, query: str) -> None:
        """A query runs no longer."""
        if self._port.windows():
            self.review(f"query {query} ends")
        else:
            self._decision = None
            self.changes += 1

    def after_step(self) -> None:
        """Rows were taken and clocks have moved: decide again where that changes anything."""
        better, measured = self._better.take(), self._port.windows()
        if better is not None and self.case == "C":
            states = self._tables(measured).windows
            self._use(better, measured, states, "better groups were found", is_short=False)
            measured = self._port.windows()
        if self._port.clock_us() >= self._next_review_us:
            self._look_again(measured)
            return
        states = [each.state() for each in measured if each.has_width]
        moved = moved_windows(self._decided_by, states)
        if moved:
            self.review(f"rate of {', '.join(moved)}")

    def _look_again(self, measured: Sequence[MeasuredWindow]) -> None:
        """Lifetimes and tolerances may have changed: turns continue if they serve all demands."""
        tables, clock_us = self._tables(measured), self._port.clock_us()
        if self.case == "C" and self._still_serves(tables, measured):
            self._note_next_review(tables.demands, clock_us)
        else:
            is_life = clock_us >= self._next_life_us
            self.review("a life begins or ends" if is_life else "tolerances have changed")

    def _still_serves(self, tables: MeasuredTables, measured: Sequence[MeasuredWindow]) -> bool:
        assert self._decision is not None
        given = {each.window: each for each in self._decision.widths}
        bytes_per_us = {each.window: each.bytes_per_us for each in tables.windows}
        if given.keys() != bytes_per_us.keys():
            return False
        alive = active_demands(tables.demands, self._port.clock_us())
        is_served = all(given[each.window].level(each) != "none" for each in alive)
        needed = memory_taken(self._decision.widths, bytes_per_us) + tables.fixed_bytes
        return is_served and needed <= WORTH_CHANGING * self._port.available_bytes(measured)

    # ---- deciding

    def review(self, why: str, *, is_short: bool = False) -> Refused | None:
        """Decide, by the rates of late; where these cannot be served, by the average ones."""
        clock_us, measured = self._port.clock_us(), self._port.windows()
        available = self._port.available_bytes(measured)
        found: Decision | Refused | None = None
        for is_average in (False, True):
            windows, demands, fixed = self._tables(measured, is_average=is_average)
            found = decide(windows, demands, available, fixed, clock_us, quick=True)
            is_last = is_average and self._is_thorough
            if isinstance(found, Refused) and is_last and not found.is_proven:
                found = decide(windows, demands, available, fixed, clock_us)
            if isinstance(found, Decision):
                break
        if not isinstance(found, Decision):
            return found
        if found.case == "C":
            self._better.look_for(windows, demands, available, fixed, clock_us)
        self._use(found, measured, windows, why, is_short=is_short)
        self._note_next_review(demands, clock_us)
        return None

    def use_tolerance(self, why: str) -> None:
        """Make windows as narrow as their queries allow, whatever was foreseen.

        What was decided counts on the rows to come; here and now it may be too much, or too little.
        """
        clock_us, measured = self._port.clock_us(), self._port.windows()
        windows, demands, _ = self._tables(measured)
        if self.case != "C" and any(each.tolerance_us for each in demands):
            decision = narrowest(windows, demands, clock_us)
            self._use(decision, measured, windows, why, is_short=True)
            self._note_next_review(demands, clock_us)

    def _use(
        self,
        decision: Decision,
        measured: Sequence[MeasuredWindow],
        windows: Sequence[WindowState],
        why: str,
        *,
        is_short: bool,
    ) -> None:
        clock_us = self._port.clock_us()
        is_new = self._decision is None or decision.case != self._decision.case
        self._decision, self._decided_by = decision, windows
        self.changes += 1
        given = {each.window: each for each in decision.widths}
        for window in measured:
            if window.has_width and window.name in given:
                for read in window.inputs:
                    demand = demand_of(window.name, read)
                    found = given[window.name]
                    is_new |= order_width(read, found, demand, clock_us, is_short=is_short)
        if is_new:
            self._log.add(record_of(clock_us, why, decision, windows))
        if decision.case != "A":
            self._port.reclaim()

    def _tables(
        self, measured: Sequence[MeasuredWindow], *, is_average: bool = False
    ) -> MeasuredTables:
        return measured_tables(measured, self._port.fixed_bytes(), is_average=is_average)

    def _note_next_review(self, demands: Sequence[Demand], clock_us: int) -> None:
        changes_us = next_change_us(demands, clock_us)
        self.changes += 1
        self._next_life_us = END_OF_TIME if changes_us is None else changes_us
        self._next_review_us = self._next_life_us
        if self.case != "A":
            ranges = [each.range_us for each in demands if each.tolerance_us or each.delay_us]
            step_us = max(1, min(ranges, default=END_OF_TIME) // REVIEW_PARTS)
            self._next_review_us = min(self._next_review_us, clock_us + step_us)
