"""The order of changes: by instant, those of one instant by their rows, however they came."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.output.feed_columns import repeated_rows
from windrow.output.kernels import is_increasing
from windrow.output.selects.order_words import row_order
from windrow.windows.value_bytes import is_coded

__all__ = ["order_in_instants"]

Vector = NDArray[np.int64]
NONE: Vector = np.empty(0, np.int64)


def order_in_instants(at: Vector, rows_of: Callable[[Vector], pa.Table]) -> Vector:
    """The order of rows whose instants are in order; NONE where no two share one.

    rows_of: the rows at some places.
    """
    if is_increasing(at):
        return NONE
    same = at[1:] == at[:-1]
    is_tied = np.zeros(at.size, np.bool_)
    is_tied[1:] |= same
    is_tied[:-1] |= same
    tied = np.flatnonzero(is_tied)
    order = np.arange(at.size)
    order[tied] = tied[_order(rows_of(tied), _starts(at[tied]))]
    return order


def _starts(runs: Vector) -> Vector:
    """Where runs of equal numbers begin, and the end."""
    return np.append(np.flatnonzero(np.diff(runs, prepend=runs[:1] - 1)), runs.size)


def _order(rows: pa.Table, starts: Vector) -> Vector:
    """The order within runs; texts are read only of rows that are equal in all columns before."""
    kinds = [is_coded(each.type) for each in rows.schema]
    before = kinds.index(True) if True in kinds else 0
    if not before:
        return row_order(rows, starts)
    first = rows.select(range(before))
    order = row_order(first, starts)
    is_equal = repeated_rows(first.take(pa.array(order)))
    is_equal[starts[:-1]] = False
    runs = np.cumsum(~is_equal, dtype=np.int64)
    left = np.flatnonzero(is_equal | np.append(is_equal[1:], False))
    if left.size:
        chosen = order[left]
        order[left] = chosen[row_order(rows.take(pa.array(chosen)), _starts(runs[left]))]
    return order
