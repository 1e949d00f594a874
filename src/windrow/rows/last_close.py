"""When the last window closes that has begun: there the clock ends when all streams have ended."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from windrow.event_time import START_OF_TIME
from windrow.plan.model import WindowSpec
from windrow.rows.prepare import lifetime_of

if TYPE_CHECKING:
    from windrow.plan.relations.tree_plan import RunnablePlan

__all__ = ["last_close"]


def last_close(plan: RunnablePlan, newest_us: Mapping[str, int]) -> int:
    """The last end of a window in which the newest time of its stream is; newest_us: by stream."""
    found = START_OF_TIME
    for entry in plan.inputs:
        newest = newest_us[entry.stream.name]
        if newest > START_OF_TIME:
            found = max(found, _last_end(entry.window, newest))
    return found


def _last_end(window: WindowSpec, newest: int) -> int:
    if window.traits.is_session:
        return newest + window.length_us
    if not window.traits.closes:
        return newest
    leave = int(lifetime_of(window).leave(np.array([newest], np.int64))[0])
    return leave - window.slide_us
