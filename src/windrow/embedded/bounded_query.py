"""What a query with ERROR tolerates, and what it knows of rows that its windows may not hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from windrow.embedded.query_run import QueryRun
from windrow.event_time import START_OF_TIME, show_span
from windrow.governor.governed_input import KeptTail

if TYPE_CHECKING:
    from windrow.history.history import History

__all__ = ["BoundedQuery"]

# What is tolerated holds for an eighth of the range (error_bounds.tolerance): found twice as often.
TOLERANCE_PARTS = 16


class BoundedQuery(QueryRun):
    """The side of a query that the governor asks; without ERROR it tolerates nothing."""

    _tolerated_us: tuple[int, ...] = ()
    _tolerated_until_us = START_OF_TIME

    def fill_from(self, history: History, known_from_us: int) -> None:
        """Complete answers of a narrowed window from a history, where it can."""
        if self._bounded is not None:
            self._bounded.fill_from(history, known_from_us)

    def tolerated_span_us(self, input_index: int = 0) -> int:
        """How much narrower a window may be for answers within the tolerated error."""
        bounded, percent = self._bounded, self.plan.error_percent
        if bounded is None or percent is None:
            return 0
        clock = self.clock
        if clock >= self._tolerated_until_us:
            self._tolerated_us = tuple(
                bounded.tolerated_span_us(number, percent, clock)
                for number in range(len(self.plan.inputs))
            )
            part_us = max(1, bounded.shortest_range_us // TOLERANCE_PARTS)
            self._tolerated_until_us = clock + part_us
        return self._tolerated_us[input_index]

    @property
    def pane_us(self) -> int:
        """Widths that are so many times as wide let answers be as good as they can be."""
        return 1 if self._bounded is None else self._bounded.pane_us

    def tail(self, input_index: int) -> KeptTail:
        """What is known by cells of rows of an input, held or not."""
        return KeptTail() if self._bounded is None else self._bounded.tail(input_index)

    def shown_tail(self, input_index: int) -> list[str]:
        """A line of EXPLAIN, where there is one."""
        tail, alias = self.tail(input_index), self.plan.inputs[input_index].alias
        if not tail.pane_us:
            return []
        shown = f"{tail.cells} cells in {tail.panes} panes of {show_span(tail.pane_us)}"
        return [f"coarse tail of {alias}: {shown}, {tail.nbytes} bytes"]

    @property
    def is_exact(self) -> bool:
        """Whether its window holds the whole range."""
        return self._bounded is None or self._bounded.is_exact(self.clock)
