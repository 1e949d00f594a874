"""Operators and the forms of SQL that have words of their own: AND, IN, BETWEEN, CASE, LIKE, IS."""

from __future__ import annotations

from decimal import Decimal

from sqlglot import exp

from windrow.errors import BindingError, WindrowError
from windrow.plan.cast_targets import can_cast
from windrow.plan.comparable import maps_compared
from windrow.plan.expressions import Call, ColumnRef, Expr, GroupRef, Literal
from windrow.plan.literals import into
from windrow.plan.scope import Binder, Scope
from windrow.plan.time_arithmetic import is_of_time, negated_interval, time_arithmetic
from windrow.plan.types import (
    arithmetic,
    balanced,
    common_type,
    convert,
    digits_limit,
    fits,
    integer_type,
    is_null,
)
from windrow.schema import BIGINT, BOOLEAN, DOUBLE, ColumnType
from windrow.sql.nested_query import without_queries
from windrow.sql.words import print_name

__all__ = ["alike", "bind_alike", "bind_together", "operator_binders"]

_ARITHMETIC = {
    exp.Add: "+",
    exp.Sub: "-",
    exp.Mul: "*",
    exp.Div: "/",
    exp.Mod: "%",
    exp.IntDiv: "div",
}
_BITWISE: dict[type[exp.Expr], str] = {
    exp.BitwiseAnd: "&",
    exp.BitwiseOr: "|",
    exp.BitwiseXor: "^",
    exp.BitwiseNot: "~",
}
_COMPARISONS = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.NullSafeEQ: "is_same",
}


def bind_together(scope: Scope, what: str, nodes: list[exp.Expr]) -> list[Expr]:
    """The nodes bound and converted to the one type in which they can be compared."""
    bound = [scope.bind(node) for node in nodes]
    kind = _meeting(scope, what, nodes, bound)
    if not kind.is_comparable:
        raise maps_compared(scope, what, nodes[0])
    return _converted(scope, nodes, bound, kind)


def bind_alike(scope: Scope, what: str, nodes: list[exp.Expr]) -> list[Expr]:
    """The nodes bound and converted to one type that a value can have.

    A comparison may take more digits than a column holds; a value that is summed or grouped by may
    not, and is a DOUBLE beyond them, as with arithmetic.
    """
    return alike(scope, what, nodes, [scope.bind(node) for node in nodes])


def alike(scope: Scope, what: str, nodes: list[exp.Expr], bound: list[Expr]) -> list[Expr]:
    """The same of nodes that are bound already."""
    kind = _meeting(scope, what, nodes, bound)
    if kind.name == "DECIMAL" and kind.precision > digits_limit(*bound):
        kind = DOUBLE
    return _converted(scope, nodes, bound, kind)


def _meeting(scope: Scope, what: str, nodes: list[exp.Expr], bound: list[Expr]) -> ColumnType:
    kind = common_type(bound)
    if kind is None:
        raise _mismatch(scope, what, nodes, bound)
    return kind


def _converted(
    scope: Scope, nodes: list[exp.Expr], bound: list[Expr], kind: ColumnType
) -> list[Expr]:
    return [into(scope, node, part, kind) for node, part in zip(nodes, bound, strict=True)]


def _mismatch(scope: Scope, what: str, nodes: list[exp.Expr], bound: list[Expr]) -> BindingError:
    """Types that do not meet in one, and a CAST that would make them."""
    typed = [
        (node, part.type) for node, part in zip(nodes, bound, strict=True) if not is_null(part)
    ]
    named = " and ".join(str(kind) for kind in dict.fromkeys(kind for _, kind in typed))
    castable = (
        f"CAST({without_queries(node).sql('spark')} AS {target})"
        for node, kind in typed
        for _, target in typed
        if kind != target and can_cast(kind, target)
    )
    cast = next(castable, None)
    return scope.wrong(
        "WB220",
        f"{what} takes values of one type, but these are {named}",
        nodes[0],
        hint=f"convert one of them: {cast}" if cast else "no CAST makes them comparable",
    )


def _arithmetic(scope: Scope, node: exp.Binary) -> Expr:
    sides = (node.this, node.expression)
    function = _ARITHMETIC[type(node)]
    left, right = (scope.bind(side) for side in sides)
    if is_of_time(left) or is_of_time(right):
        return time_arithmetic(scope, node, function, left, right)
    for side, bound in zip(sides, (left, right), strict=True):
        _check_number(scope, side, bound, function.upper())
    return arithmetic(function, left, right)


