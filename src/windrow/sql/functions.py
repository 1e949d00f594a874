"""Function calls as sqlglot's nodes, for the functions that WQL knows."""

from __future__ import annotations

from sqlglot import exp

from windrow.sql.cursor import Cursor
from windrow.sql.tokens import Token

__all__ = ["AGGREGATES", "SCALARS", "build_call"]

AGGREGATES = frozenset(
    [
        *("COUNT", "SUM", "AVG", "MIN", "MAX", "STDDEV", "STDDEV_SAMP", "STDDEV_POP", "VARIANCE"),
        *("VAR_SAMP", "VAR_POP"),
        *("APPROX_COUNT_DISTINCT", "APPROX_PERCENTILE", "PERCENTILE_APPROX"),
    ]
)
SCALARS = frozenset(
    [
        *("ABS", "CEIL", "CEILING", "FLOOR", "ROUND", "SQRT", "EXP", "LN", "POWER"),
        *("POW", "SIGN", "LEAST", "GREATEST"),
        *(
            "LOWER",
            "LCASE",
            "UPPER",
            "UCASE",
            "LENGTH",
            "LEN",
            "CHAR_LENGTH",
            "CHARACTER_LENGTH",
            "CONCAT",
        ),
        *("SUBSTRING", "SUBSTR", "TRIM"),
        *("COALESCE", "NVL", "IFNULL", "NULLIF", "IF"),
    ]
)


def build_call(name: Token, arguments: list[exp.Expression], cursor: Cursor) -> exp.Expression:
    """The call under Spark's meaning of the name; a name that WQL does not know stays anonymous.

    Only known names go through sqlglot's table: its builders for the others may rewrite a call into
    something that prints differently.
    """
    if name.upper not in AGGREGATES | SCALARS:
        return exp.Anonymous(this=name.text, expressions=arguments)
    try:
        if not arguments:
            raise ValueError("it needs an argument")
        call = exp.func(name.upper, *arguments, copy=False, dialect="spark")
    except (ValueError, IndexError, TypeError) as error:
        raise cursor.wrong(
            "WS128",
            f"{name.upper} cannot be called with {len(arguments)} arguments",
            str(error) or "see Spark's description of the function",
            name,
        ) from None
    if not isinstance(call, exp.Expression):
        raise cursor.wrong("WS128", f"{name.upper} is not a function", "call a function", name)
    return call
