"""What widths were ordered for one query on Spark, and what its error tolerates."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

from windrow.event_time import START_OF_TIME
from windrow.governor.bounded.arrival_watch import ArrivalWatch
from windrow.governor.bounded.inner_plan import inner_plan
from windrow.rows.prepare import lifetime_of
from windrow.spark.driver.publication import Publication
from windrow.spark.monitoring.status import QueryStatus
from windrow.spark.shuffle.control import order_widths
from windrow.spark.shuffle.window_limits import WidthOrder
from windrow.storage import Storage
from windrow.windows.lifetime import Lifetime

if TYPE_CHECKING:
    from windrow.plan.relations.tree_plan import RunnablePlan

__all__ = ["QueryWidths"]

# What is tolerated holds for an eighth of the range (error_bounds.tolerance): found twice as often.
TOLERANCE_PARTS = 16


class QueryWidths:
    """Sends orders to the shards of one query and remembers the last one."""

    def __init__(self, plan: RunnablePlan, control: Storage) -> None:
        self._plan, self._control = plan, control
        self._last: WidthOrder | None = None
        self._tolerated_us, self._tolerated_until_us = 0, START_OF_TIME

    def order(self, status: QueryStatus, lifetimes: Mapping[int, Lifetime]) -> None:
        """Let rows stay so long from the next batch on; what else was ordered stays so."""
        wanted = dict(status.limits.lifetimes)
        if self.is_pending(status) and self._last is not None:
            wanted.update(self._last.lifetimes)
        wanted.update(lifetimes)
        # Later than any order of this driver or of one before it, which may still be on its way.
        number = max(status.limits.number + 1, time.time_ns() // 1_000)
        self._last = WidthOrder(number, wanted)
        order_widths(self._control, self._last)

    def lifetime(self, status: QueryStatus, input_index: int) -> Lifetime:
        """How long rows of an input stay, once all orders have reached the shards."""
        if self._last is not None and self.is_pending(status):
            found = self._last.lifetimes.get(input_index)
            return found or lifetime_of(self._plan.inputs[input_index].window)
        return status.limits.lifetime(self._plan, input_index)

    def is_pending(self, status: QueryStatus) -> bool:
        """Whether the last order has not reached the shards yet."""
        return self._last is not None and self._last.number > status.limits.number

    def tolerated_span_us(self, publication: Publication | None) -> int:
        """How much narrower the window may be for answers within the tolerated error.

        publication: None before the query was started.
        """
        if self._plan.error_percent is None:
            return 0
        clock_us = None if publication is None else publication.status.clock_us
        if publication is None or clock_us is None or clock_us == START_OF_TIME:
            return ArrivalWatch(inner_plan(self._plan)).tolerated_span_us(
                self._plan.error_percent, 0
            )
        if clock_us >= self._tolerated_until_us:
            self._tolerated_us = publication.tolerated_span_us()
            length_us = self._plan.inputs[0].window.length_us
            self._tolerated_until_us = clock_us + max(1, length_us // TOLERANCE_PARTS)
        return self._tolerated_us
