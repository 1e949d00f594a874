"""What a continuous question of the past has come to: U(t) is U(t - 1) and what was added.

Nodes of the finest level that are complete are added once, while they are still held; the one that
grows is computed again at each instant. So the answer stays as exact as it was when the question
was registered, whatever becomes coarser behind it.
"""

from __future__ import annotations

from windrow.history.answers.answer import Answer, Interval
from windrow.history.operator import HistoryOperator, Reach
from windrow.history.questions.lookup import LookedUp, arranged, look_up, merged
from windrow.history.questions.rows import AnswerRows, kept_rows, rows_of
from windrow.plan.history_plan import HistoryPlan

__all__ = ["HistoryGrowth"]


class HistoryGrowth:
    """All from the start of the interval to now."""

    def __init__(self, operator: HistoryOperator, plan: HistoryPlan) -> None:
        self._operator, self._plan = operator, plan
        self._step_us = operator.history.spec.granularities_us[0]
        # What lies before the edge is in `looked`, what lies behind it is in the history.
        self._edge_us = self._node_start_us(operator.history.now_us)
        since_us = max(plan.since_us, operator.known_from_us)
        start = Interval(since_us, max(since_us, self._edge_us))
        self._looked = look_up(operator, plan, start, None)

    @property
    def folded(self) -> tuple[int, LookedUp]:
        """What lies before the edge, and the edge."""
        return self._edge_us, self._looked

    def resume(self, edge_us: int, looked: LookedUp) -> None:
        """Goes on from what another has folded."""
        self._edge_us, self._looked = edge_us, looked

    def fold(self, instant_us: int) -> None:
        """Rows up to the instant are in the history, which is still at the instant before."""
        edge_us = self._node_start_us(instant_us)
        if edge_us > self._edge_us:
            added = self._between(self._edge_us, edge_us)
            self._looked = self._with(added)
            self._edge_us = edge_us

    def rows(self) -> AnswerRows:
        """The answer at the time of the history, as far as HAVING keeps it."""
        plan, operator = self._plan, self._operator
        looked = self._with(self._between(self._edge_us, self._edge_us + self._step_us))
        return kept_rows(
            plan, rows_of(plan, arranged(plan, looked, operator.history), self._reach())
        )

    @property
    def lacks_rows(self) -> bool:
        """Whether rows up to now were refused that would count."""
        return self._reach().lacks_rows()

    def _reach(self) -> Reach:
        # What is to come is no part of the interval: it ends now.
        return self._operator.reach(self._plan.since_us, None)

    def _between(self, since_us: int, until_us: int) -> Answer:
        # Behind where it begins to know the history has no rows, and no node need be cut.
        if self._plan.since_us > self._operator.known_from_us:
            since_us = max(since_us, self._plan.since_us)
        history = self._operator.history
        return history.snapshot(since_us, max(since_us, until_us), total=self._plan.is_total)

    def _with(self, added: Answer) -> LookedUp:
        looked = self._looked
        whole = merged([looked.answer, added])
        return LookedUp(whole, looked.inside, looked.outside, looked.forgotten)

    def _node_start_us(self, instant_us: int) -> int:
        return instant_us // self._step_us * self._step_us