def _check_number(scope: Scope, node: exp.Expr, bound: Expr, what: str) -> None:
    if not bound.type.is_numeric and not is_null(bound):
        raise scope.wrong(
            "WB221",
            f"{what} takes numbers, but this is {bound.type}",
            node,
            hint="convert it with CAST(... AS DOUBLE)",
        )


def _bitwise(scope: Scope, node: exp.Expr) -> Expr:
    function = _BITWISE[type(node)]
    nodes = [node.this] if function == "~" else [node.this, node.expression]
    bound = [scope.bind(each) for each in nodes]
    for each, part in zip(nodes, bound, strict=True):
        if not part.type.is_integer and not is_null(part):
            message = f"{function} takes integers, but this is {part.type}"
            raise scope.wrong("WB221", message, each, hint="convert it with CAST(... AS BIGINT)")
    if all(is_null(part) for part in bound):
        return Literal(None, BIGINT)
    found = alike(scope, function, nodes, bound)
    return Call(function, tuple(found), found[0].type)


def _negate(scope: Scope, node: exp.Neg) -> Expr:
    inner = node.this
    if isinstance(inner, exp.Literal) and inner.this == str(2**63):
        return Literal(-(2**63), BIGINT)
    bound = scope.bind(inner)
    if bound.type.is_interval and not is_null(bound):
        return negated_interval(bound)
    _check_number(scope, inner, bound, "-")
    if isinstance(bound, Literal) and isinstance(bound.value, (int, float, Decimal)):
        return _negated(scope, node, bound.value, bound.type)
    kind = BIGINT if bound.type.is_integer else bound.type
    kind = DOUBLE if kind.is_float or is_null(bound) else kind
    return Call("negate", (convert(bound, kind),), kind)


def _negated(
    scope: Scope, node: exp.Neg, value: int | float | Decimal, kind: ColumnType
) -> Literal:
    """The constant with its sign turned; -(-2147483648) is a BIGINT."""
    if not isinstance(value, int):
        return Literal(-value, kind)
    wide = kind if fits(-value, kind) else integer_type(-value)
    if wide is None:
        raise scope.wrong(
            "WB225", f"{-value} does not fit a BIGINT", node, hint="write it as a DOUBLE: 1e19"
        )
    return Literal(-value, wide)


def _comparison(scope: Scope, node: exp.Binary) -> Expr:
    function = _COMPARISONS[type(node)]
    written = "<=>" if function == "is_same" else function
    _refuse_quoted_name(scope, [node.this, node.expression])
    left, right = bind_together(scope, written, [node.this, node.expression])
    return Call(function, (left, right), BOOLEAN)


def _refuse_quoted_name(scope: Scope, nodes: list[exp.Expr]) -> None:
    """Says what "k" = 'a' means where a column k was meant: two texts are compared."""
    if not all(isinstance(node.unnest(), exp.Literal) for node in nodes):
        return
    for node in nodes:
        name = node.unnest().this
        if node.unnest().meta.get("double_quotes") and _is_column(scope, name):
            raise scope.wrong(
                "WB734",
                f'"{name}" in double quotes is a text, not the column {name}, as in Spark',
                node,
                hint=f'write {print_name(name)}; or connect(double_quotes="name"), in a script '
                "SET double_quotes = 'name', under which double quotes hold names",
            )


def _is_column(scope: Scope, name: str) -> bool:
    try:
        return isinstance(scope.bind(exp.column(name)), ColumnRef | GroupRef)
    except WindrowError:
        return False


def _is_distinct(scope: Scope, node: exp.Binary) -> Expr:
    sides = bind_together(scope, "IS DISTINCT FROM", [node.this, node.expression])
    return Call("not", (Call("is_same", tuple(sides), BOOLEAN),), BOOLEAN)


def _connective(scope: Scope, node: exp.Connector) -> Expr:
    word = "and" if isinstance(node, exp.And) else "or"
    parts = [scope.condition(part, word.upper()) for part in _operands(node, type(node))]
    return balanced(word, parts, BOOLEAN)


def _operands(node: exp.Expr, kind: type[exp.Expr]) -> list[exp.Expr]:
    """The operands of a chain such as a AND b AND c, in text order, however deep it hangs."""
    found: list[exp.Expr] = []
    waiting = [node]
    while waiting:
        part = waiting.pop()
        if isinstance(part, kind):
            waiting += [part.expression, part.this]
        else:
            found.append(part)
    return found


