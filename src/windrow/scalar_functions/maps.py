"""Functions of maps."""

from __future__ import annotations

from windrow.scalar_functions.entry import Kind, ScalarFunction
from windrow.scalar_functions.nested_rules import (
    entries,
    keys,
    map_of_arrays,
    map_of_entries,
    values,
)
from windrow.scalar_functions.rules import as_first
from windrow.schema import BOOLEAN, STRING, map_of

__all__ = ["MAPS"]

_TWICE = "the keys of a map are different, and not NULL"
_TEXTS = (Kind.TEXT, Kind.TEXT, Kind.TEXT)

MAPS: tuple[ScalarFunction, ...] = (
    ScalarFunction("map", (Kind.ANY, Kind.ANY), as_first, optional=2, repeats=True,
                   example="MAP('a', 1)['a']", value="1", remedy=_TWICE),
    ScalarFunction("map_concat", (Kind.ALIKE,), as_first, repeats=True,
                   example="SIZE(MAP_CONCAT(MAP('a', 1), MAP('b', 2)))", value="2",
                   remedy=_TWICE),
    ScalarFunction("map_contains_key", (Kind.MAP, Kind.ANY), BOOLEAN,
                   example="MAP_CONTAINS_KEY(MAP('a', 1), 'b')", value="False"),
    ScalarFunction("map_entries", (Kind.MAP,), entries,
                   example="MAP_ENTRIES(MAP('a', 1))[0].value", value="1"),
    ScalarFunction("map_filter", (Kind.MAP, Kind.ANY), as_first,
                   example="SIZE(MAP_FILTER(MAP('a', 1), (k, v) -> v > 1))", value="0"),
    ScalarFunction("map_from_arrays", (Kind.ARRAY, Kind.ARRAY), map_of_arrays,
                   example="MAP_FROM_ARRAYS(ARRAY('a'), ARRAY(1))['a']", value="1",
                   remedy="both arrays have as many elements; " + _TWICE),
    ScalarFunction("map_from_entries", (Kind.ARRAY,), map_of_entries,
                   example="MAP_FROM_ENTRIES(ARRAY(STRUCT('a', 1)))['a']", value="1",
                   remedy=_TWICE),
    ScalarFunction("map_keys", (Kind.MAP,), keys, example="MAP_KEYS(MAP('a', 1))",
                   value="['a']"),
    ScalarFunction("map_values", (Kind.MAP,), values, example="MAP_VALUES(MAP('a', 1))",
                   value="[1]"),
    ScalarFunction("str_to_map", _TEXTS, map_of(STRING, STRING), optional=2,
                   example="STR_TO_MAP('a:1,b:2')['b']", value="2", remedy=_TWICE,
                   differs="what separates is text, not a regular expression"),
    ScalarFunction("transform_keys", (Kind.MAP, Kind.ANY), as_first,
                   example="MAP_KEYS(TRANSFORM_KEYS(MAP('a', 1), (k, v) -> UPPER(k)))",
                   value="['A']", remedy=_TWICE),
    ScalarFunction("transform_values", (Kind.MAP, Kind.ANY), as_first,
                   example="MAP_VALUES(TRANSFORM_VALUES(MAP('a', 1), (k, v) -> v + 1))",
                   value="[2]"),
)  # fmt: skip
