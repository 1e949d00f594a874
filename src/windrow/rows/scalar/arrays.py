"""Functions of arrays, over whole columns: each chooses entries, and how many every row has."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from windrow.rows.nested_columns import list_of, struct_of
from windrow.rows.scalar.lists import (
    Entries,
    codes_of,
    entries_of,
    flags_of_null,
    lists_with,
    ranks_of,
)
from windrow.rows.scalar.values import Checked, Function, NoValueError, over_arrays, per_value
from windrow.schema import ColumnType

__all__ = ["ARRAYS"]

Vector = NDArray[np.int64]
Flags = NDArray[np.bool_]
# A sequence or a repetition of more elements is no value: it would fill the memory.
MAX_MADE_ELEMENTS = 1_000_000


def _array(arguments: list[Any], kind: ColumnType) -> Any:
    if not arguments:
        return pa.scalar([], kind.arrow)
    return over_arrays(_of_columns)(arguments, kind)


def _of_columns(columns: list[Any], kind: ColumnType) -> pa.Array:
    size, count = len(columns[0]), len(columns)
    places = np.arange(size * count).reshape(count, size).T.reshape(-1)
    values = pa.concat_arrays(columns).take(pa.array(places))
    return list_of(kind.arrow, np.full(size, count, np.int64), [values], None)


def _kept(entries: Entries, keeps: Flags, kind: ColumnType, missing: Flags) -> pa.Array:
    chosen = np.flatnonzero(keeps)
    return lists_with(kind.arrow, entries.children, chosen, entries.rows[chosen], missing)


def _added(*, is_last: bool) -> Function:
    def add(arguments: list[Any], kind: ColumnType) -> pa.Array:
        column, value = arguments
        entries = entries_of(column)
        rows = np.concatenate([entries.rows, np.arange(entries.size)])
        chosen = np.arange(rows.size)
        # Stable: what stands first of a row here stays first.
        if not is_last:
            rows, chosen = np.roll(rows, entries.size), np.roll(chosen, entries.size)
        order = np.argsort(rows, kind="stable")
        children = [pa.concat_arrays([entries.values, value])]
        return lists_with(kind.arrow, children, chosen[order], rows[order], entries.missing)

    return over_arrays(add)


def _matches(entries: Entries, value: pa.Array) -> Flags:
    """Which entries equal the value of their row; NULL equals nothing."""
    codes = codes_of(pa.concat_arrays([entries.values, value]))
    size = len(entries.values)
    found: Flags = codes[:size] == codes[size:][entries.rows]
    return found & ~flags_of_null(entries.values)


def _any_of(entries: Entries, flags: Flags) -> Flags:
    found = np.zeros(entries.size, np.bool_)
    found[entries.rows[flags]] = True
    return found


def _contains(arguments: list[Any], _kind: ColumnType) -> pa.Array:
    column, value = arguments
    entries = entries_of(column)
    found = _any_of(entries, _matches(entries, value))
    has_null = _any_of(entries, flags_of_null(entries.values))
    unknown = entries.missing | flags_of_null(value) | (has_null & ~found)
    return pa.array(found, mask=unknown)


def _position(arguments: list[Any], _kind: ColumnType) -> pa.Array:
    column, value = arguments
    entries = entries_of(column)
    place = np.zeros(entries.size, np.int64)
    chosen = np.flatnonzero(_matches(entries, value))[::-1]
    place[entries.rows[chosen]] = entries.places[chosen] + 1
    return pa.array(place, mask=entries.missing | flags_of_null(value))


def _remove(arguments: list[Any], kind: ColumnType) -> pa.Array:
    column, value = arguments
    entries = entries_of(column)
    missing = entries.missing | flags_of_null(value)
    return _kept(entries, ~_matches(entries, value), kind, missing)


def _compact(arguments: list[Any], kind: ColumnType) -> pa.Array:
    entries = entries_of(arguments[0])
    return _kept(entries, ~flags_of_null(entries.values), kind, entries.missing)


def _first_of_each(rows: Vector, codes: Vector) -> Flags:
    """Which entries are the first of their kind in their row."""
    if not rows.size:
        return np.zeros(0, np.bool_)
    _, first = np.unique(rows * (int(codes.max()) + 1) + codes, return_index=True)
    found = np.zeros(rows.size, np.bool_)
    found[first] = True
    return found


def _plain_zeros(entries: Entries) -> Entries:
    """-0.0 is 0.0 where different values are told apart."""
    if not pa.types.is_floating(entries.values.type):
        return entries
    zero = pa.scalar(0.0, entries.values.type)
    return replace(entries, children=(pc.add(entries.values, zero),))


def _distinct(arguments: list[Any], kind: ColumnType) -> pa.Array:
    entries = _plain_zeros(entries_of(arguments[0]))
    keeps = _first_of_each(entries.rows, codes_of(entries.values))
    return _kept(entries, keeps, kind, entries.missing)


def _union(arguments: list[Any], kind: ColumnType) -> pa.Array:
    return _distinct([_concat(arguments, kind)], kind)


def _members(*, are_in: bool) -> Function:
    """Different entries of the first array that are, or are not, in the second."""

    def choose(arguments: list[Any], kind: ColumnType) -> pa.Array:
        one, other = (_plain_zeros(entries_of(column)) for column in arguments)
        codes = codes_of(pa.concat_arrays([one.values, other.values]))
        size = len(one.values)
        scale = int(codes.max(initial=0)) + 1
        own, others = codes[:size] + one.rows * scale, codes[size:] + other.rows * scale
        keeps = _first_of_each(one.rows, codes[:size]) & (np.isin(own, others) == are_in)
        return _kept(one, keeps, kind, one.missing | other.missing)

    return over_arrays(choose)


def _overlap(arguments: list[Any], _kind: ColumnType) -> pa.Array:
    one, other = (entries_of(column) for column in arguments)
    codes = codes_of(pa.concat_arrays([one.values, other.values]))
    size = len(one.values)
    scale = int(codes.max(initial=0)) + 1
    own, others = codes[:size] + one.rows * scale, codes[size:] + other.rows * scale
    null, other_null = flags_of_null(one.values), flags_of_null(other.values)
    found = _any_of(one, np.isin(own, others) & ~null)
    has_null = _any_of(one, null) | _any_of(other, other_null)
    unknown = ~found & has_null & (one.lengths > 0) & (other.lengths > 0)
    return pa.array(found, mask=one.missing | other.missing | unknown)


def _concat(arguments: list[Any], kind: ColumnType) -> pa.Array:
    parts = [entries_of(column) for column in arguments]
    rows = np.concatenate([part.rows for part in parts])
    order = np.argsort(rows, kind="stable")
    missing = np.logical_or.reduce([part.missing for part in parts])
    values = pa.concat_arrays([part.values for part in parts])
    return lists_with(kind.arrow, [values], order, rows[order], missing)


def _extreme(*, is_max: bool) -> Function:
    def best(arguments: list[Any], _kind: ColumnType) -> pa.Array:
        entries = entries_of(arguments[0])
        ranks = ranks_of(entries.values)
        known = np.flatnonzero(ranks >= 0)
        # The last one that is written is the best, and of equal ones the first in its array.
        order = known[np.lexsort([-known, ranks[known] if is_max else -ranks[known]])]
        place = np.full(entries.size, -1)
        place[entries.rows[order]] = order
        return entries.values.take(pa.array(place, mask=place < 0))

    return over_arrays(best)


def _sorted(entries: Entries, ranks: Vector, kind: ColumnType) -> pa.Array:
    order = np.lexsort([ranks, entries.rows])
    return lists_with(kind.arrow, entries.children, order, entries.rows[order], entries.missing)


def _array_sort(arguments: list[Any], kind: ColumnType) -> pa.Array:
    """Ascending, NULL last."""
    entries = entries_of(arguments[0])
    ranks = ranks_of(entries.values)
    return _sorted(entries, np.where(ranks < 0, np.iinfo(np.int64).max, ranks), kind)


def _sort_array(arguments: list[Any], kind: ColumnType) -> pa.Array:
    """Ascending with NULL first, or descending with NULL last."""
    entries = entries_of(arguments[0])
    ranks = ranks_of(entries.values)
    if len(arguments) > 1:
        upwards = arguments[1].fill_null(True).to_numpy(zero_copy_only=False)[entries.rows]
        ranks = np.where(upwards, ranks, -ranks)
    return _sorted(entries, ranks, kind)


def _reverse(arguments: list[Any], kind: ColumnType) -> pa.Array:
    entries = entries_of(arguments[0])
    chosen = (entries.starts + entries.lengths - 1)[entries.rows] - entries.places
    return lists_with(kind.arrow, entries.children, chosen, entries.rows, entries.missing)


def _slice(arguments: list[Any], kind: ColumnType) -> Checked:
    column, start, length = arguments
    entries = entries_of(column)
    known = ~(entries.missing | flags_of_null(start) | flags_of_null(length))
    first, count = _numbers(start), _numbers(length)
    faults = known & ((first == 0) | (count < 0))
    begin = np.where(first < 0, entries.lengths + first, first - 1)
    end = np.where(begin < 0, begin, begin + count)
    keeps = (entries.places >= begin[entries.rows]) & (entries.places < end[entries.rows])
    return Checked(_kept(entries, keeps, kind, ~known), faults if faults.any() else None)


def _flatten(arguments: list[Any], kind: ColumnType) -> pa.Array:
    outer = entries_of(arguments[0])
    inner = entries_of(outer.values)
    rows = outer.rows[inner.rows]
    missing = outer.missing | _any_of(outer, inner.missing)
    return lists_with(kind.arrow, inner.children, np.arange(rows.size), rows, missing)


def _repeat(arguments: list[Any], kind: ColumnType) -> Checked:
    value, count = arguments
    counts = np.maximum(_numbers(count), 0)
    faults = counts > MAX_MADE_ELEMENTS
    rows = np.repeat(np.arange(len(value)), np.where(faults, 0, counts))
    found = lists_with(kind.arrow, [value], rows, rows, flags_of_null(count))
    return Checked(found, faults if faults.any() else None)


def _size(arguments: list[Any], _kind: ColumnType) -> pa.Array:
    entries = entries_of(arguments[0])
    return pa.array(entries.lengths.astype(np.int32), mask=entries.missing)


def _zip(arguments: list[Any], kind: ColumnType) -> pa.Array:
    parts = [entries_of(column) for column in arguments]
    lengths = np.maximum.reduce([part.lengths for part in parts])
    missing = np.logical_or.reduce([part.missing for part in parts])
    lengths[missing] = 0
    rows = np.repeat(np.arange(lengths.size), lengths)
    places = np.arange(rows.size) - (np.cumsum(lengths) - lengths)[rows]
    columns = [_padded(part, rows, places) for part in parts]
    structs = struct_of(kind.element.arrow, columns, None, rows.size)
    return list_of(kind.arrow, lengths, [structs], missing)


def _padded(part: Entries, rows: Vector, places: Vector) -> pa.Array:
    index = part.starts[rows] + places
    return part.values.take(pa.array(index, mask=places >= part.lengths[rows]))


def _insert(arguments: list[Any], kind: ColumnType) -> Checked:
    """At a place counted from 1, or from the end; what lies between is filled with NULL."""
    column, place, value = arguments
    entries = entries_of(column)
    known = ~(entries.missing | flags_of_null(place))
    numbers = _numbers(place)
    faults = known & ((numbers == 0) | (np.abs(numbers) > MAX_MADE_ELEMENTS))
    size = len(entries.values)
    chosen: list[int] = []
    lengths = np.zeros(entries.size, np.int64)
    for row in np.flatnonzero(known & ~faults).tolist():
        start, length = int(entries.starts[row]), int(entries.lengths[row])
        listed = _with_inserted(list(range(start, start + length)), int(numbers[row]), size + row)
        lengths[row] = len(listed)
        chosen += listed
    index = np.array(chosen, np.int64)
    values = pa.concat_arrays([entries.values, value]).take(pa.array(index, mask=index < 0))
    found = list_of(kind.arrow, lengths, [values], ~known | faults)
    return Checked(found, faults if faults.any() else None)


def _with_inserted(listed: list[int], place: int, new: int) -> list[int]:
    if place > 0:
        padding = [-1] * (place - 1 - len(listed))
        return [*listed[: place - 1], *padding, new, *listed[place - 1 :]]
    at = len(listed) + place + 1
    if at >= 0:
        return [*listed[:at], new, *listed[at:]]
    return [new, *([-1] * -at), *listed]


def _join(arguments: list[Any], kind: ColumnType) -> Any:
    return per_value(_joined_texts, takes_null=True)(arguments, kind)


def _joined_texts(texts: Any, separator: Any, instead: Any = None) -> Any:
    if texts is None or separator is None:
        return None
    listed = [instead if text is None else text for text in texts]
    return separator.join(text for text in listed if text is not None)


def _sequence(start: int, stop: int, step: int | None = None) -> list[int]:
    step = (1 if start <= stop else -1) if step is None else step
    if start == stop:
        return [start]
    if step == 0 or (step > 0) != (stop > start):
        raise NoValueError
    if abs((stop - start) // step) >= MAX_MADE_ELEMENTS:
        raise NoValueError
    return list(range(start, stop + (1 if step > 0 else -1), step))


def _numbers(column: pa.Array) -> Vector:
    filled = column.fill_null(0) if column.null_count else column
    found: Vector = filled.to_numpy(zero_copy_only=False).astype(np.int64)
    return found


_OVER_COLUMNS: dict[str, Callable[[list[Any], ColumnType], Any]] = {
    "array_contains": _contains,
    "array_position": _position,
    "array_remove": _remove,
    "array_compact": _compact,
    "array_distinct": _distinct,
    "array_union": _union,
    "array_insert": _insert,
    "array_repeat": _repeat,
    "array_size": _size,
    "array_sort": _array_sort,
    "sort_array": _sort_array,
    "arrays_overlap": _overlap,
    "arrays_zip": _zip,
    "concat_arrays": _concat,
    "flatten": _flatten,
    "reverse_array": _reverse,
    "slice": _slice,
}
ARRAYS: dict[str, Function] = {
    **{name: over_arrays(function) for name, function in _OVER_COLUMNS.items()},
    "array": _array,
    "array_append": _added(is_last=True),
    "array_prepend": _added(is_last=False),
    "array_intersect": _members(are_in=True),
    "array_except": _members(are_in=False),
    "array_max": _extreme(is_max=True),
    "array_min": _extreme(is_max=False),
    "array_join": _join,
    "sequence": per_value(_sequence),
}
