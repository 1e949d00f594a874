"""Functions of maps, over whole columns. A key that comes twice, or is NULL, is a fault."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.rows.nested_columns import list_of, struct_of
from windrow.rows.scalar.lists import codes_of, entries_of, flags_of_null
from windrow.rows.scalar.values import Checked, Function, NoValueError, over_arrays, per_value
from windrow.schema import ColumnType

__all__ = ["MAPS", "checked_map"]

Vector = NDArray[np.int64]
Flags = NDArray[np.bool_]


def checked_map(
    kind: ColumnType, lengths: Vector, keys: pa.Array, values: pa.Array, missing: Flags
) -> Checked:
    """Maps of these entries; a fault where a key is NULL or comes twice."""
    rows = np.repeat(np.arange(lengths.size), lengths)
    codes = codes_of(keys)
    wrong = flags_of_null(keys)
    if rows.size:
        _, first = np.unique(rows * (int(codes.max()) + 1) + codes, return_index=True)
        again = np.ones(rows.size, np.bool_)
        again[first] = False
        wrong = wrong | again
    faults = np.zeros(lengths.size, np.bool_)
    faults[rows[wrong]] = True
    absent = missing | faults
    kept = ~absent[rows]
    counts = np.where(absent, 0, lengths)
    children = [keys.filter(pa.array(kept)), values.filter(pa.array(kept))]
    found = list_of(kind.arrow, counts, children, absent)
    return Checked(found, faults if faults.any() else None)


def _map(arguments: list[Any], kind: ColumnType) -> Any:
    if not arguments:
        return pa.scalar([], kind.arrow)
    return over_arrays(_of_columns)(arguments, kind)


def _of_columns(columns: list[Any], kind: ColumnType) -> Checked:
    size, count = len(columns[0]), len(columns) // 2
    places = pa.array(np.arange(size * count).reshape(count, size).T.reshape(-1))
    keys = pa.concat_arrays(columns[::2]).take(places)
    values = pa.concat_arrays(columns[1::2]).take(places)
    lengths = np.full(size, count, np.int64)
    return checked_map(kind, lengths, keys, values, np.zeros(size, np.bool_))


def _concat(arguments: list[Any], kind: ColumnType) -> Checked:
    parts = [entries_of(column) for column in arguments]
    rows = np.concatenate([part.rows for part in parts])
    order = np.argsort(rows, kind="stable")
    missing = np.logical_or.reduce([part.missing for part in parts])
    keys, values = (
        pa.concat_arrays([part.children[place] for part in parts]).take(pa.array(order))
        for place in (0, 1)
    )
    lengths = np.bincount(rows, minlength=missing.size).astype(np.int64)
    return _without_missing(kind, lengths, keys, values, missing)


def _without_missing(
    kind: ColumnType, lengths: Vector, keys: pa.Array, values: pa.Array, missing: Flags
) -> Checked:
    """Entries of rows that are NULL are left out before keys are compared."""
    kept = pa.array(np.repeat(~missing, lengths))
    lengths = np.where(missing, 0, lengths)
    return checked_map(kind, lengths, keys.filter(kept), values.filter(kept), missing)


def _contains_key(arguments: list[Any], _kind: ColumnType) -> pa.Array:
    column, key = arguments
    entries = entries_of(column)
    codes = codes_of(pa.concat_arrays([entries.values, key]))
    size = len(entries.values)
    found = np.zeros(entries.size, np.bool_)
    found[entries.rows[codes[:size] == codes[size:][entries.rows]]] = True
    return pa.array(found, mask=entries.missing | flags_of_null(key))


def _entries(arguments: list[Any], kind: ColumnType) -> pa.Array:
    entries = entries_of(arguments[0])
    pairs = struct_of(kind.element.arrow, list(entries.children), None, entries.rows.size)
    return list_of(kind.arrow, entries.lengths, [pairs], entries.missing)


def _part(place: int) -> Function:
    def part(arguments: list[Any], kind: ColumnType) -> pa.Array:
        entries = entries_of(arguments[0])
        child = entries.children[place]
        return list_of(kind.arrow, entries.lengths, [child], entries.missing)

    return over_arrays(part)


def _from_arrays(arguments: list[Any], kind: ColumnType) -> Checked:
    keys, values = (entries_of(column) for column in arguments)
    missing = keys.missing | values.missing
    unequal = ~missing & (keys.lengths != values.lengths)
    absent = missing | unequal
    chosen = [part.values.filter(pa.array(~absent[part.rows])) for part in (keys, values)]
    lengths = np.where(absent, 0, keys.lengths)
    found = checked_map(kind, lengths, chosen[0], chosen[1], absent)
    faults = unequal if found.faults is None else unequal | found.faults
    return Checked(found.value, faults if faults.any() else None)


def _from_entries(arguments: list[Any], kind: ColumnType) -> Checked:
    """NULL where an entry is NULL."""
    entries = entries_of(arguments[0])
    missing = entries.missing.copy()
    missing[entries.rows[flags_of_null(entries.values)]] = True
    keys, values = entries.values.flatten()
    return _without_missing(kind, entries.lengths, keys, values, missing)


def _text_to_map(text: str, between: str = ",", within: str = ":") -> list[tuple[str, str | None]]:
    pairs = [part.split(within, 1) for part in text.split(between)]
    found = [(pair[0], pair[1] if len(pair) > 1 else None) for pair in pairs]
    if len({key for key, _ in found}) < len(found):
        raise NoValueError
    return found


MAPS: dict[str, Function] = {
    "map": _map,
    "map_concat": over_arrays(_concat),
    "map_contains_key": over_arrays(_contains_key),
    "map_entries": over_arrays(_entries),
    "map_keys": _part(0),
    "map_values": _part(1),
    "map_from_arrays": over_arrays(_from_arrays),
    "map_from_entries": over_arrays(_from_entries),
    "str_to_map": per_value(_text_to_map),
}
