"""The governor's two tables as rows that people read: windows as they are, and what queries ask."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from windrow.embedded.demands import demand_of, demands_on
from windrow.embedded.measured_windows import MeasuredWindow
from windrow.engine.window_table import QueryRow, WindowRow
from windrow.governor.tables import Demand

__all__ = ["UNMET", "query_rows", "window_rows"]

# The level of a query that the last decision does not serve as its clauses say, as they are read
# now: what its answers lack is still bounded, and said with each of them.
UNMET = "unmet"


def window_rows(
    windows: Sequence[MeasuredWindow], level_of: Callable[[Demand], str]
) -> list[WindowRow]:
    """One row for each window."""
    return [_window_row(window, level_of) for window in windows]


def _window_row(window: MeasuredWindow, level_of: Callable[[Demand], str]) -> WindowRow:
    demands = demands_on(window)
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
        window.rate if timed else None,
        max(level_of(each) for each in demands),
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
                    level_of(demand),
                    query.algorithm,
                )
            )
    return sorted(rows, key=lambda row: (row.query, row.alias))
