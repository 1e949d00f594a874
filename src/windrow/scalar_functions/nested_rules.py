"""Rules for the types of calls that take nested values apart, or make them."""

from __future__ import annotations

from windrow.scalar_functions.entry import Given
from windrow.schema import ColumnType, array, map_of, struct

__all__ = [
    "array_of_first",
    "element",
    "entries",
    "keys",
    "map_of_arrays",
    "map_of_entries",
    "values",
]


def element(given: Given) -> ColumnType:
    """What the array holds."""
    return given.types[0].element


def array_of_first(given: Given) -> ColumnType:
    """An array of the first argument."""
    return array(given.types[0])


def keys(given: Given) -> ColumnType:
    """An array of the keys of a map."""
    return array(given.types[0].key)


def values(given: Given) -> ColumnType:
    """An array of the values of a map."""
    return array(given.types[0].value)


def entries(given: Given) -> ColumnType:
    """An array of the entries of a map."""
    kind = given.types[0]
    return array(struct({"key": kind.key, "value": kind.value}))


def map_of_arrays(given: Given) -> ColumnType:
    """A map from the elements of one array to those of the other."""
    return map_of(given.types[0].element, given.types[1].element)


def map_of_entries(given: Given) -> ColumnType:
    """A map of the structs of an array."""
    (_, key), (_, value) = given.types[0].element.parts
    return map_of(key, value)