def _not(scope: Scope, node: exp.Not) -> Expr:
    return Call("not", (scope.condition(node.this, "NOT"),), BOOLEAN)


def _maybe_not(node: exp.Expr, bound: Expr) -> Expr:
    return Call("not", (bound,), BOOLEAN) if node.args.get("negate") else bound


def _is(scope: Scope, node: exp.Is) -> Expr:
    if isinstance(node.expression, exp.Boolean):
        value = scope.condition(node.this, "IS TRUE or IS FALSE")
        return _maybe_not(node, Call("is_same", (value, scope.bind(node.expression)), BOOLEAN))
    return _maybe_not(node, Call("is_null", (scope.bind(node.this),), BOOLEAN))


def _in(scope: Scope, node: exp.In) -> Expr:
    if node.args.get("query") is not None or not node.expressions:
        raise scope.refused("WU207", "IN with a sub-query", node, hint="list the values")
    bound = bind_together(scope, "IN", [node.this, *node.expressions])
    value, among = bound[0], bound[1:]
    constants = [each for each in among if isinstance(each, Literal)]
    others = [each for each in among if not isinstance(each, Literal)]
    parts: list[Expr] = [Call("=", (value, other), BOOLEAN) for other in others]
    if constants:
        parts.insert(0, Call("in", (value, *constants), BOOLEAN))
    return _maybe_not(node, balanced("or", parts, BOOLEAN))


def _between(scope: Scope, node: exp.Between) -> Expr:
    low = bind_together(scope, "BETWEEN", [node.this, node.args["low"]])
    high = bind_together(scope, "BETWEEN", [node.this, node.args["high"]])
    parts = (Call(">=", tuple(low), BOOLEAN), Call("<=", tuple(high), BOOLEAN))
    return _maybe_not(node, Call("and", parts, BOOLEAN))


def _case(scope: Scope, node: exp.Case) -> Expr:
    branches = node.args["ifs"]
    default = node.args.get("default") or exp.Null()
    values = bind_alike(scope, "CASE", [*(branch.args["true"] for branch in branches), default])
    arguments: list[Expr] = []
    for branch, value in zip(branches, values[:-1], strict=True):
        arguments += [_when(scope, node, branch), value]
    return Call("case", (*arguments, values[-1]), values[-1].type)


def _when(scope: Scope, node: exp.Case, branch: exp.If) -> Expr:
    if node.this is None:
        return scope.condition(branch.this, "WHEN")
    return Call("=", tuple(bind_together(scope, "CASE", [node.this, branch.this])), BOOLEAN)


def _if(scope: Scope, node: exp.If) -> Expr:
    otherwise = node.args.get("false") or exp.Null()
    values = bind_alike(scope, "IF", [node.args["true"], otherwise])
    return Call("case", (scope.condition(node.this, "IF"), *values), values[0].type)


def _like(scope: Scope, node: exp.Expr) -> Expr:
    """LIKE and ILIKE, with ESCAPE; RLIKE is the function."""
    escape = [node.expression] if isinstance(node, exp.Escape) else []
    like = node.this if escape else node
    name = "ILIKE" if isinstance(like, exp.ILike) else "LIKE"
    name = "REGEXP_LIKE" if isinstance(like, exp.RegexpLike) else name
    arguments = [like.this, like.expression, *escape]
    return _maybe_not(like, scope.bind(exp.Anonymous(this=name, expressions=arguments)))


def _paren(scope: Scope, node: exp.Paren) -> Expr:
    return scope.bind(node.this)


operator_binders: dict[type[exp.Expr], Binder] = {
    **dict.fromkeys(_ARITHMETIC, _arithmetic),
    **dict.fromkeys(_COMPARISONS, _comparison),
    **dict.fromkeys(_BITWISE, _bitwise),
    exp.NullSafeNEQ: _is_distinct,
    exp.And: _connective,
    exp.Or: _connective,
    exp.Not: _not,
    exp.Neg: _negate,
    exp.Is: _is,
    exp.In: _in,
    exp.Between: _between,
    exp.Case: _case,
    exp.If: _if,
    **dict.fromkeys([exp.Like, exp.ILike, exp.RegexpLike, exp.Escape], _like),
    exp.Paren: _paren,
}
