"""What the queries of a session ask of its windows: rows of the governor's table of demands."""

from __future__ import annotations

from windrow.embedded.measured_windows import MeasuredWindow
from windrow.embedded.query import EmbeddedQuery
from windrow.event_time import END_OF_TIME, START_OF_TIME
from windrow.governor.tables import Demand
from windrow.plan.service import can_have_error

__all__ = ["demand_of", "demands_on"]


def demands_on(window: MeasuredWindow) -> list[Demand]:
    """The demands of all that read a window."""
    return [demand_of(window.name, *member) for member in window.members]


def demand_of(window: str, query: EmbeddedQuery, position: int) -> Demand:
    """What a query asks of the window of one of its inputs.

    Without ERROR it asks for its whole range at all times; only with ERROR does EVERY say how far
    apart the instants may be at which the window is wide enough.
    """
    spec = query.plan.inputs[position].window
    tolerance = min(query.tolerated_span_us(), spec.length_us)
    delay = query.plan.every_us or 0
    if spec.kind == "slide":  # it only has widths that are whole slides
        tolerance = min(tolerance, spec.length_us - spec.slide_us)
        tolerance -= tolerance % spec.slide_us
    if query.plan.error_percent is None or spec.kind != "time":
        delay = 0
    begin, end = query.life or (END_OF_TIME, END_OF_TIME)
    return Demand(
        query.name,
        window,
        spec.length_us,
        tolerance,
        delay,
        None if begin == START_OF_TIME else begin,
        None if end == END_OF_TIME else end,
        can_have_error(query.plan),
    )
