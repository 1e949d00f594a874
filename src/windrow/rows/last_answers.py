"""When the last window closes over the answers of windows that have begun."""

from __future__ import annotations

from collections.abc import Mapping

from windrow.event_time import START_OF_TIME
from windrow.plan.relations.algebra import AnswerWindow, Relation, Scan, ViewScan
from windrow.plan.relations.window_algebra import SessionScan
from windrow.rows.last_close import last_end

__all__ = ["last_of_answers"]


def last_of_answers(relation: Relation, newest_us: Mapping[str, int]) -> int:
    """The last end of windows over streams, and of those over answers that these give."""
    if isinstance(relation, SessionScan):
        relation = relation.scan
    if isinstance(relation, Scan):
        newest = newest_us.get(relation.stream.name, START_OF_TIME)
        return newest if newest == START_OF_TIME else last_end(relation.window, newest)
    if isinstance(relation, ViewScan):
        newest = max(newest_us.get(name, START_OF_TIME) for name in relation.streams)
        step, phase = relation.closes or (1, 0)
        # The first close behind the newest row.
        return newest if step == 1 else (newest - phase) // step * step + step + phase
    found = max([START_OF_TIME, *(last_of_answers(part, newest_us) for part in relation.inputs)])
    if isinstance(relation, AnswerWindow) and found > START_OF_TIME:
        tick = found // relation.every_us * relation.every_us
        return max(found, last_end(relation.window, tick + relation.offset_us))
    return found
