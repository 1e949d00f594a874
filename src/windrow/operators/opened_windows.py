"""The windows of an operator, empty: with rows of their own, or on rows that others read, too."""

from __future__ import annotations

from collections.abc import Sequence

from windrow.plan.model import QueryPlan
from windrow.rows.prepare import window_of
from windrow.rows.shared_rows import RowReader
from windrow.windows.window import Window

__all__ = ["opened_windows"]


def opened_windows(
    plan: QueryPlan,
    values: Sequence[int],
    own: Sequence[int],
    readers: Sequence[RowReader],
) -> tuple[Window, ...]:
    """A window for each input; values, own: words of its rows, and words that are made of them.

    readers: one for each input where the rows are shared; none: they are not.
    """
    if not readers:
        given = zip(plan.inputs, values, own, strict=True)
        return tuple(
            window_of(entry.window, count, own_count=own_count) for entry, count, own_count in given
        )
    windows = []
    for entry, own_count, reader in zip(plan.inputs, own, readers, strict=True):
        window = window_of(entry.window, 0, reader.shared.store, reader.chosen, own_count)
        reader.open(window)
        windows.append(window)
    return tuple(windows)
