"""Function calls as sqlglot's nodes, for the functions that WQL knows."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from windrow.aggregate_functions import SQL_NAMES, AggregateFunction
from windrow.errors import QuerySyntaxError
from windrow.scalar_functions import SCALAR_NAMES
from windrow.sql.cursor import Cursor
from windrow.sql.tokens import Token

__all__ = [
    "AGGREGATES",
    "SCALARS",
    "WINDOW_FUNCTIONS",
    "aggregate_classes",
    "build_call",
]

AGGREGATES = frozenset(SQL_NAMES)
SCALARS = frozenset(name.upper() for name in SCALAR_NAMES)

# Those that are only known OVER a window, and those of grouping sets: how many arguments they have.
# They stay anonymous, their names in capitals, so that their arguments are one list.
WINDOW_FUNCTIONS = {
    **dict.fromkeys(["ROW_NUMBER", "RANK", "DENSE_RANK", "PERCENT_RANK", "CUME_DIST"], (0, 0)),
    **dict.fromkeys(["NTILE", "FIRST_VALUE", "LAST_VALUE"], (1, 1)),
    **dict.fromkeys(["LAG", "LEAD"], (1, 3)),
    "NTH_VALUE": (2, 2),
}
_GROUPING = {"GROUPING": (1, 1), "GROUPING_ID": (0, 64)}
_COUNTED = {**WINDOW_FUNCTIONS, **_GROUPING}


# What others call them.
_SYNONYMS = {
    "MEAN": "AVG",
    "STD": "STDDEV",
    "EVERY": "BOOL_AND",
    **dict.fromkeys(["SOME", "ANY"], "BOOL_OR"),
    "COUNTIF": "COUNT_IF",
}
_OPERATORS: dict[str, type[exp.Binary]] = {"MOD": exp.Mod, "DIV": exp.IntDiv}


def build_call(name: Token, arguments: list[exp.Expression], cursor: Cursor) -> exp.Expression:
    """The call by its name, with its arguments as one list; aggregates have nodes of their own.

    sqlglot's builders for scalar functions would rewrite some calls into others, or lose arguments
    that Spark has: only IF, a form of CASE, is one of its nodes.
    """
    word = _SYNONYMS.get(name.upper, name.upper)
    if word in _OPERATORS and word not in SCALARS and len(arguments) == 2:
        return _operator(word, *arguments)
    if name.upper in _COUNTED:
        least, most = _COUNTED[name.upper]
        if not least <= len(arguments) <= most:
            raise _wrong_arguments(name, arguments, cursor)
        return exp.Anonymous(this=name.upper, expressions=arguments)
    if name.upper in SCALARS and name.upper != "IF":
        return exp.Anonymous(this=name.upper, expressions=arguments)
    if word not in AGGREGATES | SCALARS:
        return exp.Anonymous(this=name.text, expressions=arguments)
    try:
        call = _BUILDERS.get(word, _by_table)(word, arguments)
    except (ValueError, IndexError, TypeError):
        raise _wrong_arguments(name, arguments, cursor) from None
    # sqlglot gives up on some calls by leaving them anonymous; COUNT() it takes, Spark does not.
    if not arguments or isinstance(call, exp.Anonymous) or not isinstance(call, exp.Expression):
        raise _wrong_arguments(name, arguments, cursor)
    return call


def _operator(word: str, left: exp.Expression, right: exp.Expression) -> exp.Expression:
    """MOD(a, b) and DIV(a, b) as the operators that they are."""
    parts = [
        exp.Paren(this=each) if isinstance(each, exp.Binary) else each for each in (left, right)
    ]
    return exp.Paren(this=_OPERATORS[word](this=parts[0], expression=parts[1]))


def _by_table(name: str, arguments: list[exp.Expression]) -> exp.Expr:
    return exp.func(name, *arguments, copy=False, dialect="spark")


def _quantile(name: str, arguments: list[exp.Expression]) -> exp.Expr:
    """The quantile by sketch; sqlglot reads it outside its table."""
    if not 2 <= len(arguments) <= 3:
        raise ValueError(name)
    return exp.ApproxQuantile(
        **dict(zip(["this", "quantile", "accuracy"], arguments, strict=False))
    )


def _joined(name: str, arguments: list[exp.Expression]) -> exp.Expr:
    """Texts of all rows, one behind the other."""
    if len(arguments) == 1 and isinstance(arguments[0], exp.Distinct):
        value, *rest = arguments[0].expressions
        arguments = [exp.Distinct(expressions=[value]), *rest]
    if not 1 <= len(arguments) <= 2:
        raise ValueError(name)
    separator = arguments[1] if len(arguments) > 1 else exp.Literal.string("")
    return exp.GroupConcat(this=arguments[0], separator=separator)


_BUILDERS: dict[str, Callable[[str, list[exp.Expression]], exp.Expr]] = {
    "APPROX_PERCENTILE": _quantile,
    "PERCENTILE_APPROX": _quantile,
    "LISTAGG": _joined,
    "STRING_AGG": _joined,
}


def aggregate_classes() -> dict[type[exp.Expr], AggregateFunction]:
    """The aggregate that each class of sqlglot's nodes stands for."""
    return {_class_of(name, 1): function for name, function in SQL_NAMES.items()}


def _class_of(name: str, count: int) -> type[exp.Expr]:
    if name.endswith(("PERCENTILE", "PERCENTILE_APPROX")):
        count += 1  # a quantile has its rank, too
    arguments: list[exp.Expression] = [exp.column("x") for _ in range(count)]
    return type(_BUILDERS.get(name, _by_table)(name, arguments))


def _wrong_arguments(
    name: Token, arguments: list[exp.Expression], cursor: Cursor
) -> QuerySyntaxError:
    count = len(arguments)
    return cursor.wrong(
        "WS128",
        f"{name.upper} cannot be called with {count} argument{'' if count == 1 else 's'}",
        "give it the arguments that it has in Spark SQL",
        name,
    )
