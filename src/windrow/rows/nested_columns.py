"""Columns of lists, structs and maps in the types of a stream, made of columns of their parts.

A struct has its fields by name, in any order; those that are not given are NULL. A map may come as
a list of structs of a key and a value, which is how Polars holds maps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.schema import ColumnType
from windrow.windows.value_bytes import bytes_of_values, list_parts

__all__ = ["list_of", "map_entries_of", "nested_as", "nested_of_python", "struct_of"]

Flags = NDArray[np.bool_]
Convert = Callable[[ColumnType, pa.Array], pa.Array]
Read = Callable[[ColumnType, list[Any]], pa.Array]


def nested_as(kind: ColumnType, column: pa.Array, convert: Convert) -> pa.Array:
    """An Arrow column as one of a nested type; convert: how its parts become their types."""
    if str(column.type) == str(kind.arrow):
        if kind.name == "MAP":
            _check_keys(column)
        return column
    if pa.types.is_null(column.type):
        return pa.nulls(len(column), kind.arrow)
    if kind.name == "STRUCT":
        return _struct_as(kind, column, convert)
    column = _as_list(kind, column)
    lengths, children = list_parts(column)
    missing = column.is_null().to_numpy(zero_copy_only=False) if column.null_count else None
    if kind.name == "ARRAY":
        return list_of(kind.arrow, lengths, [convert(kind.element, children[0])], missing)
    if len(children) == 1:  # structs of a key and a value
        if not pa.types.is_struct(children[0].type) or children[0].type.num_fields != 2:
            raise _unlike(kind, column)
        children = children[0].flatten()
    entries = [convert(part, child) for (_, part), child in zip(kind.parts, children, strict=True)]
    found = list_of(kind.arrow, lengths, entries, missing)
    _check_keys(found)
    return found


def nested_of_python(kind: ColumnType, values: list[Any], read: Read) -> pa.Array:
    """Values of Python as a column of a nested type; read: how its parts become their columns."""
    missing = np.fromiter((value is None for value in values), np.bool_, len(values))
    none = missing if missing.any() else None
    if kind.name == "STRUCT":
        rows = [_fields(kind, value) for value in values]
        columns = [
            read(part, [row[place] for row in rows]) for place, (_, part) in enumerate(kind.parts)
        ]
        return struct_of(kind.arrow, columns, none, len(values))
    if kind.name == "ARRAY":
        lists = [_list(kind, value) for value in values]
        entries = [read(kind.element, [each for listed in lists for each in listed])]
    else:
        lists = [map_entries_of(kind, value) for value in values]
        pairs = [pair for listed in lists for pair in listed]
        entries = [
            read(part, [pair[place] for pair in pairs])
            for place, (_, part) in enumerate(kind.parts)
        ]
    lengths = np.fromiter(map(len, lists), np.int64, len(lists))
    found = list_of(kind.arrow, lengths, entries, none)
    if kind.name == "MAP":
        _check_keys(found)
    return found


def list_of(
    kind: pa.DataType, lengths: NDArray[np.int64], entries: list[pa.Array], missing: Flags | None
) -> pa.Array:
    """A column of lists, or of maps where the entries are keys and values; NULL where missing."""
    offsets = np.zeros(lengths.size + 1, np.int32)
    np.cumsum(lengths, out=offsets[1:])
    child = entries[0]
    if pa.types.is_map(kind):
        if child.null_count:  # Arrow would end the process
            raise ValueError("a map has the key NULL")
        pairs = pa.struct([kind.key_field, kind.item_field])
        child = pa.Array.from_buffers(pairs, len(child), [None], children=entries)
    buffers = [_validity(missing), pa.py_buffer(offsets)]
    return pa.Array.from_buffers(kind, lengths.size, buffers, children=[child])


def struct_of(
    kind: pa.DataType, columns: list[pa.Array], missing: Flags | None, size: int
) -> pa.Array:
    """A column of structs of these columns; NULL where missing."""
    return pa.Array.from_buffers(kind, size, [_validity(missing)], children=columns)


def map_entries_of(kind: ColumnType, value: Any) -> list[tuple[Any, Any]]:
    """The entries of a value of Python for a MAP: a mapping, or pairs."""
    if value is None:
        return []
    if isinstance(value, Mapping):
        return list(value.items())
    if isinstance(value, (list, tuple)) and all(_is_pair(each) for each in value):
        return [_pair(each) for each in value]
    raise TypeError(f"{_shown(value)} is not {kind}")


def _is_pair(entry: Any) -> bool:
    if isinstance(entry, Mapping):
        return entry.keys() == {"key", "value"}
    return isinstance(entry, tuple) and len(entry) == 2


def _pair(entry: Any) -> tuple[Any, Any]:
    return (entry["key"], entry["value"]) if isinstance(entry, Mapping) else entry


def _list(kind: ColumnType, value: Any) -> list[Any]:
    if value is None:
        return []
    if isinstance(value, (list, tuple)):
        return list(value)
    if isinstance(value, np.ndarray) and value.ndim:
        return list(value) if value.ndim > 1 else value.tolist()
    raise TypeError(f"{_shown(value)} is not {kind}")


def _fields(kind: ColumnType, value: Any) -> list[Any]:
    """The fields in order; a mapping names them, a tuple has all of them."""
    if value is None:
        return [None] * len(kind.parts)
    if hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, tuple) and len(value) == len(kind.parts):
        return list(value)
    if not isinstance(value, Mapping):
        raise TypeError(f"{_shown(value)} is not {kind}")
    unknown = next((name for name in value if kind.place_of(str(name)) is None), None)
    if unknown is not None:
        raise ValueError(f"{kind} has no field {unknown!r}")
    found: list[Any] = [None] * len(kind.parts)
    for name, field in value.items():
        place = kind.place_of(str(name))
        assert place is not None
        found[place] = field
    return found


def _struct_as(kind: ColumnType, column: pa.Array, convert: Convert) -> pa.Array:
    if not pa.types.is_struct(column.type):
        raise _unlike(kind, column)
    children = dict(zip((field.name for field in column.type), column.flatten(), strict=True))
    unknown = next((name for name in children if kind.place_of(name) is None), None)
    if unknown is not None:
        raise pa.ArrowTypeError(f"{kind} has no field {unknown!r}")
    by_place = {kind.place_of(name): child for name, child in children.items()}
    size = len(column)
    columns = [
        convert(part, by_place[place]) if place in by_place else pa.nulls(size, part.arrow)
        for place, (_, part) in enumerate(kind.parts)
    ]
    missing = column.is_null().to_numpy(zero_copy_only=False) if column.null_count else None
    return struct_of(kind.arrow, columns, missing, size)


def _as_list(kind: ColumnType, column: pa.Array) -> pa.Array:
    """Lists of any layout as the plain one."""
    if pa.types.is_map(column.type) and kind.name == "MAP":
        return column
    found = column.type
    views = pa.types.is_list_view(found) or pa.types.is_large_list_view(found)
    if pa.types.is_large_list(found) or pa.types.is_fixed_size_list(found) or views:
        return column.cast(pa.list_(found.value_type))
    if not pa.types.is_list(found):
        raise _unlike(kind, column)
    return column


def _check_keys(column: pa.Array) -> None:
    """Raises unless the keys of every map are different, and none is NULL."""
    lengths, (keys, _) = list_parts(column)
    if keys.null_count:
        raise ValueError("a map has the key NULL")
    if lengths.size == 0 or lengths.max() < 2:
        return
    if pa.types.is_nested(keys.type) or pa.types.is_floating(keys.type):
        keys = bytes_of_values(keys)
    codes = keys.dictionary_encode().indices.to_numpy(zero_copy_only=False).astype(np.int64)
    maps = np.repeat(np.arange(lengths.size), lengths)
    pairs = maps * (int(codes.max()) + 1) + codes
    different, first = np.unique(pairs, return_index=True)
    if different.size < pairs.size:
        repeated = np.setdiff1d(np.arange(pairs.size), first)[0]
        raise ValueError(f"a map has the key {_shown(list_parts(column)[1][0][repeated])} twice")


def _validity(missing: Flags | None) -> pa.Buffer | None:
    if missing is None or not missing.any():
        return None
    return pa.py_buffer(np.packbits(~missing, bitorder="little"))


def _unlike(kind: ColumnType, column: pa.Array) -> pa.ArrowTypeError:
    return pa.ArrowTypeError(f"it got {column.type}, which is not {kind}")


def _shown(value: Any) -> str:
    shown = repr(value.as_py() if isinstance(value, pa.Scalar) else value)
    return shown if len(shown) <= 40 else f"{shown[:40]}..."
