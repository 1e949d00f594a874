"""Rows of session.windows() and session.queries(): windows as they are, and what queries ask."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from windrow.governor.demands import demand_of, demands_on
from windrow.governor.governed_input import GovernedInput
from windrow.governor.measured_window import MeasuredWindow
from windrow.governor.tables import Demand
from windrow.governor.window_table import QueryRow, WindowRow
from windrow.service_levels import LEVELS

__all__ = ["LevelOf", "query_rows", "window_rows"]

# How well an input is served, given what it asks of its window.
LevelOf = Callable[[GovernedInput, Demand], str]


def window_rows(windows: Iterable[MeasuredWindow], level_of: LevelOf) -> list[WindowRow]:
    """One row for each window."""
    return [_window_row(window, level_of) for window in windows]


def query_rows(windows: Iterable[MeasuredWindow], level_of: LevelOf) -> list[QueryRow]:
    """One row for each window that each query reads."""
    return [_query_row(window, each, level_of) for window in windows for each in window.inputs]


def _window_row(window: MeasuredWindow, level_of: LevelOf) -> WindowRow:
    demands, has_width = demands_on(window), window.has_width
    levels = [level_of(*each) for each in zip(window.inputs, demands, strict=True)]
    return WindowRow(
        window.name,
        window.stream,
        sorted({each.query_name for each in window.inputs}),
        max(each.range_us for each in demands) if has_width else None,
        max(each.least_us for each in demands) if has_width else None,
        window.width_us if has_width else None,
        window.rows,
        window.bytes,
        window.row_bytes,
        window.shown_rate if has_width else None,
        max(levels, key=LEVELS.index),
        sum(each.tail.cells for each in window.inputs),
        max((each.tail.pane_us for each in window.inputs if each.tail.pane_us), default=None),
    )


def _query_row(window: MeasuredWindow, read: GovernedInput, level_of: LevelOf) -> QueryRow:
    demand, has_width = demand_of(window.name, read), window.has_width
    return QueryRow(
        read.query_name,
        window.name,
        read.alias,
        demand.range_us if has_width else None,
        read.plan.error_percent,
        demand.tolerance_us if has_width else None,
        demand.delay_us,
        demand.begin_us,
        demand.end_us,
        level_of(read, demand),
        read.algorithm,
    )
