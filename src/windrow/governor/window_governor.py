"""The governor at work, in whichever runner: it decides when that is due, and changes widths.

Queries without ERROR need their whole range. Those with ERROR get less when memory is short: a
narrower window (level B) or turns (level C). What a runner does when even that is not enough is
its own affair; it is notified by a Refused.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Protocol

import pyarrow as pa

from windrow.event_time import END_OF_TIME
from windrow.governor.admission import Refused
from windrow.governor.better_groups import BetterGroups
from windrow.governor.decide import case_of, decide, narrowest
from windrow.governor.decision_log import DecisionLog, record_of
from windrow.governor.demands import MeasuredTables, demand_of, measured_tables
from windrow.governor.figures import active_demands, figures_of
from windrow.governor.measured_window import MeasuredWindow
from windrow.governor.memory_taken import memory_taken
from windrow.governor.refusals import not_admitted, not_admitted_yet
from windrow.governor.running import Running, follow_on, running_from_json
from windrow.governor.steady_tolerances import SteadyTolerances, with_reserve
from windrow.governor.tables import Decision, Demand, WindowState, decision_from_json
from windrow.governor.triggers import moved_windows, next_change_us, start_matters
from windrow.governor.width_orders import order_width
from windrow.service_levels import UNMET

__all__ = ["GovernorPort", "WindowGovernor"]

# How often tolerances are computed again, as a part of the shortest range that is not exact.
REVIEW_PARTS = 8
# A decision that serves all is replaced by another one of its level only where that makes a window
# so many times as wide: wider windows fill slowly, and what narrower ones evict does not come back.
WORTH_CHANGING = 1.1
# What is measured wobbles by so much while nothing has changed.
MEASURED_TO = 1.02
# A window that has rows of so much of its width is full.
FULL = 0.95
# A better level is only gone to where so much of the memory is to spare for it.
UPWARDS_PARTS = 32
# Memory is counted on by measured rates and sizes. Where rows do not fit in what was decided, so
# much less is counted on; and so much more again, from review to review.
SQUEEZED_PARTS = 32
MOST_SQUEEZED = 0.5


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
        self._running: Running = {}
        self._tolerances = SteadyTolerances()
        self._filling: set[str] = set()
        self._waits_until_us: int | None = None  # a change that makes queries wait is put off
        self._has_reserve = False  # whether the last decision kept some of each tolerance
        self._usable = 1.0  # the part of the memory that is counted on
        self._next_review_us = self._next_life_us = END_OF_TIME
        self._better = BetterGroups()
        self.changes = 0  # a number that is another one whenever state() is

    # ---- what is so

    def state(self, log_from: int = 0) -> dict[str, Any]:
        """What was decided, as JSON has it; log_from: records of the log that are known already."""
        return {
            "decision": None if self._decision is None else asdict(self._decision),
            "decided_by": [asdict(each) for each in self._decided_by],
            "running": [asdict(each) for each in self._running.values()],
            "usable": self._usable,
            "next": [self._next_review_us, self._next_life_us],
            "log": self._log.since(log_from),
            "logged": self._log.added,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """What was decided elsewhere holds here."""
        told = state["decision"]
        self._decision = None if told is None else decision_from_json(told)
        self._decided_by = [WindowState(**each) for each in state["decided_by"]]
        # States of older versions know nothing of these.
        self._running = running_from_json(state.get("running", ()))
        self._usable = state.get("usable", 1.0)
        self._next_review_us, self._next_life_us = state["next"]
        self._log.load(state["log"], state.get("logged"))

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
        only where neither would do, or where one that waits would have to wait longer than it can.
        windows: those that hold rows now.
        """
        available, clock_us = self._port.available_bytes(windows), self._port.clock_us()
        refused: list[Refused] = []
        late: list[Decision] = []
        for is_average in (True, False):
            states, demands, fixed_bytes = foreseen(is_average)
            is_quick, running = not self._is_thorough, self._running
            found = decide(
                states, demands, available, fixed_bytes, clock_us, quick=is_quick, running=running
            )
            if isinstance(found, Refused):
                if is_quick and not found.is_proven:
                    return
                refused.append(found)
            elif found.late_us and self._is_thorough:
                late.append(found)
            else:
                return
        if late:
            raise not_admitted_yet(query, late[0].late_us, self._refusal_code)
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
        windows = self._port.windows()
        self._tolerances.forget({each.query_name for window in windows for each in window.inputs})
        if windows:
            self.review(f"query {query} ends")
        else:
            self._running = {}
            self._decision = None
            self.changes += 1

    def after_step(self) -> None:
        """Rows were taken and clocks have moved: decide again where that changes anything."""
        groups, measured = self._better.take(), self._port.windows()
        if groups is not None and self.case == "C":
            self._regroup(groups, measured)
            measured = self._port.windows()
        if self._port.clock_us() >= self._next_review_us:
            is_life = self._port.clock_us() >= self._next_life_us
            self.review("a life begins or ends" if is_life else "tolerances have changed")
            return
        states = [each.state() for each in measured if each.has_width]
        moved = moved_windows(self._decided_by, states)
        if moved:
            self.review(f"rate of {', '.join(moved)}")

    def _regroup(self, groups: Mapping[str, int], measured: Sequence[MeasuredWindow]) -> None:
        """Use better groups, if turns can go over to them without making a query wait."""
        tables, clock_us = self._tables(measured), self._port.clock_us()
        available = self._available(measured)
        demands = self._careful(tables) if self._has_reserve else tables.demands
        found = decide(
            *(tables.windows, demands, available, tables.fixed_bytes, clock_us, 0.0),
            running=self._running,
            groups=groups,
            quick=True,
        )
        if isinstance(found, Refused) or found.case != "C" or found.late_us:
            return
        if self._is_worth(found, tables, available):
            self._use(found, measured, tables, "better groups were found", is_short=False)

    # ---- whether to decide otherwise

    def _may_stay(self, found: Decision, tables: MeasuredTables, available: float) -> bool:
        """Whether what holds serves all demands, and nothing found is worth a change."""
        is_level = self.case == "A" or self._serves(tables, available)
        return is_level and not self._is_worth(found, tables, available)

    def _waits(self, found: Decision, tables: MeasuredTables, available: float) -> bool:
        """Whether to put off a decision that makes queries wait longer than they can, for a while.

        Until then answers come in time; where tolerances have fallen, their bounds say so.
        """
        if self._decision is None or not found.late_us or not self._fits(tables, available):
            return False
        clock_us = self._port.clock_us()
        if self._waits_until_us is None:
            longest_us = max(each.range_us for each in tables.demands)
            self._waits_until_us = clock_us + longest_us
        return clock_us < self._waits_until_us

    def _serves(self, tables: MeasuredTables, available: float) -> bool:
        if self._decision is None:
            return False
        given = {each.window: each for each in self._decision.widths}
        alive = active_demands(tables.demands, self._port.clock_us())
        return self._fits(tables, available) and all(
            given[each.window].level(each) != "none" for each in alive
        )

    def _fits(self, tables: MeasuredTables, available: float) -> bool:
        """Whether there is memory for the windows as they were decided, and for no others."""
        assert self._decision is not None
        bytes_per_us = {each.window: each.bytes_per_us for each in tables.windows}
        if {each.window for each in self._decision.widths} != bytes_per_us.keys():
            return False
        needed = memory_taken(self._decision.widths, bytes_per_us) + tables.fixed_bytes
        return needed <= MEASURED_TO * available

    def _is_worth(self, found: Decision, tables: MeasuredTables, available: float) -> bool:
        """Whether a decision is so much better than the one that holds."""
        if self._decision is None or found.case > self.case:
            return True
        if found.case < self.case:
            alive = active_demands(tables.demands, self._port.clock_us())
            spare = available * (1 - 1 / UPWARDS_PARTS) - tables.fixed_bytes
            return case_of(figures_of(tables.windows, alive), spare) < self.case
        if found.case == "A":
            return True  # nothing is ordered by it
        given = {each.window: each for each in self._decision.widths}
        ranges_us = {each.window: each.range_us for each in figures_of(*tables[:2])}
        return any(
            min(each.width_us, ranges_us[each.window])
            > WORTH_CHANGING * given[each.window].width_us
            for each in found.widths
            if each.window in given
        )

    # ---- another budget

    def foreseen_refusal(self, available: float) -> Refused | None:
        """Why what runs cannot be served with so much memory; None: it can."""
        tables = self._tables(self._port.windows())
        found = self._decided(tables, tables.demands, available, quick=not self._is_thorough)
        return found if isinstance(found, Refused) else None

    def change_budget(self, budget: int) -> None:
        """The port has another budget: decide by that."""
        self.take_budget(budget)
        if self._port.windows():
            self.review("the memory was changed", is_short=True)

    def take_budget(self, budget: int) -> None:
        """The port has another budget, by which nothing is decided now."""
        self._budget, self._usable = budget, 1.0

    # ---- deciding

    def review(self, why: str, *, is_short: bool = False) -> Refused | None:
        """Decide, by the rates of late; where these cannot be served, by the average ones."""
        clock_us, measured = self._port.clock_us(), self._port.windows()
        if not is_short:
            self._usable = min(1.0, self._usable + 1 / SQUEEZED_PARTS)
        available = self._available(measured)
        found: Decision | Refused | None = None
        for is_average in (False, True):
            tables = self._tables(measured, is_average=is_average)
            found = self._found(tables, available, quick=True)
            is_last = is_average and self._is_thorough
            if isinstance(found, Refused) and is_last and not found.is_proven:
                found = self._found(tables, available, quick=False)
            if isinstance(found, Decision):
                break
        if not isinstance(found, Decision):
            if not is_short and not self._serves(tables, math.inf):
                self.use_tolerance(why)
            return found
        if not is_short and (
            self._may_stay(found, tables, available) or self._waits(found, tables, available)
        ):
            self._decided_by = tables.windows
        else:
            if found.case == "C":
                asked = self._careful(tables) if self._has_reserve else tables.demands
                figures = figures_of(tables.windows, active_demands(asked, clock_us))
                self._better.look_for(figures, found.least_bytes)
            self._use(found, measured, tables, why, is_short=is_short)
        self._note_next_review(tables.demands, clock_us)
        return None

    def _found(
        self, tables: MeasuredTables, available: float, *, quick: bool
    ) -> Decision | Refused:
        """A decision with some of each tolerance in reserve, where that costs no level."""
        self._has_reserve = False
        found = self._decided(tables, tables.demands, available, quick=quick)
        if isinstance(found, Refused) or found.case == "A":
            return found
        reserved = self._decided(tables, self._careful(tables), available, quick=True)
        if (
            isinstance(reserved, Refused)
            or reserved.case > found.case
            or reserved.late_us > found.late_us
        ):
            return found
        self._has_reserve = True
        return reserved

    def _careful(self, tables: MeasuredTables) -> list[Demand]:
        return [
            with_reserve(each, is_known=each.window not in self._filling) for each in tables.demands
        ]

    def _decided(
        self, tables: MeasuredTables, demands: Sequence[Demand], available: float, *, quick: bool
    ) -> Decision | Refused:
        clock_us = self._port.clock_us()
        return decide(
            *(tables.windows, demands, available, tables.fixed_bytes, clock_us),
            quick=quick,
            running=self._running,
        )

    def squeeze(self, why: str) -> bool:
        """Rows do not fit in what was decided: count on less; False: that cannot be served."""
        if self._usable <= MOST_SQUEEZED:
            return False
        before = self._usable
        self._usable -= 1 / SQUEEZED_PARTS
        if self.review(why, is_short=True) is None:
            return True
        self._usable = before
        return False

    def _available(self, measured: Sequence[MeasuredWindow]) -> float:
        return self._usable * self._port.available_bytes(measured)

    def use_tolerance(self, why: str, level: str = "C") -> None:
        """Make windows as narrow as their queries allow, whatever was foreseen.

        What was decided counts on the rows to come; here and now it may be too much, or too little.
        """
        clock_us, measured = self._port.clock_us(), self._port.windows()
        tables = self._tables(measured)
        if any(each.tolerance_us or each.delay_us for each in tables.demands):
            decision = narrowest(tables.windows, tables.demands, clock_us, self._running, level)
            self._use(decision, measured, tables, why, is_short=True)
            self._note_next_review(tables.demands, clock_us)

    def _use(
        self,
        decision: Decision,
        measured: Sequence[MeasuredWindow],
        tables: MeasuredTables,
        why: str,
        *,
        is_short: bool,
    ) -> None:
        clock_us, windows = self._port.clock_us(), tables.windows
        alive = active_demands(tables.demands, clock_us)
        clocks = {each.window: each.clock_us for each in windows if each.clock_us is not None}
        self._running = follow_on(self._running, decision.widths, alive, clock_us, clocks)
        is_new = self._decision is None or decision.case != self._decision.case
        self._decision, self._decided_by = decision, windows
        self._waits_until_us = None
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
        tables = measured_tables(measured, self._port.fixed_bytes(), is_average=is_average)
        clock_us = self._port.clock_us()
        steady = [self._tolerances.counted_on(each, clock_us) for each in tables.demands]
        # Of these a whole range was never seen: what they tolerate is a guess.
        self._filling = {each.name for each in measured if each.span_us < FULL * each.width_us}
        return tables._replace(demands=steady)

    def _note_next_review(self, demands: Sequence[Demand], clock_us: int) -> None:
        changes_us = next_change_us(demands, clock_us)
        self.changes += 1
        self._next_life_us = END_OF_TIME if changes_us is None else changes_us
        self._next_review_us = self._next_life_us
        if self.case != "A":
            ranges = [each.range_us for each in demands if each.tolerance_us or each.delay_us]
            step_us = max(1, min(ranges, default=END_OF_TIME) // REVIEW_PARTS)
            self._next_review_us = min(self._next_review_us, clock_us + step_us)
