"""Rows that states of groups make, and how they change from place to place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from windrow.operators.relations.aggregates.places import Places
from windrow.operators.relations.changes import Changes
from windrow.windows.value_bytes import bytes_of_values

__all__ = ["changed_rows", "equal_values"]

Flags = NDArray[np.bool_]
Vector = NDArray[np.int64]


def changed_rows(
    places: Places, exists: Flags, groups: Sequence[pa.Array], values: Sequence[pa.Array]
) -> Changes:
    """At each place the old row leaves and the new one enters, unless they are equal.

    exists, values: of every state, whether it is a row and what it shows. groups: the columns of
    the different groups.
    """
    old = places.previous
    new = np.arange(places.groups.size, exists.size)
    leaves, enters = exists[old], exists[new]
    is_same = leaves & enters
    for column in values:
        if not is_same.any():
            break
        is_same &= equal_values(column, old, new)
    shown = np.stack([leaves & ~is_same, enters & ~is_same], axis=1).reshape(-1)
    states = np.stack([old, new], axis=1).reshape(-1)[shown]
    weight = np.tile(np.array([-1, 1], np.int64), places.size)[shown]
    columns = rows_of(states, places, groups, values)
    return Changes(np.repeat(places.at, 2)[shown], weight, columns)


def rows_of(
    states: Vector, places: Places, groups: Sequence[pa.Array], values: Sequence[pa.Array]
) -> tuple[pa.Array, ...]:
    """The rows of these states."""
    numbers, index = pa.array(places.numbers[states]), pa.array(states)
    return (
        *(column.take(numbers) for column in groups),
        *(column.take(index) for column in values),
    )


def equal_values(column: pa.Array, left: Vector, right: Vector) -> Flags:
    """Where the values at two places are the same: NULL is equal to NULL, and NaN to NaN."""
    if column.type in (pa.int64(), pa.float64()) and not column.null_count:
        numbers = column.to_numpy()
        return _equal_numbers(numbers[left], numbers[right])
    one, other = column.take(pa.array(left)), column.take(pa.array(right))
    if pa.types.is_nested(column.type):
        one, other = bytes_of_values(one), bytes_of_values(other)
    same = pc.equal(one, other)
    if pa.types.is_floating(column.type):
        same = pc.or_(same, pc.and_(pc.is_nan(one), pc.is_nan(other)))
    if column.null_count:
        neither = pc.and_(one.is_null(), other.is_null())
        same = pc.or_(same.fill_null(False), neither)
    flags: Flags = same.to_numpy(zero_copy_only=False)
    return flags


def _equal_numbers(one: NDArray[Any], other: NDArray[Any]) -> Flags:
    same: Flags = one == other
    if one.dtype == np.float64:
        same |= np.isnan(one) & np.isnan(other)
    return same
