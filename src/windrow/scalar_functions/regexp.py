"""LIKE as a function, and functions with regular expressions."""

from __future__ import annotations

from windrow.scalar_functions.entry import Kind, ScalarFunction
from windrow.scalar_functions.rules import CONSTANT_TEXT
from windrow.schema import BOOLEAN, INT, STRING, ColumnType, array

__all__ = ["REGEXP"]

_RE2 = "by RE2: look-around, references back and possessive quantifiers are refused"
_TWO = (Kind.TEXT, Kind.TEXT)
_GROUP = (Kind.TEXT, Kind.TEXT, Kind.INT)
_REMEDY = "the pattern, its group or its replacement is wrong in such a row"


def _regexp(
    name: str, takes: tuple[Kind, ...], gives: ColumnType, call: str, value: str,
    *also: str, optional: int = 0,
) -> ScalarFunction:  # fmt: skip
    return ScalarFunction(
        name,
        takes,
        gives,
        also=also,
        optional=optional,
        example=f"{name.upper()}({call})",
        value=value,
        differs=_RE2,
        remedy=_REMEDY,
    )


REGEXP: tuple[ScalarFunction, ...] = (
    ScalarFunction(
        "like",
        (*_TWO, CONSTANT_TEXT),
        BOOLEAN,
        optional=1,
        example="LIKE(t, 'Lab%')",
        value="True",
        remedy="an escape stands before %, _ or itself",
    ),
    ScalarFunction(
        "ilike",
        (*_TWO, CONSTANT_TEXT),
        BOOLEAN,
        optional=1,
        is_form=True,
        example="ILIKE(t, 'lab%')",
        value="True",
    ),
    _regexp("regexp_like", _TWO, BOOLEAN, "t, '^Lab'", "True", "rlike", "regexp"),
    _regexp("regexp_count", _TWO, INT, "t, '[0-9]'", "3"),
    _regexp("regexp_extract", _GROUP, STRING, "t, '([0-9]+)', 1", "203", optional=1),
    _regexp(
        "regexp_extract_all",
        _GROUP,
        array(STRING),
        "t, '([a-z])', 1",
        "['a', 'b']",
        optional=1,
    ),
    _regexp("regexp_instr", _GROUP, INT, "t, '[0-9]'", "5", optional=1),
    _regexp(
        "regexp_replace",
        (Kind.TEXT, Kind.TEXT, Kind.TEXT, Kind.INT),
        STRING,
        "t, '([0-9])', '<$1>'",
        "Lab <2><0><3>",
        optional=1,
    ),
    _regexp("regexp_substr", _TWO, STRING, "t, '[0-9]+'", "203"),
    _regexp("split", _GROUP, array(STRING), "t, ' '", "['Lab', '203']", optional=1),
)
