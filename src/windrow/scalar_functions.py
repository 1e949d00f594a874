"""The scalar functions: one entry each, for the parser, the binder, the evaluator and the docs.

To add one is an entry here and, under its name, an implementation in rows/scalar. Operators and
forms with words of their own (AND, CASE, LIKE) are no functions: see plan/operators.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

__all__ = ["MANY", "SCALAR_FUNCTIONS", "SCALAR_NAMES", "ScalarFunction", "Signature"]

MANY = 10_000


class Signature(Enum):
    """What a function accepts and returns; plan/functions.py binds each of them."""

    DOUBLES = "numbers, as doubles, to DOUBLE"
    ABSOLUTE = "a number to BIGINT, DECIMAL or DOUBLE, as it is"
    WHOLE = "a number to BIGINT"
    ROUNDED = "a number, and how many of its digits stay"
    ALIKE = "values of one type, to that type"
    TEXTS = "texts to STRING"
    TEXT_LENGTH = "a text to INT"
    PART_OF_TEXT = "a text and written integers to STRING"


@dataclass(frozen=True)
class ScalarFunction:
    """One scalar function.

    name: in plans, and as people write it, in any letters. also: its other names. least, most: how
    many arguments it takes. is_total: it has a value wherever its arguments have; where it has none
    of its type, such as beyond 64 bits, that is a fault. duckdb: what means the same there, where
    that is no call of the same name.
    """

    name: str
    signature: Signature
    least: int = 1
    most: int = 1
    also: tuple[str, ...] = ()
    is_total: bool = False
    duckdb: str = ""


_ENTRIES = (
    ScalarFunction("abs", Signature.ABSOLUTE, is_total=True),
    ScalarFunction("ceil", Signature.WHOLE, also=("ceiling",), is_total=True),
    ScalarFunction("floor", Signature.WHOLE, is_total=True),
    ScalarFunction("round", Signature.ROUNDED, 1, 2, is_total=True),
    ScalarFunction(
        "sqrt", Signature.DOUBLES, duckdb="(CASE WHEN {0} < 0 THEN 'nan' ELSE sqrt({0}) END)"
    ),
    ScalarFunction("exp", Signature.DOUBLES),
    ScalarFunction(
        "sign",
        Signature.DOUBLES,
        also=("signum",),
        duckdb="(CASE WHEN isnan({0}) THEN {0} ELSE sign({0})::DOUBLE END)",
    ),
    ScalarFunction("ln", Signature.DOUBLES, duckdb="(CASE WHEN {0} > 0 THEN ln({0}) END)"),
    ScalarFunction("power", Signature.DOUBLES, 2, 2, also=("pow",), duckdb="pow({0}, {1})"),
    ScalarFunction("least", Signature.ALIKE, 2, MANY),
    ScalarFunction("greatest", Signature.ALIKE, 2, MANY),
    ScalarFunction("coalesce", Signature.ALIKE, 1, MANY, also=("nvl", "ifnull")),
    ScalarFunction("nullif", Signature.ALIKE, 2, 2),
    ScalarFunction("lower", Signature.TEXTS, also=("lcase",)),
    ScalarFunction("upper", Signature.TEXTS, also=("ucase",)),
    ScalarFunction(
        "length", Signature.TEXT_LENGTH, also=("char_length", "character_length", "len")
    ),
    ScalarFunction("concat", Signature.TEXTS, 1, MANY),
    ScalarFunction("substring", Signature.PART_OF_TEXT, 2, 3, also=("substr",)),
    ScalarFunction("trim", Signature.TEXTS, duckdb="trim({0}, ' ')"),
)
SCALAR_FUNCTIONS: Mapping[str, ScalarFunction] = {each.name: each for each in _ENTRIES}
# Every name that can be written, and what it means.
SCALAR_NAMES: Mapping[str, ScalarFunction] = {
    name: each for each in _ENTRIES for name in (each.name, *each.also)
}
