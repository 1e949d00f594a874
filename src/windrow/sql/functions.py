"""Function calls as sqlglot's nodes, for the functions that WQL knows."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from windrow.aggregate_functions import SQL_NAMES, AggregateFunction, Form
from windrow.errors import QuerySyntaxError
from windrow.scalar_functions import SCALAR_NAMES
from windrow.sql.cursor import Cursor
from windrow.sql.tokens import Token

__all__ = [
    "AGGREGATES",
    "IGNORES_NULLS",
    "SCALARS",
    "WINDOW_FUNCTIONS",
    "WITHIN_GROUP",
    "aggregate_classes",
    "build_call",
    "without_over",
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
    if isinstance(call, exp.Anonymous) or not isinstance(call, exp.Expression):
        raise _wrong_arguments(name, arguments, cursor)
    if not (arguments or isinstance(call, WITHIN_GROUP)):
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


def _of_trees(name: str, arguments: list[exp.Expression]) -> exp.Expr:
    """An aggregate that only trees run: its arguments are one list."""
    if name.endswith("_BY_OFFSET") and len(arguments) == 1:
        arguments = [*arguments, exp.true()]  # ksqlDB leaves NULL out unless told otherwise
    return _CLASSES[SQL_NAMES[name].name](expressions=arguments)


def _by_first_name(name: str, arguments: list[exp.Expression]) -> exp.Expr:
    return _by_table(SQL_NAMES[name].sql_names[0], arguments)


def _class_of_trees(function: AggregateFunction) -> type[exp.Expression]:
    """A class of nodes for the aggregate; sqlglot's own would lose or move arguments."""
    name = "".join(word.capitalize() for word in function.name.split("_"))
    members = {
        "arg_types": {"expressions": False},
        "is_var_len_args": True,
        "_sql_names": [function.sql_names[0]],
    }
    return type(name, (exp.Expression, exp.AggFunc), members)


_CLASSES = {each.name: _class_of_trees(each) for each in SQL_NAMES.values() if each.is_of_trees}


def _classes_of(*forms: Form) -> tuple[type[exp.Expression], ...]:
    return tuple(
        _CLASSES[each.name]
        for each in SQL_NAMES.values()
        if each.is_of_trees and each.form in forms
    )


# Calls that may have WITHIN GROUP (ORDER BY x), and those that may have IGNORE NULLS.
WITHIN_GROUP = _classes_of(Form.RANKED, Form.MOST_FREQUENT)
IGNORES_NULLS = _classes_of(Form.CHOSEN)


def without_over(call: exp.Expression) -> exp.Expression:
    """FIRST_VALUE and LAST_VALUE as the aggregates that they are where no OVER follows."""
    if isinstance(call, exp.Filter):
        call.set("this", without_over(call.this))
    if not isinstance(call, exp.Anonymous) or call.name not in SQL_NAMES:
        return call
    found = _of_trees(call.name, call.expressions)
    found.meta.update(call.meta)
    assert isinstance(found, exp.Expression)
    return found


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
    **{name: _by_first_name for each in SQL_NAMES.values() for name in each.synonyms},
    **{name: _of_trees for name, each in SQL_NAMES.items() if each.is_of_trees},
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
