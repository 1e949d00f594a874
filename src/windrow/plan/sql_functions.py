"""Functions whose body is SQL: bound once, and put in place of each call.

The parameters are Variables of the body. A call puts its arguments there, so that plans have no
such functions: everything that reads a plan, on Spark too, sees what the body says.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from windrow.plan.cast_targets import can_cast
from windrow.plan.expressions import Call, Expr, Variable, walk
from windrow.plan.literals import into
from windrow.plan.scope import Scope
from windrow.plan.types import convert, is_null
from windrow.schema import ColumnType, type_named
from windrow.sql.nested_query import NestedQuery
from windrow.sql.statements import CreateFunction

__all__ = ["SIZE_LIMIT", "SqlFunction", "bind_sql_call", "can_become", "sql_function"]

SIZE_LIMIT = 10_000  # operators and operands of one call: f(f(f(...))) can double with each level

ScopeOf = Callable[[str, Callable[[exp.Expr], Expr | None]], Scope]


@dataclass(frozen=True)
class SqlFunction:
    """parameters: the variables of `body`, in the order of the arguments. line: of its text."""

    name: str
    parameters: tuple[Variable, ...]
    returns: ColumnType
    body: Expr
    line: int = 0

    @property
    def signature(self) -> str:
        """How it is called, for people."""
        shown = [f"{each.name.rpartition('.')[2]} {each.type}" for each in self.parameters]
        return f"{self.name}({', '.join(shown)}) RETURNS {self.returns}"


def sql_function(statement: CreateFunction, scope_of: ScopeOf) -> SqlFunction:
    """The function that a statement defines, its body bound."""
    body, name = statement.body, statement.name.lower()
    assert body is not None
    assert statement.parameters is not None
    variables = {
        each.lower(): Variable(f"{name}.{each.lower()}", type_named(kind))
        for each, kind in statement.parameters
    }

    def resolve(node: exp.Expr) -> Expr | None:
        if not isinstance(node, exp.Column):
            return None
        if node.table.lower() in variables:
            column = exp.Column(this=node.args["table"].copy())
            return scope.bind(exp.Dot(this=column, expression=node.this.copy()))
        return None if node.table else variables.get(node.name.lower())

    scope = scope_of(statement.text, resolve)
    scope.owner = name
    _refuse_beyond_scalars(scope, statement, body)
    returns = type_named(statement.returns)
    bound = scope.bind(body)
    if not can_become(bound, returns):
        message = f"the body of {statement.name} is {bound.type}, which is no {returns}"
        raise scope.wrong("WB758", message, body, hint=f"write RETURNS {bound.type}")
    bound = into(scope, body, bound, returns)
    line = 0 if statement.place is None else statement.place.line
    return SqlFunction(name, tuple(variables.values()), returns, bound, line)


def _refuse_beyond_scalars(scope: Scope, statement: CreateFunction, body: exp.Expr) -> None:
    columns = {name.lower() for name, _ in statement.parameters or ()}
    lambdas = {part.name.lower() for each in body.find_all(exp.Lambda) for part in each.expressions}
    for node in body.walk():
        if isinstance(node, exp.AggFunc | exp.Window | NestedQuery):
            kind = "a query" if isinstance(node, NestedQuery) else "an aggregate"
            hint = "a body is computed from the parameters of one row: aggregate its result instead"
            raise scope.wrong("WB759", f"the body of a function has {kind}", node, hint=hint)
        if isinstance(node, exp.Column):
            name = node.table or node.name
            if name.lower() not in columns | lambdas:
                known = ", ".join(sorted(columns)) or "none"
                raise scope.wrong(
                    "WB759",
                    f"{name!r} is no parameter of {statement.name}",
                    node,
                    hint=f"a body reads its parameters and nothing else; they are: {known}",
                )


def bind_sql_call(
    function: SqlFunction, arguments: Sequence[Expr], wrong: Callable[[str, str], Exception]
) -> Expr:
    """What the body says of the arguments; wrong: the error at the call."""
    given = f"it was given as {function.signature}"
    if function.line:
        given += f" in line {function.line}"
    if len(arguments) != len(function.parameters):
        message = f"{function.name.upper()} takes {len(function.parameters)} arguments"
        raise wrong(f"{message}, but got {len(arguments)}", given)
    values: dict[str, Expr] = {}
    for place, (variable, part) in enumerate(zip(function.parameters, arguments, strict=True)):
        if not can_become(part, variable.type):
            message = f"argument {place + 1} of {function.name.upper()} cannot be {part.type}"
            raise wrong(message, given)
        values[variable.name] = convert(part, variable.type)
    if _size(function.body, {name: _size(part, {}) for name, part in values.items()}) > SIZE_LIMIT:
        message = f"{function.name.upper()} of this has more than {SIZE_LIMIT:,} operators"
        raise wrong(message, f"compute its arguments in a sub-query; {given}")
    return _substituted(function.body, values)


def can_become(expression: Expr, kind: ColumnType) -> bool:
    """Whether an argument or a body can be converted to the type that was declared."""
    if expression.type == kind or is_null(expression):
        return True
    return can_cast(expression.type, kind)


def _size(expression: Expr, sizes: Mapping[str, int]) -> int:
    return sum(
        sizes.get(part.name, 1) if isinstance(part, Variable) else 1 for part in walk(expression)
    )


def _substituted(expression: Expr, values: Mapping[str, Expr]) -> Expr:
    if isinstance(expression, Variable):
        return values.get(expression.name, expression)
    if isinstance(expression, Call):
        parts = tuple(_substituted(part, values) for part in expression.arguments)
        return replace(expression, arguments=parts)
    return expression
