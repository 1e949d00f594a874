"""Calls of scalar functions: their arguments converted, their types by the rules of their entries.

Only a function of windrow.scalar_functions can be called; another name ends in an error that names
the nearest one. Every call is read as one kind of node, by name: see sql/functions.py.
"""

from __future__ import annotations

from sqlglot import exp

from windrow.aggregate_functions import SQL_NAMES
from windrow.plan.argument_kinds import bind_by_kinds
from windrow.plan.expressions import Expr
from windrow.plan.function_forms import FORMS
from windrow.plan.nearest import nearest
from windrow.plan.scope import Scope
from windrow.plan.sql_functions import SqlFunction, bind_sql_call
from windrow.plan.user_functions import bind_user_call, user_functions
from windrow.scalar_functions import (
    MANY,
    SCALAR_FUNCTIONS,
    SCALAR_NAMES,
    ScalarFunction,
)
from windrow.sql.elsewhere import FUNCTIONS
from windrow.sql.nested_query import without_queries

__all__ = ["bind_function"]

Nodes = list[exp.Expr]


def bind_function(scope: Scope, node: exp.Expr) -> Expr:
    """A call of a named function."""
    name = _name(node)
    function = SCALAR_NAMES.get(name)
    given = user_functions().get(name)
    if given is not None:
        bound = [scope.bind(part) for part in _arguments(node)]

        def wrong(message: str, hint: str) -> Exception:
            return scope.wrong("WB756", message, node, hint=hint)

        if isinstance(given, SqlFunction):
            return bind_sql_call(given, bound, wrong)
        return bind_user_call(given, bound, wrong)
    if function is None:
        raise _unknown(scope, node, name)
    arguments = _arguments(node)
    if not function.least <= len(arguments) <= function.most:
        raise scope.wrong(
            "WB231",
            f"{name.upper()} takes {_counted(function)}, but got {len(arguments)}",
            node,
            hint="give it the arguments that it has in Spark SQL",
        )
    form = FORMS.get(function.name)
    return form(scope, function, arguments) if form else bind_by_kinds(scope, function, arguments)


def _name(node: exp.Expr) -> str:
    if isinstance(node, exp.DPipe):  # two texts are joined by || too
        return "concat"
    if isinstance(node, exp.Anonymous):
        return node.name.lower()
    return node.sql_name().lower() if isinstance(node, exp.Func) else node.key


def _arguments(node: exp.Expr) -> Nodes:
    found: Nodes = []
    for name in node.arg_types:
        value = node.args.get(name)
        if isinstance(value, list):
            found += [part for part in value if isinstance(part, exp.Expr)]
        elif isinstance(value, exp.Expr):
            found.append(value)
    return found


def _unknown(scope: Scope, node: exp.Expr, name: str) -> Exception:
    if not isinstance(node, exp.Func):
        form = f"the form {without_queries(node).sql('spark')!r}"
        return scope.refused("WU221", form, node, hint="write it with supported operators")
    if name in FUNCTIONS:
        return scope.wrong("WB230", f"there is no function {name!r}", node, hint=FUNCTIONS[name])
    names = [*SCALAR_FUNCTIONS, *(name.lower() for name in SQL_NAMES), "cast", *user_functions()]
    guess = nearest(name, names)
    listed = f"the functions are {', '.join(sorted(names))}"
    return scope.wrong(
        "WB230",
        f"there is no function {name!r}",
        node,
        hint=f"did you mean {guess}? {listed}" if guess else listed,
    )


def _counted(function: ScalarFunction) -> str:
    least, most = function.least, function.most
    if least == most:
        return f"{least} argument{'' if least == 1 else 's'}"
    if most >= MANY:
        return f"{least} arguments or more"
    return f"{least} {'or' if most == least + 1 else 'to'} {most} arguments"
