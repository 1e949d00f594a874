"""Functions by name: the allow-list, their arguments and their types.

Only a function of the table below can be called; a name that is not in it ends in an error that
names the nearest one. CEIL and FLOOR give BIGINT, as in Spark; LENGTH gives INT.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlglot import exp

from windrow.aggregate_functions import SQL_NAMES, running_names
from windrow.plan.expressions import Call, Expr, Literal
from windrow.plan.nearest import nearest
from windrow.plan.operators import bind_alike
from windrow.plan.scope import Scope
from windrow.plan.types import convert, fits, is_null
from windrow.schema import BIGINT, DOUBLE, INT, STRING, ColumnType, decimal
from windrow.sql.elsewhere import FUNCTIONS

__all__ = ["bind_function", "function_classes"]

Nodes = list[exp.Expr]


@dataclass(frozen=True)
class Rule:
    """How a function is bound, and how many arguments it takes."""

    bind: Callable[[Scope, str, Nodes], Expr]
    least: int
    most: int


def bind_function(scope: Scope, node: exp.Expr) -> Expr:
    """A call of a named function."""
    name = _name(node)
    rule = _RULES.get(name)
    if rule is None:
        raise _unknown(scope, node, name)
    arguments = _arguments(node)
    if not rule.least <= len(arguments) <= rule.most:
        raise scope.wrong(
            "WB231",
            f"{name.upper()} takes {_counted(rule)}, but here are {len(arguments)}",
            node,
            hint="give it the arguments that it has in Spark SQL",
        )
    return rule.bind(scope, name, arguments)


def _name(node: exp.Expr) -> str:
    if type(node) in function_classes:
        return function_classes[type(node)]
    if isinstance(node, exp.Anonymous):
        return _ALIASES.get(node.name.lower(), node.name.lower())
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
    if not isinstance(node, exp.Func) or isinstance(node, exp.RegexpLike):
        # RLIKE is an operator to whoever wrote it, and a function to sqlglot.
        form = f"the form {node.sql('spark')!r}"
        return scope.refused("WU221", form, node, hint=_OTHER_FORMS.get(type(node), _NO_FORM))
    if name in _OTHER_AGGREGATES:
        hint = f"{_RUNNING_AGGREGATES} run"
        return scope.refused("WU205", f"the aggregate {name.upper()}", node, hint)
    if name in FUNCTIONS:
        return scope.wrong("WB230", f"there is no function {name!r}", node, hint=FUNCTIONS[name])
    names = [*_RULES, *(name.lower() for name in SQL_NAMES), "cast", "if"]
    guess = nearest(name, names)
    listed = f"the functions are {', '.join(sorted(names))}"
    return scope.wrong(
        "WB230",
        f"there is no function {name!r}",
        node,
        hint=f"did you mean {guess}? {listed}" if guess else listed,
    )


def _counted(rule: Rule) -> str:
    if rule.least == rule.most:
        return f"{rule.least} argument{'' if rule.least == 1 else 's'}"
    return f"{rule.least} or {rule.most} arguments" if rule.most < _MANY else "2 arguments or more"


def _need(scope: Scope, name: str, node: exp.Expr, *, text: bool = False) -> Expr:
    bound = scope.bind(node)
    right = bound.type == STRING if text else bound.type.is_numeric
    if not right and not is_null(bound):
        wanted = "text" if text else "numbers"
        raise scope.wrong(
            "WB221",
            f"{name.upper()} takes {wanted}, but this is {bound.type}",
            node,
            hint=f"convert it with CAST(... AS {'STRING' if text else 'DOUBLE'})",
        )
    return bound if not is_null(bound) else Literal(None, STRING if text else DOUBLE)


def _constant_integer(scope: Scope, name: str, node: exp.Expr) -> Literal:
    bound = scope.bind(node)
    value = bound.value if isinstance(bound, Literal) and bound.type.is_integer else None
    if not isinstance(value, int) or not fits(value, INT):
        raise scope.wrong(
            "WB232", f"{name.upper()} takes a written integer here", node, hint="such as 2"
        )
    return Literal(value, INT)


def _doubles(scope: Scope, name: str, nodes: Nodes) -> Expr:
    arguments = [convert(_need(scope, name, node), DOUBLE) for node in nodes]
    return Call(name, tuple(arguments), DOUBLE)


def _absolute(scope: Scope, name: str, nodes: Nodes) -> Expr:
    argument = _need(scope, name, nodes[0])
    kind = argument.type if argument.type.name == "DECIMAL" else DOUBLE
    kind = BIGINT if argument.type.is_integer else kind
    return Call(name, (convert(argument, kind),), kind)


def _whole(scope: Scope, name: str, nodes: Nodes) -> Expr:
    argument = _need(scope, name, nodes[0])
    if argument.type.is_integer:
        return convert(argument, BIGINT)
    kind = DOUBLE if argument.type.is_float else argument.type
    return Call(name, (convert(argument, kind),), BIGINT)


def _round(scope: Scope, name: str, nodes: Nodes) -> Expr:
    argument = _need(scope, name, nodes[0])
    digits = _constant_integer(scope, name, nodes[1]) if len(nodes) > 1 else Literal(0, INT)
    kind = DOUBLE if argument.type.is_float else argument.type
    kind = BIGINT if argument.type.is_integer else kind
    places = int(str(digits.value))
    result = _rounded(kind, places) if kind.name == "DECIMAL" else kind
    return Call(name, (convert(argument, kind), digits), result)


def _rounded(kind: ColumnType, places: int) -> ColumnType:
    if places >= kind.scale:
        return kind
    # Rounding up may carry into a digit more; the places dropped make room for it.
    scale = max(places, 0)
    return decimal(kind.precision - kind.scale + scale + 1, scale)


def _alike(scope: Scope, name: str, nodes: Nodes) -> Expr:
    arguments = bind_alike(scope, name.upper(), nodes)
    return Call(name, tuple(arguments), arguments[0].type)


def _texts(scope: Scope, name: str, nodes: Nodes) -> Expr:
    arguments = [_need(scope, name, node, text=True) for node in nodes]
    return Call(name, tuple(arguments), INT if name == "length" else STRING)


def _substring(scope: Scope, name: str, nodes: Nodes) -> Expr:
    text = _need(scope, name, nodes[0], text=True)
    bounds = [_constant_integer(scope, name, node) for node in nodes[1:]]
    return Call(name, (text, *bounds), STRING)


_MANY = 10_000
_RUNNING_AGGREGATES = running_names(lambda each: not each.laws.in_sketch)
# Aggregates that sqlglot has no class for: refused as such, not as functions that nobody knows.
_OTHER_AGGREGATES = frozenset(
    [
        *("percentile", "median", "mean", "mode", "std", "any_value", "first", "last"),
    ]
)
_NO_FORM = "write it with operators that run"
_OTHER_FORMS: dict[type[exp.Expr], str] = {
    exp.ILike: "write LOWER(x) LIKE a pattern in small letters",
    exp.RegexpLike: "there are no regular expressions: write LIKE, with % for any text",
}
_RULES = {
    **dict.fromkeys(["sqrt", "exp", "ln"], Rule(_doubles, 1, 1)),
    **dict.fromkeys(["ceil", "floor"], Rule(_whole, 1, 1)),
    **dict.fromkeys(["lower", "upper", "length", "trim"], Rule(_texts, 1, 1)),
    **dict.fromkeys(["least", "greatest"], Rule(_alike, 2, _MANY)),
    "abs": Rule(_absolute, 1, 1),
    "power": Rule(_doubles, 2, 2),
    "round": Rule(_round, 1, 2),
    "coalesce": Rule(_alike, 1, _MANY),
    "nullif": Rule(_alike, 2, 2),
    "concat": Rule(_texts, 1, _MANY),
    "substring": Rule(_substring, 2, 3),
}
_ALIASES = {
    "ceiling": "ceil",
    "pow": "power",
    "nvl": "coalesce",
    "ifnull": "coalesce",
    "substr": "substring",
    "lcase": "lower",
    "ucase": "upper",
    "char_length": "length",
    "character_length": "length",
    "len": "length",
}
function_classes: dict[type[exp.Expr], str] = {
    exp.Abs: "abs",
    exp.Ceil: "ceil",
    exp.Floor: "floor",
    exp.Round: "round",
    exp.Sqrt: "sqrt",
    exp.Exp: "exp",
    exp.Ln: "ln",
    exp.Pow: "power",
    exp.Least: "least",
    exp.Greatest: "greatest",
    exp.Coalesce: "coalesce",
    exp.Nullif: "nullif",
    exp.Lower: "lower",
    exp.Upper: "upper",
    exp.Length: "length",
    exp.Concat: "concat",
    exp.DPipe: "concat",
    exp.Substring: "substring",
    exp.Trim: "trim",
}
