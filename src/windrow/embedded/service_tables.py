"""The governor's two tables as rows that people read: windows as they are, and what queries ask."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from windrow.embedded.demands import demand_of, demands_on
from windrow.embedded.measured_windows import MeasuredWindow, Member
from windrow.governor.tables import Demand
from windrow.governor.window_table import QueryRow, WindowRow
from windrow.service_levels import INCOMPLETE, LEVELS

__all__ = ["query_rows", "window_rows"]


def window_rows(
    windows: Sequence[MeasuredWindow], level_of: Callable[[Demand], str]
) -> list[WindowRow]:
    """One row for each window."""
    return [_window_row(window, level_of) for window in windows]


def _window_row(window: MeasuredWindow, level_of: Callable[[Demand], str]) -> WindowRow:
    demands = demands_on(window)
    levels = [_level(window, member, level_of) for member in window.members]
    timed = window.is_timed
    return WindowRow(
        window.name,
        window.stream,
        sorted({query.name for query, _ in window.members}),
        max(each.range_us for each in demands) if timed else None,
        max(each.least_us for each in demands) if timed else None,
        window.width_us if timed else None,
        window.rows,
        window.bytes,
        window.row_bytes,
        window.shown_rate if timed else None,
        max(levels, key=LEVELS.index),
    )


def query_rows(
    windows: Sequence[MeasuredWindow], level_of: Callable[[Demand], str]
) -> list[QueryRow]:
    """One row for each window that each query reads."""
    rows = []
    for window in windows:
        for query, position in window.members:
            demand = demand_of(window.name, query, position)
            timed = window.is_timed
            rows.append(
                QueryRow(
                    query.name,
                    window.name,
                    query.plan.inputs[position].alias,
                    demand.range_us if timed else None,
                    query.plan.error_percent,
                    demand.tolerance_us if timed else None,
                    demand.delay_us,
                    demand.begin_us,
                    demand.end_us,
                    _level(window, (query, position), level_of),
                    query.algorithm,
                )
            )
    return sorted(rows, key=lambda row: (row.query, row.alias))


def _level(window: MeasuredWindow, member: Member, level_of: Callable[[Demand], str]) -> str:
    """How a query is served: rows that were refused are worse than any width."""
    query, position = member
    return INCOMPLETE if query.lacks_rows() else level_of(demand_of(window.name, query, position))
