"""Functions of text. Characters are code points, positions count from 1."""

from __future__ import annotations

from windrow.scalar_functions.entry import Kind, ScalarFunction, Takes
from windrow.scalar_functions.number_format import of_format
from windrow.scalar_functions.rules import CONSTANT_TEXT
from windrow.schema import BOOLEAN, DOUBLE, INT, STRING

__all__ = ["TEXT"]

_TEXT = (Kind.TEXT,)
_TWO = (Kind.TEXT, Kind.TEXT)
_THREE = (Kind.TEXT, Kind.TEXT, Kind.TEXT)
_LENGTH = (Kind.TEXT_OR_BINARY,)
_COUNTED = (Kind.TEXT, Kind.INT)


def _of_text(
    name: str, takes: tuple[Takes | Kind, ...], call: str, value: str, *also: str,
    optional: int = 0, duckdb: str = "", differs: str = "",
) -> ScalarFunction:  # fmt: skip
    """A function that gives text; the example is its arguments."""
    return ScalarFunction(
        name,
        takes,
        STRING,
        also=also,
        optional=optional,
        example=f"{name.upper()}({call})",
        value=value,
        duckdb=duckdb,
        differs=differs,
    )


def _number(
    name: str, takes: tuple[Takes | Kind, ...], call: str, value: str, *also: str,
    optional: int = 0,
) -> ScalarFunction:  # fmt: skip
    """A function that gives an INT."""
    example = f"{name.upper()}({call})"
    return ScalarFunction(
        name, takes, INT, also=also, optional=optional, example=example, value=value
    )


def _condition(name: str, call: str, value: str) -> ScalarFunction:
    """A condition on two texts."""
    return ScalarFunction(name, _TWO, BOOLEAN, example=f"{name.upper()}({call})", value=value)


TEXT: tuple[ScalarFunction, ...] = (
    _of_text("lower", _TEXT, "t", "lab 203", "lcase"),
    _of_text("upper", _TEXT, "t", "LAB 203", "ucase"),
    _of_text("initcap", _TEXT, "'lab two'", "Lab Two"),
    _number("length", _LENGTH, "t", "7", "char_length", "character_length", "len"),
    _number("octet_length", _LENGTH, "'é'", "2"),
    _number("bit_length", _LENGTH, "'é'", "16"),
    ScalarFunction(
        "concat", _TEXT, STRING, repeats=True, example="CONCAT(t, '!')", value="Lab 203!"
    ),
    ScalarFunction(
        "concat_ws",
        _TWO,
        STRING,
        optional=1,
        repeats=True,
        example="CONCAT_WS('-', t, NULL, i)",
        value="Lab 203--7",
    ),
    _of_text("substring", (Kind.TEXT, Kind.INT, Kind.INT), "t, -3", "203", "substr", optional=1),
    _of_text("left", _COUNTED, "t, 3", "Lab"),
    _of_text("right", _COUNTED, "t, 3", "203"),
    _of_text("trim", _TWO, "'  x '", "x", optional=1, duckdb="trim({0}, ' ')"),
    _of_text("btrim", _TWO, "'xxaxx', 'x'", "a", optional=1),
    _of_text("ltrim", _TWO, "'x', 'xa'", "a", optional=1),
    _of_text("rtrim", _TWO, "'x  '", "x", optional=1),
    _of_text("replace", _THREE, "t, '2', '4'", "Lab 403", optional=1),
    _of_text("translate", _THREE, "t, '203', 'xyz'", "Lab xyz"),
    _of_text("reverse", _TEXT, "t", "302 baL"),
    _of_text("repeat", _COUNTED, "'ab', 2", "abab"),
    _of_text("space", (Kind.INT,), "0", ""),
    _of_text("lpad", (Kind.TEXT, Kind.INT, Kind.TEXT), "'7', 3, '0'", "007", optional=1),
    _of_text("rpad", (Kind.TEXT, Kind.INT, Kind.TEXT), "'7', 3, '.'", "7..", optional=1),
    _of_text(
        "overlay", (Kind.TEXT, Kind.TEXT, Kind.INT, Kind.INT), "t, 'X', 5, 2", "Lab X3", optional=1
    ),
    _of_text("split_part", (Kind.TEXT, Kind.TEXT, Kind.INT), "t, ' ', 2", "203"),
    _of_text("substring_index", (Kind.TEXT, Kind.TEXT, Kind.INT), "t, ' ', 1", "Lab"),
    _of_text("soundex", _TEXT, "'Miller'", "M460"),
    _of_text("quote", _TEXT, "t", "'Lab 203'"),
    _of_text(
        "mask",
        (Kind.TEXT, *(CONSTANT_TEXT,) * 4),
        "t",
        "Xxx nnn",
        optional=4,
    ),
    _of_text("chr", (Kind.BIGINT,), "65", "A", "char"),
    ScalarFunction(
        "elt",
        (Kind.INT, Kind.TEXT),
        STRING,
        repeats=True,
        example="ELT(2, 'a', t)",
        value="Lab 203",
        remedy="the number counts from 1; filter such rows out",
    ),
    ScalarFunction(
        "format_number",
        (Kind.NUMBER, Kind.INT),
        STRING,
        example="FORMAT_NUMBER(1234.5, 2)",
        value="1,234.50",
        differs="its second argument is a number of places only",
    ),
    ScalarFunction(
        "format_string",
        (Kind.TEXT, Kind.ANY),
        STRING,
        also=("printf",),
        optional=1,
        repeats=True,
        example="FORMAT_STRING('%s: %05.1f', t, x)",
        value="Lab 203: 002.5",
        differs="knows %s %d %f %e %x %o %c %b %n; doubles and bytes have no %s",
        remedy="the format does not fit the values: %d takes integers, %f other numbers",
    ),
    ScalarFunction(
        "to_number",
        (Kind.TEXT, CONSTANT_TEXT),
        of_format,
        is_total=True,
        example="TO_NUMBER('$1,234.5', '$9,999.99')",
        value="1234.50",
        remedy="TRY_TO_NUMBER returns NULL for such a text; or filter such rows out",
    ),
    ScalarFunction(
        "try_to_number",
        (Kind.TEXT, CONSTANT_TEXT),
        of_format,
        example="TRY_TO_NUMBER(t, '999')",
        value="NULL",
    ),
    _of_text("validate_utf8", _TEXT, "t", "Lab 203", "make_valid_utf8", "try_validate_utf8"),
    _number("ascii", _TEXT, "'A'", "65"),
    _number("instr", _TWO, "t, '2'", "5"),
    _number("locate", (Kind.TEXT, Kind.TEXT, Kind.INT), "'2', t", "5", "position", optional=1),
    _number("find_in_set", _TWO, "'b', 'a,b,c'", "2"),
    _number(
        "levenshtein", (Kind.TEXT, Kind.TEXT, Kind.INT), "'kitten', 'sitting'", "3", optional=1
    ),
    ScalarFunction(
        "jaro_winkler_similarity",
        _TWO,
        DOUBLE,
        example="JARO_WINKLER_SIMILARITY('lab', 'lab')",
        value="1.0",
    ),
    _condition("contains", "t, '20'", "True"),
    _condition("startswith", "t, 'Lab'", "True"),
    _condition("endswith", "t, '4'", "False"),
    ScalarFunction("luhn_check", _TEXT, BOOLEAN, example="LUHN_CHECK('79927398713')", value="True"),
    ScalarFunction("is_valid_utf8", _TEXT, BOOLEAN, example="IS_VALID_UTF8(t)", value="True"),
)
