"""What happened to every row at the end of a job: those set aside are reported."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from windrow.apps.terminal.screen import Screen

__all__ = ["tell_of_rows_set_aside"]

_SET_ASIDE = {
    "late": "arrived later than the lateness of their stream allows",
    "bad_time": "had no time, or one too far ahead or outside the years 1 to 2199",
    "bad_value": "had a value that their column cannot hold",
}


# At most this many bad rows of a stream are shown; all that are kept are in bad_rows().
TOLD_ROWS = 3


def tell_of_rows_set_aside(
    screen: Screen, ledger: pa.Table, bad_rows: Mapping[str, pa.Table]
) -> None:
    """A remark for each stream and reason, and some of the bad rows; machines get the ledger."""
    aside: dict[tuple[str, str], int] = {}
    for row in ledger.to_pylist():
        screen.event("ledger", row)
        for name in _SET_ASIDE:
            # On Spark each query counts the rows of its streams: the same rows, reported once.
            key = (row["stream"], name)
            aside[key] = max(aside.get(key, 0), row.get(name, 0))
    for (stream, name), count in aside.items():
        if count:
            why = _SET_ASIDE[name]
            screen.note(f"stream {stream}: {count:,} rows set aside, which {why}", "yellow")
    for stream, rows in bad_rows.items():
        for row in rows.slice(0, TOLD_ROWS).to_pylist():
            screen.note(f"  {stream}: {_shown(row)}", "yellow")


def _shown(row: Mapping[str, Any]) -> str:
    """`smoke.csv, line 7, strength: 'much' is not DOUBLE`; a row that has no place, as it is."""
    place = "" if row["file"] is None else f"{row['file']}, line {row['line']}, "
    column = "" if row["column"] is None else f"{row['column']}: "
    return f"{place}{column}{row['why']}" + ("" if place else f": {row['row']}")
