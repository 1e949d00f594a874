"""What a session holds for queries beside windows of streams: tables, and relations of views.

They have no width, so the governor decides nothing about them; their bytes count in the budget, and
what they take is not there for windows.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from windrow.deferred import deferred
from windrow.embedded.query import EmbeddedQuery
from windrow.governor.window_table import QueryRow, WindowRow
from windrow.service_levels import INCOMPLETE, LEVELS

if TYPE_CHECKING:
    from windrow.embedded.view_run import ViewRun
    from windrow.plan.relations.tree_plan import TreePlan
    from windrow.runtime.tables.table_store import TableStore
else:
    TreePlan = deferred("windrow.plan.relations.tree_plan", "TreePlan")

__all__ = ["rows_of_reads", "rows_of_tables", "rows_of_views"]


def rows_of_tables(
    tables: Iterable[TableStore], running: Iterable[EmbeddedQuery]
) -> list[WindowRow]:
    """One row for each table: its rows and bytes, and who reads it."""
    queries = list(running)
    found = []
    for table in tables:
        readers = [query.name for query in queries if table in query.tables]
        rows, held = table.row_count, table.nbytes
        found.append(_row(f"table {table.name}", table.name, readers, rows, held, LEVELS[0]))
    return found


def rows_of_views(views: Iterable[ViewRun], running: Iterable[EmbeddedQuery]) -> list[WindowRow]:
    """One row for each view that runs: the rows of its relation.

    What a view holds is shown with its windows; where it has none of its own, it is shown here.
    """
    queries = list(running)
    found = []
    for view in views:
        readers = [query.name for query in queries if view in query.views]
        held = 0 if view.plan.inputs else view.state_bytes
        level = INCOMPLETE if view.lacks_rows() else LEVELS[0]
        found.append(_row(f"view {view.name}", view.name, readers, view.row_count, held, level))
    return found


def _row(name: str, source: str, readers: list[str], rows: int, held: int, level: str) -> WindowRow:
    row_bytes = held / rows if rows else None
    return WindowRow(
        name, source, sorted(readers), None, None, None, rows, held, row_bytes, None, level
    )


def rows_of_reads(query: EmbeddedQuery) -> list[QueryRow]:
    """What a query reads of tables and views, which lie in no window of its own."""
    plan = query.plan
    if not isinstance(plan, TreePlan):
        return []
    level = INCOMPLETE if query.lacks_rows() else LEVELS[0]
    reads = [(f"view {scan.view}", scan.alias) for scan in plan.view_scans]
    reads += [(f"table {scan.table}", scan.alias) for scan in plan.table_scans]
    return [
        QueryRow(
            query.name, name, alias, None, None, None, 0, None, None, level, plan.algorithm
        )
        for name, alias in reads
    ]  # fmt: skip
