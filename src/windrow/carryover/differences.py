"""What keeps a changed query from going on with the rows of the one before it."""

from __future__ import annotations

from windrow.rows_warning import warn_of_rows

__all__ = ["DIFFERENCES", "warn_begins_anew"]

# Its state cannot be taken, or its windows, columns or buckets do not agree.
DIFFERENCES = frozenset(["WC424", "WC425", "WC426", "WC427", "WC430"])


def warn_begins_anew(name: str, why: str) -> None:
    """Warns that a changed query has empty windows."""
    warn_of_rows(f"query {name!r} begins anew, with empty windows: {why}")
