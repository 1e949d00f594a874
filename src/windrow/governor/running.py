"""Windows as decisions have left them: what they hold, and when each query was served last.

A window never gets evicted rows back, so how far it reaches depends on all decisions before; and
how long a query may still wait, on when its window was wide enough last.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeAlias

from windrow.event_time import START_OF_TIME
from windrow.governor.tables import Demand, Turn, WidthGiven
from windrow.governor.turns import width_at_us

__all__ = ["Running", "RunningWindow", "Waiting", "follow_on", "running_from_json"]


@dataclass(frozen=True)
class Waiting:
    """A query that may wait for its window: what it needs, and when it had that last."""

    query: str
    least_us: int
    served_us: int


@dataclass(frozen=True)
class RunningWindow:
    """A window under the decision that holds since since_us.

    edge_us: what entered earlier was gone by then; START_OF_TIME: it has all that it was given.
    waiting: its queries that may wait, as of since_us.
    """

    given: WidthGiven
    since_us: int
    edge_us: int
    waiting: tuple[Waiting, ...] = ()

    def edge_at(self, at_us: int) -> int:
        """No row entered earlier that it holds at an instant, not before since_us."""
        return max(self.edge_us, at_us - width_at_us(self.given, at_us))

    def width_at(self, at_us: int) -> int:
        """How far back it really reaches; what it was never given counts as held."""
        return at_us - self.edge_at(at_us)

    def served_at(self, query: str, at_us: int) -> int:
        """The latest instant up to this one at which it was wide enough for a query.

        One that is not known has just been started, or did not have to wait.
        """
        known = [each for each in self.waiting if each.query == query]
        if not known or self.width_at(at_us) >= known[0].least_us:
            return at_us
        turn = self.given.turn
        if turn is not None:
            end_us = at_us - (at_us - turn.start_us - turn.growth_us) % turn.period_us
            if end_us >= self.since_us and self.width_at(end_us) >= known[0].least_us:
                return max(known[0].served_us, end_us)
        return known[0].served_us


Running: TypeAlias = Mapping[str, RunningWindow]


def follow_on(
    running: Running,
    widths: Iterable[WidthGiven],
    demands: Iterable[Demand],
    at_us: int,
    clocks_us: Mapping[str, int] = MappingProxyType({}),
) -> dict[str, RunningWindow]:
    """The windows under another decision from an instant on; those not known are new.

    clocks_us: through which windows have answered that are behind.

    >>> demand = Demand("q", "s", 60, delay_us=20)
    >>> wide, narrow = WidthGiven("s", 60), WidthGiven("s", 50, Turn(0, 20, 100, 10))
    >>> begun = follow_on({}, [wide], [demand], at_us=0)
    >>> turning = follow_on(begun, [narrow], [demand], at_us=100)["s"]
    >>> turning.width_at(105), turning.served_at("q", 105), turning.served_at("q", 115)
    (55, 100, 110)
    """
    patient: dict[str, list[Demand]] = {}
    for demand in demands:
        if demand.delay_us:
            patient.setdefault(demand.window, []).append(demand)
    return {
        given.window: _under(
            running.get(given.window), given, patient, at_us, clocks_us.get(given.window, at_us)
        )
        for given in widths
    }


def _under(
    before: RunningWindow | None,
    given: WidthGiven,
    patient: Mapping[str, list[Demand]],
    at_us: int,
    clock_us: int,
) -> RunningWindow:
    clock_us = min(at_us, clock_us if before is None else max(clock_us, before.since_us))
    edge_us = START_OF_TIME if before is None else before.edge_at(at_us)
    waiting = tuple(
        Waiting(
            each.query,
            each.least_us,
            clock_us if before is None else before.served_at(each.query, clock_us),
        )
        for each in patient.get(given.window, ())
    )
    if edge_us > START_OF_TIME or before is not None:
        edge_us = max(edge_us, at_us - width_at_us(given, at_us))
    return RunningWindow(given, at_us, edge_us, waiting)


def running_from_json(told: Iterable[Mapping[str, Any]]) -> dict[str, RunningWindow]:
    """Back from asdict() of each.

    >>> from dataclasses import asdict
    >>> one = RunningWindow(WidthGiven("s", 40, Turn(0, 9, 0, 3)), 5, 2, (Waiting("q", 43, 4),))
    >>> running_from_json([asdict(one)]) == {"s": one}
    True
    """
    found = {}
    for each in told:
        given, waiting = each["given"], each["waiting"]
        turn = given["turn"] and Turn(**given["turn"])
        width = WidthGiven(given["window"], given["width_us"], turn)
        found[width.window] = RunningWindow(
            width, each["since_us"], each["edge_us"], tuple(Waiting(**one) for one in waiting)
        )
    return found
