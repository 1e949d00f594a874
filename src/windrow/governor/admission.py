"""Why demands do not fit into a budget, and which clauses of which queries would help."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

import numpy as np

from windrow.governor.c_support import Need
from windrow.governor.figures import figures_of
from windrow.governor.groups import kernels
from windrow.governor.groups.partitions import first_fit
from windrow.governor.groups.turning import Longs, TurningWindows, turning_windows
from windrow.governor.tables import Demand, WindowState

__all__ = ["SUGGESTIONS_LIMIT", "Refused", "Suggestion", "refusal", "suggestions"]

SUGGESTIONS_LIMIT = 24
# Halvings in the search for the smallest change that is enough: to a four-thousandth.
HALVINGS = 12
# A need that falls by less than this share of it is not lower: sums are in floating point.
TOLERANCE = 1e-9

_Change = Callable[[Demand, float, int], Demand]


@dataclass(frozen=True)
class Suggestion:
    """One clause of one query that lowers the need for memory.

    clause: 'ERROR', 'EVERY' or 'shorter range'. demands: those of the query as they would be, with
    the smallest change that makes all fit or, where none does, that lowers the need as far as it
    can. least_bytes: the budget that would do then. fits: it is no more than the budget given.
    """

    query: str
    clause: str
    demands: tuple[Demand, ...]
    least_bytes: float
    fits: bool


@dataclass(frozen=True)
class Refused:
    """No level fits the budget.

    least_bytes: the least budget that would do, what cannot be governed included, by the best
    solution known; bound_bytes: no less would. solver: what found it. advise: finds suggestions,
    which takes longer than all the rest, and is needed only for what people read.
    """

    budget: float
    fixed_bytes: float
    least_bytes: float
    bound_bytes: float
    solver: str
    advise: Callable[[], tuple[Suggestion, ...]] = field(compare=False)

    @cached_property
    def suggestions(self) -> tuple[Suggestion, ...]:
        """Clauses that would help, the most helpful first."""
        return self.advise()

    @property
    def is_proven(self) -> bool:
        """Whether no solution fits at all; otherwise a better one than was found might."""
        return self.bound_bytes > self.budget


def refusal(
    windows: Sequence[WindowState],
    demands: Sequence[Demand],
    budget: float,
    fixed_bytes: float,
    need: Need,
) -> Refused:
    """What is said of demands whose need does not fit."""
    return Refused(
        budget,
        fixed_bytes,
        need.least_bytes + fixed_bytes,
        need.bound_bytes + fixed_bytes,
        need.grouping.solver,
        partial(suggestions, windows, demands, budget, fixed_bytes, need),
    )


def suggestions(
    windows: Sequence[WindowState],
    demands: Sequence[Demand],
    budget: float,
    fixed_bytes: float,
    need: Need,
    queries: Collection[str] | None = None,
) -> tuple[Suggestion, ...]:
    """Changes of single clauses that were seen to lower the need, the most helpful first.

    Only queries that ask most of a window, or second most, can. queries: of these alone.
    """
    search = _Search(windows, demands, budget - fixed_bytes, need)
    named = {name for each in search.figures for name in (each.base, each.runner_up) if name}
    found = []
    for query in sorted(named if queries is None else named & set(queries)):
        for clause, change in _CLAUSES.items():
            if clause in _OF_ERROR and not search.can_have_error(query):
                continue
            least = search.least(query, change, 1.0)
            if least < need.least_bytes * (1 - TOLERANCE):
                found.append((max(least, search.available), least, query, clause))
    # Among those that fit, any of which is enough, the order is that of their names.
    found.sort(key=lambda each: (each[0], each[2], each[3]))
    return tuple(
        search.smallest(query, clause, least, fixed_bytes)
        for _, least, query, clause in found[:SUGGESTIONS_LIMIT]
    )


class _Search:
    """The need when single queries ask for less; the groups of all other windows stay."""

    def __init__(
        self,
        windows: Sequence[WindowState],
        demands: Sequence[Demand],
        available: float,
        need: Need,
    ) -> None:
        self.available = available
        self.figures = figures_of(windows, demands)
        self._states = {each.window: each for each in windows}
        self._by_query: dict[str, list[Demand]] = {}
        self._by_window: dict[str, list[Demand]] = {each.window: [] for each in windows}
        for demand in demands:
            self._by_query.setdefault(demand.query, []).append(demand)
            self._by_window[demand.window].append(demand)
        self._groups = dict(zip(need.turning.windows, need.grouping.groups.tolist(), strict=True))

    def can_have_error(self, query: str) -> bool:
        """Whether the query could be given an ERROR at all."""
        return all(each.can_have_error for each in self._by_query[query])

    def changed(self, query: str, change: _Change, part: float) -> list[Demand]:
        """The demands of a query, changed by a part of what is possible."""
        demands = self._by_query[query]
        longest_us = max(each.range_us for each in demands)
        return [change(each, part, longest_us) for each in demands]

    def least(self, query: str, change: _Change, part: float) -> float:
        """The least memory by the known groups, or by first fit, when the query is changed."""
        changed = self.changed(query, change, part)
        affected = {each.window for each in changed}
        fresh = figures_of(
            [self._states[name] for name in affected],
            [
                *(d for name in affected for d in self._by_window[name] if d.query != query),
                *changed,
            ],
        )
        by_name = {each.window: each for each in fresh}
        figures = [by_name.get(each.window, each) for each in self.figures]
        static = math.fsum(each.static_bytes for each in figures)
        return static + self._shared(turning_windows(figures), affected)

    def smallest(self, query: str, clause: str, least: float, fixed_bytes: float) -> Suggestion:
        """The smallest change that is enough, or that does as much as the largest one."""
        change = _CLAUSES[clause]
        enough = max(least, self.available)
        low, high = 0.0, 1.0
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            now = self.least(query, change, middle)
            if now <= enough:
                high, least = middle, now
            else:
                low = middle
        demands = tuple(self.changed(query, change, high))
        return Suggestion(query, clause, demands, least + fixed_bytes, least <= self.available)

    def _shared(self, turning: TurningWindows, affected: set[str]) -> float:
        numbers: dict[int, int] = {}  # of groups that still have windows, without gaps
        groups = np.full(turning.size, -1, np.int64)
        for place, name in enumerate(turning.windows):
            if name in self._groups and name not in affected:
                groups[place] = numbers.setdefault(self._groups[name], len(numbers))
        kernels.place_rest(turning.growth_us, turning.period_us, turning.exchange, groups)
        return min(_cost(turning, groups), _cost(turning, first_fit(turning)))


def _cost(turning: TurningWindows, groups: Longs) -> float:
    count = int(groups.max(initial=-1)) + 1
    return float(kernels.cost_of(turning.exchange, groups, count, np.zeros(count)))


def _with_error(demand: Demand, part: float, longest_us: int) -> Demand:
    del longest_us
    more_us = math.ceil((demand.range_us - demand.tolerance_us) * part)
    return replace(demand, tolerance_us=demand.tolerance_us + max(0, more_us))


def _with_delay(demand: Demand, part: float, longest_us: int) -> Demand:
    """Up to the longest range of the query: who waits longer than that wants no window."""
    more_us = math.ceil((longest_us - demand.delay_us) * part)
    return replace(demand, delay_us=demand.delay_us + max(0, more_us))


def _with_shorter_range(demand: Demand, part: float, longest_us: int) -> Demand:
    del longest_us
    less_us = math.ceil((demand.range_us - demand.tolerance_us) * part)
    return replace(demand, range_us=demand.range_us - max(0, less_us))


_CLAUSES: dict[str, _Change] = {
    "ERROR": _with_error,
    "EVERY": _with_delay,
    "shorter range": _with_shorter_range,
}
_OF_ERROR = ("ERROR", "EVERY")
