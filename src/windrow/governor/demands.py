"""What queries ask of windows, with the windows as they are: the two tables to decide by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from windrow.event_time import END_OF_TIME, START_OF_TIME
from windrow.governor.governed_input import GovernedInput
from windrow.governor.measured_window import MeasuredWindow, RateOf
from windrow.governor.tables import Demand, WindowState
from windrow.plan.model import QueryPlan
from windrow.plan.service import can_have_error

__all__ = ["MeasuredTables", "demand_of", "demands_on", "measured_tables"]


class MeasuredTables(NamedTuple):
    """Windows and demands, and the bytes that no width changes."""

    windows: list[WindowState]
    demands: list[Demand]
    fixed_bytes: float


def measured_tables(
    measured: Sequence[MeasuredWindow],
    fixed_bytes: float = 0.0,
    rate_of: RateOf | None = None,
    *,
    is_average: bool = False,
) -> MeasuredTables:
    """The tables of windows as they were measured.

    fixed_bytes: what no window holds. rate_of: for windows that have no rows to tell a rate by.
    """
    windows, demands = [], []
    for window in measured:
        if not window.has_width:
            fixed_bytes += window.bytes
            continue
        state = window.state(is_average=is_average)
        if rate_of is not None and not state.rate and not window.is_filtered:
            state = replace(state, rate=rate_of(window.stream, window.range_us))
        windows.append(state)
        fixed_bytes += window.fixed_bytes
        demands += demands_on(window)
    return MeasuredTables(windows, demands, fixed_bytes)


def demands_on(window: MeasuredWindow) -> list[Demand]:
    """The demands of all that read a window."""
    return [demand_of(window.name, each) for each in window.inputs]


def demand_of(window: str, read: GovernedInput) -> Demand:
    """What a query asks of the window of one of its inputs.

    Without ERROR it asks for its whole range at all times; only with ERROR does EVERY say how far
    apart the instants may be at which the window is wide enough.
    """
    plan, spec = read.plan, read.spec
    tolerance = min(read.tolerated_span_us(), spec.length_us)
    delay = plan.every_us or 0
    if spec.traits.moves_in_steps:  # it only has widths that are whole slides
        tolerance = min(tolerance, spec.length_us - spec.slide_us)
        tolerance -= tolerance % spec.slide_us
    if plan.error_percent is None or not spec.traits.ends_at_any_instant or len(plan.inputs) > 1:
        delay = 0  # the windows of a join would have to be wide at the same instants
    begin, end = read.life or (END_OF_TIME, END_OF_TIME)
    return Demand(
        read.query_name,
        window,
        spec.length_us,
        tolerance,
        delay,
        None if begin == START_OF_TIME else begin,
        None if end == END_OF_TIME else end,
        isinstance(plan, QueryPlan) and can_have_error(plan),
    )
