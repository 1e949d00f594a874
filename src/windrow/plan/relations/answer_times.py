"""Windows over the answers of windows, timed by a bound of these: TUMBLE over TUMBLE by rowtime.

At every close the rows of the inner query enter with the time that the named column has then, which
is that of the close or a fixed span before it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from windrow.plan.expressions import ColumnRef
from windrow.plan.model import WindowSpec
from windrow.plan.relations.algebra import Aggregate, Field, Project, Relation
from windrow.plan.relations.window_algebra import BoundPart, WindowBounds
from windrow.sql.statements import Source

__all__ = ["AnswerTime", "answer_time"]

# The last time in a window, as others count it.
LAST_TIME_US = 1_000
# Spark's names for the time of a window as a whole, which has no column of its own here.
_ENDS = 1_000
_WHOLE = ("window", "window_time")


@dataclass(frozen=True)
class AnswerTime:
    """field: the column of the time, if the query has it. offset_us: from the close to it.

    hidden: ids of columns that the outer window has anew.
    """

    field: Field | None
    offset_us: int
    hidden: frozenset[str] = frozenset()


def answer_time(source: Source, relation: Relation, shown: tuple[Field, ...]) -> AnswerTime | None:
    """The time by which a window over the relation is meant; None where it is not named so."""
    name = source.window.time.lower()
    if not name:
        return None
    named = next((field for field in shown if field.name.lower() == name), None)
    if named is not None:
        offset_us = _offset(_bound(relation, named.id))
        return None if offset_us is None else AnswerTime(named, offset_us)
    bounds = {field.id: _bound(relation, field.id) for field in shown}
    hidden = frozenset(known for known, bound in bounds.items() if bound is not None)
    has_end = any(bound is not None and bound[0] == "end" for bound in bounds.values())
    if name in _WHOLE and has_end:
        return AnswerTime(None, -LAST_TIME_US, hidden)
    return None


def _offset(bound: tuple[BoundPart, WindowSpec] | None) -> int | None:
    if bound is None:
        return None
    part, window = bound
    if part == "start":
        return _span_to_start(window)
    return -LAST_TIME_US if part == "time" else 0


def _span_to_start(window: WindowSpec) -> int | None:
    """From the end to the start; None for windows of different lengths."""
    starts = window.traits.starts
    assert starts is not None
    step, phase = window.traits.close_grid(window)
    ends = phase + step * np.arange(min(window.length_us // step + 1, _ENDS))
    spans = np.unique(starts(window, ends) - ends)
    return int(spans[0]) if spans.size == 1 else None


def _bound(relation: Relation, column: str) -> tuple[BoundPart, WindowSpec] | None:
    """Which bound of a window the column is."""
    if isinstance(relation, WindowBounds):
        for each in relation.bounds:
            if each.field.id == column:
                return each.part, relation.window
    items = relation.items if isinstance(relation, Project) else ()
    items = relation.groups if isinstance(relation, Aggregate) else items
    for item in items:
        if item.field.id == column:
            if not isinstance(item.expression, ColumnRef):
                return None
            column = item.expression.column
            break
    for part in relation.inputs:
        if any(field.id == column for field in part.fields):
            return _bound(part, column)
    return None
