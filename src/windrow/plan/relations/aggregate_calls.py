"""Calls of aggregates: which function with which arguments, DISTINCT and FILTER included."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from windrow.aggregate_functions import (
    AGGREGATE_FUNCTIONS,
    COUNT,
    NEAREST,
    AggregateFunction,
    Form,
    Takes,
)
from windrow.plan.aggregates import FUNCTIONS, RUNNING
from windrow.plan.cast_targets import can_cast
from windrow.plan.comparable import maps_compared
from windrow.plan.expressions import Call, Expr, Literal
from windrow.plan.relations.tree_calls import TreeCall, tree_arguments
from windrow.plan.scope import Scope
from windrow.plan.types import convert, is_null
from windrow.schema import BIGINT, BOOLEAN, DOUBLE, STRING, ColumnType
from windrow.sql.functions import AGGREGATES

__all__ = [
    "GROUPING",
    "PARTS_BEFORE_KEYS",
    "PLACED",
    "PLACED_FIRST",
    "PLACED_LAST",
    "RANKING",
    "BareCall",
    "bare_call",
    "function_name",
    "is_aggregate",
    "own_aggregates",
    "own_nodes",
]

# Of values that are collected: the value, what separates them, and the directions of the keys.
PARTS_BEFORE_KEYS = 3
# They have a value for each row, and need OVER.
RANKING = ("row_number", "rank", "dense_rank", "percent_rank", "cume_dist", "ntile")
PLACED_FIRST, PLACED_LAST = "first_value", "last_value"
PLACED = ("lag", "lead", PLACED_FIRST, PLACED_LAST, "nth_value")
GROUPING = ("grouping", "grouping_id")


@dataclass(frozen=True)
class BareCall:
    """An aggregate before it has a field: equal ones are computed once."""

    function: str
    arguments: tuple[Expr, ...]
    is_distinct: bool
    type: ColumnType


def function_name(node: exp.Expr) -> str:
    """The name of a call in lower case, however it is kept; '' for what is no call."""
    if isinstance(node, exp.Anonymous):
        return node.name.lower()
    return node.sql_name().lower() if isinstance(node, exp.Func) else ""


def is_aggregate(node: exp.Expr) -> bool:
    """Whether it is an aggregate: a value of all rows of a group."""
    if isinstance(node, (exp.Filter, exp.WithinGroup)):
        return True
    return isinstance(node, exp.AggFunc) and function_name(node) not in (
        *RANKING,
        *PLACED,
        *GROUPING,
    )


def own_aggregates(node: exp.Expr) -> Iterator[exp.Expr]:
    """The aggregates over groups in it: those with OVER are none, though they may have some."""
    return own_nodes(node, is_aggregate)


def own_nodes(node: exp.Expr, is_wanted: Callable[[exp.Expr], bool]) -> Iterator[exp.Expr]:
    """The outermost nodes that are wanted; the function before OVER itself is not looked at."""
    waiting = [node]
    while waiting:
        part = waiting.pop(0)
        if is_wanted(part):
            yield part
        elif isinstance(part, exp.Window):
            waiting = [*_inside_window(part), *waiting]
        else:
            waiting = [*part.iter_expressions(), *waiting]


def _inside_window(node: exp.Window) -> Iterator[exp.Expr]:
    for child in node.iter_expressions():
        called = child
        wrapped = (exp.Filter, exp.IgnoreNulls, exp.WithinGroup)
        while child is node.this and isinstance(called, wrapped):
            yield from (each for each in called.iter_expressions() if each is not called.this)
            called = called.this
        yield from called.iter_expressions() if child is node.this else (child,)


def bare_call(scope: Scope, node: exp.Expr, final: Callable[[Expr], Expr]) -> BareCall:
    """The call; scope: that of its arguments, which single rows or groups give."""
    condition = None
    if isinstance(node, exp.Filter):
        inner = node.expression
        written = inner.this if isinstance(inner, exp.Where) else inner
        condition = final(scope.condition(written, "FILTER"))
        node = node.this
    order: list[exp.Expr] = []
    if isinstance(node, exp.WithinGroup):
        order, node = node.expression.expressions, node.this
    function = FUNCTIONS.get(type(node))
    if function is None:
        raise _not_run(scope, node)
    return _Caller(scope, final, function, node, condition, order).call()


def _not_run(scope: Scope, node: exp.Expr) -> Exception:
    name = function_name(node).upper()
    if name not in AGGREGATES and not isinstance(node, exp.AggFunc):
        message = "FILTER belongs to an aggregate"
        return scope.wrong("WB240", message, node, hint="put the condition into CASE or WHERE")
    return scope.refused("WU205", f"the aggregate {name}", node, hint=RUNNING)


def _direction(key: exp.Expr) -> str:
    """Whether a key is descending, and has NULL first: as a letter."""
    is_descending, nulls_first = bool(key.args.get("desc")), bool(key.args.get("nulls_first"))
    return {(False, True): "a", (False, False): "b", (True, True): "c", (True, False): "d"}[
        is_descending, nulls_first
    ]


class _Caller:
    """One call being bound."""

    def __init__(
        self,
        scope: Scope,
        final: Callable[[Expr], Expr],
        function: AggregateFunction,
        node: exp.Expr,
        condition: Expr | None,
        order: Sequence[exp.Expr],
    ) -> None:
        self._scope = scope
        self._final = final
        self._function = function
        self._node = node
        self._condition = condition
        self._order = order

    def call(self) -> BareCall:
        """The call with its arguments."""
        node, function = self._node, self._function
        if function.form is Form.QUANTILE:
            return self._of_all_values()
        if function.form is Form.ABOUT_DISTINCT:
            # All values are there, so that the exact count costs no more.
            self._function = COUNT
            return self._distinct([node.this])
        if function.is_of_trees:
            return self._of_trees(function, node)
        if function.laws.is_collected:
            return self._collected()
        if node.this is None or node.expressions:
            name = function.sql_names[0]
            given = 0 if node.this is None else 1 + len(node.expressions)
            message = f"{name} takes 1 argument, but got {given}"
            raise self._scope.wrong("WB231", message, node, hint=f"write {name}(x)")
        if function.star is not None and isinstance(node.this, exp.Star):
            return self._of_rows(function.star)
        if isinstance(node.this, exp.Distinct):
            return self._distinct(node.this.expressions)
        argument = self._final(self._scope.bind(node.this))
        if function.star is not None and isinstance(argument, Literal) and not is_null(argument):
            return self._of_rows(function.star)
        return self._over((self._taken(argument, node.this),), is_distinct=False)

    def _of_all_values(self) -> BareCall:
        """A quantile that a sketch has elsewhere: here it is exact."""
        node = exp.Anonymous(expressions=[self._node.this, self._node.args["quantile"]])
        node.meta.update(self._node.meta)
        return self._of_trees(AGGREGATE_FUNCTIONS[NEAREST], node)

    def _of_trees(self, function: AggregateFunction, node: exp.Expr) -> BareCall:
        call = TreeCall(function, node, self._order, self._condition)

        def bound(part: exp.Expr) -> Expr:
            return self._final(self._scope.bind(part))

        arguments, kind = tree_arguments(self._scope, call, bound, self._taken)
        return BareCall(function.name, arguments, False, kind)

    def _collected(self) -> BareCall:
        """The value, what separates texts, the directions of the keys, and the keys."""
        node, keys = self._node, list[exp.Ordered]()
        value_node = node.this
        if isinstance(value_node, exp.Order):
            keys, value_node = value_node.expressions, value_node.this
        is_distinct = isinstance(value_node, exp.Distinct)
        if isinstance(value_node, exp.Distinct):
            value_node = value_node.expressions[0]
        is_set = is_distinct or self._function.only_different
        if value_node is None or (is_set and keys):
            name = self._function.sql_names[0]
            message = f"{name} of different values takes 1 argument, and no order"
            raise self._scope.wrong("WB231", message, node, hint=f"write {name}(x)")
        value = self._final(self._scope.bind(value_node))
        separator = self._separator()
        if self._function.type_of(value.type) == STRING:
            value = self._text(value, value_node)
        if is_set and not value.type.is_comparable:
            raise maps_compared(self._scope, self._function.sql_names[0], value_node)
        bound = [self._final(self._scope.bind(key.this)) for key in keys]
        letters = "".join(_direction(key) for key in keys)
        found = self._over((value,), is_distinct=is_set)
        extra = (separator, Literal(letters, STRING), *bound)
        return replace(found, arguments=(*found.arguments, *extra))

    def _separator(self) -> Literal:
        node = self._node.args.get("separator")
        bound = Literal("", STRING) if node is None else self._scope.bind(node)
        if not isinstance(bound, Literal) or bound.type != STRING:
            message = f"{self._function.sql_names[0]} takes a text in quotes between the values"
            raise self._scope.wrong("WB231", message, self._node, hint="write LISTAGG(x, ', ')")
        return Literal(bound.value or "", STRING)

    def _text(self, value: Expr, node: exp.Expr) -> Expr:
        if value.type == STRING or can_cast(value.type, STRING):
            return convert(value, STRING)
        message = f"{self._function.sql_names[0]} takes text, but this is {value.type}"
        raise self._scope.wrong("WB242", message, node, hint="COLLECT_LIST takes any type")

    def _of_rows(self, star: str) -> BareCall:
        if self._condition is None:
            return BareCall(star, (), False, BIGINT)
        return self._over((Literal(1, BIGINT),), is_distinct=False)

    def _distinct(self, nodes: list[exp.Expr]) -> BareCall:
        function = self._function
        if len(nodes) > 1 and function.distinct is None:
            name = function.sql_names[0]
            message = f"{name}(DISTINCT ...) takes 1 argument, but got {len(nodes)}"
            hint = f"write {name}(DISTINCT x); COUNT(DISTINCT a, b) accepts several"
            raise self._scope.wrong("WB231", message, self._node, hint=hint)
        bound = [self._taken(self._final(self._scope.bind(node)), node) for node in nodes]
        # The least of the different values is the least of all.
        return self._over(tuple(bound), is_distinct=not function.laws.is_idempotent)

    def _over(self, arguments: tuple[Expr, ...], *, is_distinct: bool) -> BareCall:
        kind = self._function.type_of(arguments[0].type)
        if self._condition is not None:
            first = arguments[0]
            chosen = (self._condition, first, Literal(None, first.type))
            arguments = (Call("case", chosen, first.type), *arguments[1:])
        return BareCall(self._function.name, arguments, is_distinct, kind)

    def _taken(self, argument: Expr, node: exp.Expr) -> Expr:
        """The argument in a type that the function takes."""
        takes = self._function.takes
        if takes is Takes.ANYTHING or (takes is Takes.ORDERED and not is_null(argument)):
            return argument
        if is_null(argument):
            kinds = {Takes.TRUTH: BOOLEAN, Takes.INTEGERS: BIGINT}
            argument = convert(argument, kinds.get(takes, DOUBLE))
        is_right = argument.type == BOOLEAN if takes is Takes.TRUTH else argument.type.is_numeric
        if takes is Takes.INTEGERS:
            is_right = argument.type.is_integer
        if not is_right:
            hint = "COUNT takes any type; text becomes a number with CAST(... AS DOUBLE)"
            raise self._scope.wrong(
                "WB242",
                f"{self._function.sql_names[0]} takes {takes.value}, but this is {argument.type}",
                node,
                hint="compare it with something, such as <> 0" if takes is Takes.TRUTH else hint,
            )
        return convert(argument, DOUBLE) if self._function.form is Form.SPREAD else argument
