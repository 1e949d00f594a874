"""The latest rows of a query as a table that is drawn again and again, of a limited height."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from windrow.apps.terminal.rows import has_numbers, on_one_line, shown_column

__all__ = ["live_table", "query_heading"]

CELL_WIDTH = 40


def query_heading(name: str, facts: Iterable[str]) -> Text:
    """The name of a query in bold, and what is known of it."""
    return Text.assemble((name, "bold"), *((f"  {fact}", "dim") for fact in facts if fact))


def live_table(rows: pa.Table | None, height: int) -> RenderableType:
    """The first rows, and how many there are beyond; wide values are cut."""
    if rows is None or not rows.num_columns:
        return Text("  waiting for the first answer", "dim")
    if not rows.num_rows:
        return Text("  no rows now", "dim")
    # The line that counts what is beyond could as well be the one row that is.
    shown = rows.slice(0, height if rows.num_rows > height + 1 else height + 1)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("", width=0)  # rows stand a little to the right of what is above them
    for name in shown.column_names:
        table.add_column(
            Text(on_one_line(name)),
            justify="right" if has_numbers(shown.schema.field(name).type) else "left",
            no_wrap=True,
            overflow="ellipsis",
            max_width=CELL_WIDTH,
        )
    for texts in zip(*map(shown_column, shown.columns), strict=True):
        table.add_row("", *map(Text, texts))
    more = rows.num_rows - shown.num_rows
    return Group(table, Text(f"  ... and {more:,} more rows", "dim")) if more else table
