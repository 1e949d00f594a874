"""What became of every row at the end of a job: people are told of those that were set aside."""

from __future__ import annotations

import pyarrow as pa

from windrow.terminal.screen import Screen

__all__ = ["tell_of_rows_set_aside"]

_SET_ASIDE = {
    "late": "came after the lateness of their stream",
    "bad_time": "had no time, or one outside the years 1 to 2199",
}


def tell_of_rows_set_aside(screen: Screen, ledger: pa.Table) -> None:
    """A remark for each stream and reason; machines get the whole ledger."""
    aside: dict[tuple[str, str], int] = {}
    for row in ledger.to_pylist():
        screen.event("ledger", row)
        for name in _SET_ASIDE:
            # On Spark each query counts the rows of its streams: the same rows, told once.
            key = (row["stream"], name)
            aside[key] = max(aside.get(key, 0), row[name])
    for (stream, name), count in aside.items():
        if count:
            why = _SET_ASIDE[name]
            screen.note(f"stream {stream}: {count:,} rows set aside, which {why}", "yellow")
