"""When the last window closes that has begun: there the clock ends when all streams have ended."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from windrow.event_time import START_OF_TIME
from windrow.plan.model import WindowSpec
from windrow.plan.relations.algebra import AnswerWindow, Relation, Scan, ViewScan
from windrow.plan.relations.tree_plan import RunnablePlan, TreePlan
from windrow.plan.relations.window_algebra import SessionScan
from windrow.rows.prepare import lifetime_of

__all__ = ["last_close"]


def last_close(plan: RunnablePlan, newest_us: Mapping[str, int]) -> int:
    """The last end of a window in which the newest time of its stream is; newest_us: by stream."""
    found = START_OF_TIME
    for entry in plan.inputs:
        newest = newest_us[entry.stream.name]
        if newest > START_OF_TIME:
            found = max(found, _last_end(entry.window, newest))
    if isinstance(plan, TreePlan) and plan.answer_windows:
        found = max(found, _last_of(plan.bound, newest_us))
    return found


def _last_of(relation: Relation, newest_us: Mapping[str, int]) -> int:
    """The last end of windows over streams, and of those over answers that these give."""
    if isinstance(relation, SessionScan):
        relation = relation.scan
    if isinstance(relation, Scan):
        newest = newest_us.get(relation.stream.name, START_OF_TIME)
        return newest if newest == START_OF_TIME else _last_end(relation.window, newest)
    if isinstance(relation, ViewScan):
        newest = max(newest_us.get(name, START_OF_TIME) for name in relation.streams)
        step, phase = relation.closes or (1, 0)
        # The first close behind the newest row.
        return newest if step == 1 else (newest - phase) // step * step + step + phase
    found = max([START_OF_TIME, *(_last_of(part, newest_us) for part in relation.inputs)])
    if isinstance(relation, AnswerWindow) and found > START_OF_TIME:
        tick = found // relation.every_us * relation.every_us
        return max(found, _last_end(relation.window, tick + relation.offset_us))
    return found


def _last_end(window: WindowSpec, newest: int) -> int:
    if window.traits.is_session:
        return newest + window.length_us
    if not window.traits.closes:
        return newest
    leave = int(lifetime_of(window).leave(np.array([newest], np.int64))[0])
    return leave - window.slide_us
