"""Choosing the algorithm while a query runs: from what its operator measured, by the cost model."""

from __future__ import annotations

from windrow.event_time import START_OF_TIME
from windrow.operators.operator import Operator, WorkDone
from windrow.plan.cost import candidates
from windrow.plan.figures import Figures, assumed_figures, measured_figures
from windrow.plan.model import QueryPlan

__all__ = ["Chooser"]

# A decision is due when this many rows have entered since the last, and as many as windows hold:
# rebuilding the state then costs less than a row's share of the work.
ROWS_BETWEEN = 20_000
# Another algorithm must promise this share of the present cost: figures waver.
WORTH_CHANGING = 0.8
# Figures that have changed by no more than this share say what they said before.
SAME_SHARE = 0.05
_SECOND_US = 1_000_000


class Chooser:
    """Watches one shard's operator; event time and row counts alone decide, so a replay agrees."""

    def __init__(self, plan: QueryPlan) -> None:
        self._plan = plan
        self._figures = assumed_figures(plan)
        self._before = WorkDone((0,) * len(plan.inputs))
        self._since_us = START_OF_TIME
        # The algorithm that was found to be good enough last, and the figures that said so.
        self._kept_for: tuple[str, Figures] | None = None

    @property
    def figures(self) -> Figures:
        """What is known now: measured once there was enough to measure."""
        return self._figures

    def begin(self, operator: Operator, clock: int) -> None:
        """Another operator has taken over: count from here."""
        self._before, self._since_us = operator.work_done(), clock

    def due(self, operator: Operator) -> bool:
        """Whether enough has come in since the last decision."""
        entered = sum(operator.work_done().rows) - sum(self._before.rows)
        return entered >= ROWS_BETWEEN and entered >= sum(operator.row_counts())

    def measure(self, operator: Operator, clock: int) -> None:
        """Take figures over the time since the last decision."""
        done, before = operator.work_done(), self._before
        span_us = clock - self._since_us
        if self._since_us > START_OF_TIME and span_us > 0:
            rates = tuple(
                (now - then) * _SECOND_US / span_us
                for now, then in zip(done.rows, before.rows, strict=True)
            )
            found = (done.matches - before.matches, done.kept - before.kept)
            held = tuple(operator.row_counts())
            self._figures = measured_figures(rates, held, operator.joined_rows(), found)
        self._before, self._since_us = done, clock

    def better(self, current: str) -> str | None:
        """An algorithm that promises to be much cheaper than the current one."""
        known = self._kept_for
        if known and known[0] == current and _are_alike(known[1], self._figures):
            return None
        ranked = [each for each in candidates(self._plan, self._figures) if each.reason is None]
        cost = {each.name: each.nanoseconds for each in ranked}
        best = ranked[0]
        if best.name == current or best.nanoseconds > WORTH_CHANGING * cost[current]:
            self._kept_for = (current, self._figures)
            return None
        return best.name


def _are_alike(known: Figures, now: Figures) -> bool:
    """Whether no figure has changed by much."""
    before = (*known.rates, *known.held, known.matches, known.kept)
    after = (*now.rates, *now.held, now.matches, now.kept)
    return all(abs(b - a) <= SAME_SHARE * a for a, b in zip(before, after, strict=True))
