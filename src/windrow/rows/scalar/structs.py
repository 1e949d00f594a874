"""Fields, elements and values of nested values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.rows.nested_columns import list_of, struct_of
from windrow.rows.scalar.lists import codes_of, entries_of, flags_of_null
from windrow.rows.scalar.values import Checked, Function, over_arrays
from windrow.schema import ColumnType

__all__ = ["STRUCTS"]


def _field(arguments: list[Any], _kind: ColumnType) -> Any:
    value, place = arguments
    return pc.struct_field(value, [place.as_py()])


def _fields(arguments: list[Any], kind: ColumnType) -> Any:
    column, place = arguments
    entries = entries_of(column)
    values = pc.struct_field(entries.values, [place[0].as_py() if len(place) else 0])
    return list_of(kind.arrow, entries.lengths, [values], entries.missing)


def _item(arguments: list[Any], _kind: ColumnType) -> Any:
    """x[i]: an index outside of the array is a fault."""
    column, index = arguments
    return _at(column, index, _numbers(index))


def _element_at(arguments: list[Any], kind: ColumnType) -> Any:
    """Counted from 1, or from the end where it is negative; a fault outside of the array."""
    column, index = arguments
    if pa.types.is_map(column.type):
        return _map_value(arguments, kind)
    numbers = _numbers(index)
    lengths = entries_of(column).lengths
    places = np.where(numbers < 0, lengths + numbers, numbers - 1)
    return _at(column, index, np.where(numbers == 0, -1, places))


def _try_element_at(arguments: list[Any], kind: ColumnType) -> Any:
    """NULL outside of the array; 0 is a fault all the same."""
    column, index = arguments
    if pa.types.is_map(column.type):
        return _map_value(arguments, kind)
    found = _element_at(arguments, kind)
    value = found.value if isinstance(found, Checked) else found
    known = ~flags_of_null(index) & ~flags_of_null(column)
    zero = known & (_numbers(index) == 0)
    return Checked(value, zero if zero.any() else None)


def _get(arguments: list[Any], _kind: ColumnType) -> Any:
    """Counted from 0; NULL outside of the array."""
    column, index = arguments
    return _at(column, index, _numbers(index)).value


def _at(column: pa.Array, index: pa.Array, places: Any) -> Checked:
    entries = entries_of(column)
    known = ~entries.missing & ~flags_of_null(index)
    inside = known & (places >= 0) & (places < entries.lengths)
    value = entries.values.take(pa.array(entries.starts + places, mask=~inside))
    faults = known & ~inside
    return Checked(value, faults if faults.any() else None)


def _numbers(index: pa.Array) -> Any:
    filled = index.fill_null(0) if index.null_count else index
    return filled.to_numpy(zero_copy_only=False).astype(np.int64)


def _map_value(arguments: list[Any], _kind: ColumnType) -> Any:
    """The value of a key, NULL where the map does not have it."""
    column, key = arguments
    entries = entries_of(column)
    both = codes_of(pa.concat_arrays([entries.values, key]))
    size = len(entries.values)
    matches = np.flatnonzero(both[:size] == both[size:][entries.rows])
    place = np.full(len(column), -1)
    place[entries.rows[matches]] = matches
    return entries.children[1].take(pa.array(place, mask=(place < 0) | flags_of_null(key)))


def _struct(arguments: list[Any], kind: ColumnType) -> Any:
    return struct_of(kind.arrow, arguments, None, len(arguments[0]))


STRUCTS: dict[str, Function] = {
    "field": _field,
    "fields": over_arrays(_fields),
    "item": over_arrays(_item),
    "element_at": over_arrays(_element_at),
    "try_element_at": over_arrays(_try_element_at),
    "get": over_arrays(_get),
    "map_value": over_arrays(_map_value),
    "struct": over_arrays(_struct),
}
