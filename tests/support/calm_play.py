"""Queries that come and go, decided for one after the other, and what each of them gets.

The slow twin of turns that go on: it looks at every instant, and knows only which rows are held.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from support.slow_turns import slow_width_us
from windrow.governor.decide import decide
from windrow.governor.running import RunningWindow, follow_on
from windrow.governor.tables import Decision, Demand, WidthGiven, WindowState

ALWAYS = -(10**9)


@dataclass
class CalmPlay:
    """rates: bytes a microsecond of each window. Queries that do not fit are refused."""

    rates: dict[str, float]
    budget: float
    now_us: int = 0
    demands: list[Demand] = field(default_factory=list)
    given: dict[str, WidthGiven] = field(default_factory=dict)
    running: dict[str, RunningWindow] = field(default_factory=dict)
    edges: dict[str, int] = field(default_factory=dict)  # no older row is held
    births: dict[str, int] = field(default_factory=dict)  # of windows
    begins: dict[str, int] = field(default_factory=dict)  # of queries
    served: dict[str, int] = field(default_factory=dict)
    cases: list[str] = field(default_factory=list)
    refused: int = 0
    late: int = 0  # refused, as a query would have had to wait
    waits: list[tuple[str, int]] = field(default_factory=list)  # longer than tolerated
    excess: float = 0.0  # the most memory beyond the budget

    def start(self, demand: Demand) -> None:
        """A query asks for its window."""
        found = self._decided([*self.demands, demand])
        if not isinstance(found, Decision):
            self.refused += 1
            return
        if found.late_us:
            self.late += 1
            return
        self.begins[demand.query] = self.served[demand.query] = self.now_us
        self._use(found, [*self.demands, demand])

    def end(self, place: int) -> None:
        """A query ends; what is decided then must make none wait."""
        if not self.demands:
            return
        rest = list(self.demands)
        rest.pop(place % len(rest))
        found = self._decided(rest)
        assert isinstance(found, Decision)
        assert not found.late_us
        self._use(found, rest)

    def _windows(self, demands: list[Demand]) -> list[WindowState]:
        names = {each.window for each in demands}
        return [WindowState(name, 1.0, self.rates[name] * 1e6) for name in sorted(names)]

    def _decided(self, demands: list[Demand]) -> object:
        windows = self._windows(demands)
        running = {
            each.window: self.running[each.window]
            for each in windows
            if each.window in self.running
        }
        return decide(windows, demands, self.budget, at_us=self.now_us, quick=True, running=running)

    def _use(self, decision: Decision, demands: list[Demand]) -> None:
        self.demands = demands
        self.cases.append(decision.case)
        self.running = follow_on(self.running, decision.widths, demands, self.now_us)
        self.given = {each.window: each for each in decision.widths}
        for name in self.given:
            if name not in self.births:
                self.births[name], self.edges[name] = self.now_us, ALWAYS
        for name in [name for name in self.births if name not in self.given]:
            del self.births[name], self.edges[name]
        self._look()

    def go_on(self, span_us: int) -> None:
        """Time passes."""
        for _ in range(span_us):
            self.now_us += 1
            self._look()

    def _look(self) -> None:
        """What is let go at this instant, what is held, and who is served."""
        held = 0.0
        for name, given in self.given.items():
            edge = max(self.edges[name], self.now_us - slow_width_us(given, self.now_us))
            if edge > self.births[name]:
                self.edges[name] = edge
            reach = self.now_us - max(self.edges[name], self.births[name])
            held += reach * self.rates[name]
        self.excess = max(self.excess, held - self.budget)
        for each in self.demands:
            edge = self.edges[each.window]
            if edge <= max(self.begins[each.query], self.now_us - each.least_us):
                self.served[each.query] = self.now_us
            elif self.now_us - self.served[each.query] > each.delay_us:
                self.waits.append((each.query, self.now_us))
