"""Cases of the functions of JSON text."""

from __future__ import annotations

_PATHS = (
    *("$", "$.a", "$.b", "$.b.c", "$.b.d", "$.b.d[1]", "$[0]", "$[*]", "$[*].a", "$.b[*].c"),
    *("$.*", "$[\\'a b\\']", "$[\\'a.b\\']", "$.a[0]", "$[2][1]", "$[*][*]", "$.a[*]", "a", "$..a"),
    *("$[1].a[*]", "$[1].a[1]", "$.it"),
)

JSON: tuple[str, ...] = (
    *(f"get_json_object(js, '{path}')" for path in _PATHS),
    *("json_array_length(js)", "json_object_keys(js)"),
    'schema_of_json(\'{"a": 1, "b": [1.5, 2], "c": {"d": null}}\')',
    "schema_of_json('[1, \"x\"]')",
    "from_json(js, 'a INT, b STRING')",
    "from_json(js, 'a STRING, b DOUBLE, c ARRAY<INT>')",
    "from_json(js, 'a DECIMAL(10, 2), b STRUCT<c: STRING, d: ARRAY<DOUBLE>>')",
    "from_json(js, 'a BIGINT, b BOOLEAN')",
    "from_json(js, 'ARRAY<INT>')",
    "from_json(js, 'MAP<STRING, STRING>')",
    "to_json(from_json(js, 'a STRING, b STRUCT<c: STRING, d: ARRAY<DOUBLE>>'))",
    "to_json(from_json(js, 'MAP<STRING, STRING>'))",
    "to_json(from_json(js, 'b TIMESTAMP, a DATE'))",
)
