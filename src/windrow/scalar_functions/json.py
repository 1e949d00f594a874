"""Functions of JSON text."""

from __future__ import annotations

from windrow.scalar_functions.entry import Kind, ScalarFunction
from windrow.scalar_functions.rules import CONSTANT_TEXT
from windrow.schema import BOOLEAN, INT, STRING, array

__all__ = ["JSON"]

_AT_PATH = (Kind.TEXT, Kind.TEXT)
_FLINK = "Flink's; Spark has none"

JSON: tuple[ScalarFunction, ...] = (
    ScalarFunction(
        "get_json_object", _AT_PATH, STRING, value="2",
        example="""GET_JSON_OBJECT('{"a": [1, 2]}', '$.a[1]')""",
    ),
    ScalarFunction(
        "json_value", _AT_PATH, STRING, example="""JSON_VALUE('{"a": 1}', '$.a')""", value="1",
        differs=_FLINK,
    ),
    ScalarFunction(
        "json_query", _AT_PATH, STRING, example="""JSON_QUERY('{"a": [1]}', '$.a')""", value="[1]",
        differs=_FLINK,
    ),
    ScalarFunction(
        "json_exists", _AT_PATH, BOOLEAN, example="""JSON_EXISTS('{"a": 1}', '$.b')""",
        value="False", differs=_FLINK,
    ),
    ScalarFunction(
        "json_array_length", (Kind.TEXT,), INT, example="JSON_ARRAY_LENGTH('[1, 2]')", value="2"
    ),
    ScalarFunction(
        "json_object_keys", (Kind.TEXT,), array(STRING),
        example="""JSON_OBJECT_KEYS('{"a": 1, "b": 2}')""", value="['a', 'b']",
    ),
    ScalarFunction(
        "schema_of_json", (CONSTANT_TEXT,), STRING, example="SCHEMA_OF_JSON('[1, 2.5]')",
        value="ARRAY<DOUBLE>", differs="without options",
    ),
    ScalarFunction(
        "from_json", (Kind.TEXT, CONSTANT_TEXT), STRING,
        example="""FROM_JSON('{"a": 1}', 'a INT, b STRING')""", value="{'a': 1, 'b': None}",
        differs="without options; texts of times as CAST reads them",
    ),
    ScalarFunction(
        "to_json", (Kind.ANY,), STRING, example="TO_JSON(FROM_JSON('[1,null]', 'ARRAY<INT>'))",
        value="[1,null]", differs="without options",
    ),
)  # fmt: skip
