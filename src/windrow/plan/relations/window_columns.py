"""window_start, window_end and window_time: columns that windows with bounds give their rows."""

from __future__ import annotations

from windrow.plan.model import WindowSpec
from windrow.plan.relations.algebra import Field, Relation, Scan
from windrow.plan.relations.context import Context
from windrow.plan.relations.window_algebra import BoundPart, SessionScan, WindowBound, WindowBounds
from windrow.schema import TIMESTAMP

__all__ = ["BOUND_NAMES", "with_bounds"]

BOUND_NAMES = ("window_start", "window_end", "window_time")
_PARTS: tuple[BoundPart, ...] = ("start", "end", "time")


def with_bounds(
    relation: Relation, window: WindowSpec, fields: tuple[Field, ...], context: Context
) -> tuple[Relation, tuple[Field, ...]]:
    """The relation of a window with its bounds, where it has any, and all columns to be seen.

    A column of the stream that has the name of a bound hides it.
    """
    if not window.traits.has_bounds:
        return relation, fields
    taken = {field.name.lower() for field in fields}
    bounds = tuple(
        WindowBound(part, context.fresh(name, TIMESTAMP))
        for part, name in zip(_PARTS, BOUND_NAMES, strict=True)
        if name not in taken
    )
    if not bounds:
        return relation, fields
    shown = (*fields, *(each.field for each in bounds))
    if isinstance(relation, Scan) and window.traits.is_session:
        return SessionScan(relation, "rows", bounds), shown
    return WindowBounds(relation, window, bounds), shown
