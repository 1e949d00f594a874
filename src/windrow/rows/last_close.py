"""When the last window closes that has begun: there the clock ends when all streams have ended."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from windrow.deferred import deferred
from windrow.event_time import START_OF_TIME
from windrow.plan.model import WindowSpec
from windrow.rows.prepare import lifetime_of

if TYPE_CHECKING:
    from windrow.plan.relations.tree_plan import RunnablePlan, TreePlan
    from windrow.rows.last_answers import last_of_answers
else:
    TreePlan = deferred("windrow.plan.relations.tree_plan", "TreePlan")
    last_of_answers = deferred("windrow.rows.last_answers", "last_of_answers")

__all__ = ["last_close", "last_end"]


def last_close(plan: RunnablePlan, newest_us: Mapping[str, int]) -> int:
    """The last end of a window in which the newest time of its stream is; newest_us: by stream."""
    found = START_OF_TIME
    for entry in plan.inputs:
        newest = newest_us[entry.stream.name]
        if newest > START_OF_TIME:
            found = max(found, last_end(entry.window, newest))
    if isinstance(plan, TreePlan) and plan.answer_windows:
        found = max(found, last_of_answers(plan.bound, newest_us))
    return found


def last_end(window: WindowSpec, newest: int) -> int:
    """When the last window closes in which a row of that time is."""
    if window.traits.is_session:
        return newest + window.length_us
    if not window.traits.closes:
        return newest
    leave = int(lifetime_of(window).leave(np.array([newest], np.int64))[0])
    return leave - window.slide_us
