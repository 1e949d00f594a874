"""Calls of the aggregates that only trees run: FIRST, MIN_BY, PERCENTILE, MODE and the like.

What such a call needs beside its value stands among its arguments, so that rules rewrite it with
them. Of FIRST and LAST: the value, TRUE in the rows that count, then the keys that order them. Of
MIN_BY and MAX_BY: the value, and what is compared. Of percentiles and MODE: the value, the fraction
and whether the order is descending. A row in which what is compared is NULL does not count.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp

from windrow.aggregate_functions import AggregateFunction, Form
from windrow.deferred import deferred
from windrow.plan.comparable import maps_compared
from windrow.plan.expressions import Call, Expr, Literal
from windrow.plan.scope import Scope
from windrow.plan.types import convert, is_null
from windrow.schema import BOOLEAN, DOUBLE, ColumnType

if TYPE_CHECKING:
    from windrow.plan.relations.algebra import Relation
    from windrow.plan.relations.reading import times_of
else:
    times_of = deferred("windrow.plan.relations.reading", "times_of")

__all__ = ["KEYS_OF_CHOSEN", "TreeCall", "row_order", "tree_arguments"]

# Of FIRST and LAST: where the keys begin among the arguments.
KEYS_OF_CHOSEN = 2
_TRUE = Literal(True, BOOLEAN)


@dataclass(frozen=True)
class TreeCall:
    """What is written: the function, its node, the keys of WITHIN GROUP, and FILTER."""

    function: AggregateFunction
    node: exp.Expr
    order: Sequence[exp.Expr]
    condition: Expr | None

    @property
    def name(self) -> str:
        """What the function is called."""
        return self.function.sql_names[0] if self.function.sql_names else "APPROX_PERCENTILE"


def tree_arguments(
    scope: Scope,
    call: TreeCall,
    bound: Callable[[exp.Expr], Expr],
    taken: Callable[[Expr, exp.Expr], Expr],
) -> tuple[tuple[Expr, ...], ColumnType]:
    """The arguments of a call, and the type of its value.

    bound: of a node. taken: an argument in a type that the function takes.
    """
    if any(isinstance(each, exp.Distinct) for each in call.node.expressions):
        what = f"{call.name}(DISTINCT ...)"
        hint = "select DISTINCT rows in a query in FROM"
        raise scope.refused("WU795", what, call.node, hint=hint)
    caller = _TreeCaller(scope, call, bound, taken)
    arguments = caller.arguments()
    return arguments, call.function.type_of(arguments[0].type)


def row_order(relation: Relation) -> tuple[Expr, ...]:
    """What FIRST and LAST are by: the times of the rows of streams, then whole rows."""
    times = times_of(relation)
    others = (field.ref for field in relation.fields if field.type.is_comparable)
    return (*times, *(ref for ref in others if ref not in times))


class _TreeCaller:
    """One call being bound."""

    def __init__(
        self,
        scope: Scope,
        call: TreeCall,
        bound: Callable[[exp.Expr], Expr],
        taken: Callable[[Expr, exp.Expr], Expr],
    ) -> None:
        self._scope, self._call, self._bound, self._taken = scope, call, bound, taken
        self._nodes = list(call.node.expressions)

    def arguments(self) -> tuple[Expr, ...]:
        """The arguments as the operator reads them."""
        forms: dict[Form, Callable[[], tuple[Expr, ...]]] = {
            Form.CHOSEN: self._chosen,
            Form.CHOSEN_BY: self._chosen_by,
            Form.RANKED: self._ranked,
            Form.MOST_FREQUENT: self._most_frequent,
            Form.PAIRED: self._paired,
            Form.COUNT: self._one_of_pair,
            Form.MEAN: self._one_of_pair,
            Form.MOMENT: self._one,
            Form.BITS: self._one,
            Form.SUM: self._one,
        }
        return forms[self._call.function.form]()

    def _chosen(self) -> tuple[Expr, ...]:
        self._check_count(1, 2, "x")
        value = self._ordered(self._nodes[0])
        tests = [] if self._call.condition is None else [self._call.condition]
        if len(self._nodes) > 1 and self._flag(self._nodes[1]):
            there = Call("is_null", (value,), BOOLEAN)
            tests.append(Call("not", (there,), BOOLEAN))
        needed: Expr = _TRUE
        for test in tests:
            needed = Call("case", (test, needed, Literal(None, BOOLEAN)), BOOLEAN)
        return value, needed

    def _chosen_by(self) -> tuple[Expr, ...]:
        self._check_count(2, 2, "x, y")
        value, compared = map(self._ordered, self._nodes)
        return value, self._where_true(compared)

    def _ranked(self) -> tuple[Expr, ...]:
        name = self._call.name
        if self._call.order:
            self._check_count(1, 1, "0.5", "(ORDER BY x)")
            value_node, is_descending = self._only_key()
            fraction = self._fraction(self._nodes[0])
        elif name == "MEDIAN":
            self._check_count(1, 1, "x")
            value_node, is_descending, fraction = self._nodes[0], False, 0.5
        else:
            self._check_count(2, 2, "x, 0.5")
            value_node, is_descending = self._nodes[0], False
            fraction = self._fraction(self._nodes[1])
        value = self._taken(self._ordered(value_node), value_node)
        return self._where_true(value), Literal(fraction, DOUBLE), Literal(is_descending, BOOLEAN)

    def _most_frequent(self) -> tuple[Expr, ...]:
        if self._call.order:
            self._check_count(0, 0, "", "(ORDER BY x)")
            node, is_descending = self._only_key()
        else:
            # Spark's second argument asks for what is so here anyway: the least of several.
            self._check_count(1, 2, "x")
            node, is_descending = self._nodes[0], False
        value = self._taken(self._ordered(node), node)
        return self._where_true(value), Literal(0.0, DOUBLE), Literal(is_descending, BOOLEAN)

    def _paired(self) -> tuple[Expr, ...]:
        """Both numbers, as doubles."""
        self._check_count(2, 2, "y, x")
        bound = (self._taken(_typed(self._bound(node)), node) for node in self._nodes)
        first, second = (convert(each, DOUBLE) for each in bound)
        return self._where_true(first), second

    def _one_of_pair(self) -> tuple[Expr, ...]:
        """One of two numbers, where the other is there."""
        value, other = self._paired()
        if self._call.function.formula == "x":
            value, other = other, value
        return (Call("first_of_pair", (value, other), DOUBLE),)

    def _one(self) -> tuple[Expr, ...]:
        self._check_count(1, 1, "x")
        value = self._taken(_typed(self._bound(self._nodes[0])), self._nodes[0])
        is_moment = self._call.function.form is Form.MOMENT
        return (self._where_true(convert(value, DOUBLE) if is_moment else value),)

    def _ordered(self, node: exp.Expr) -> Expr:
        """An argument that rows are ordered by, be it where others are equal."""
        value = self._bound(node)
        if not value.type.is_comparable:
            raise maps_compared(self._scope, self._call.name, node)
        return _typed(value)

    def _where_true(self, value: Expr) -> Expr:
        """The value, NULL in rows that FILTER leaves out."""
        if self._call.condition is None:
            return value
        chosen = (self._call.condition, value, Literal(None, value.type))
        return Call("case", chosen, value.type)

    def _check_count(self, least: int, most: int, shown: str, within: str = "") -> None:
        given = len(self._nodes)
        if least <= given <= most and bool(within) == bool(self._call.order):
            return
        name = self._call.name
        needs_order = name.startswith("PERCENTILE_")
        if needs_order and not within:
            message = f"{name} takes its values from WITHIN GROUP (ORDER BY x)"
            usage = f"{name}(0.5) WITHIN GROUP (ORDER BY x)"
        else:
            count = str(most) if least == most else f"{least} or {most}"
            message = f"{name} takes {count} argument{'' if most == 1 else 's'}, but got {given}"
            usage = f"{name}({shown})" + (f" WITHIN GROUP {within}" if within else "")
        raise self._scope.wrong("WB795", message, self._call.node, hint=f"write {usage}")

    def _only_key(self) -> tuple[exp.Expr, bool]:
        """What WITHIN GROUP orders by, and whether descending."""
        if len(self._call.order) != 1:
            message = f"WITHIN GROUP orders by 1 value, but got {len(self._call.order)}"
            hint = "write WITHIN GROUP (ORDER BY x)"
            raise self._scope.wrong("WB795", message, self._call.node, hint=hint)
        (key,) = self._call.order
        return key.this, bool(key.args.get("desc"))

    def _fraction(self, node: exp.Expr) -> float:
        bound = self._bound(node)
        value = bound.value if isinstance(bound, Literal) and bound.type.is_numeric else None
        if value is None or not 0.0 <= float(str(value)) <= 1.0:
            message = "a percentage is a number between 0 and 1, written out"
            raise self._scope.wrong("WB796", message, node, hint="write 0.95 for 95 %")
        return float(str(value))

    def _flag(self, node: exp.Expr) -> bool:
        bound = self._bound(node)
        if not isinstance(bound, Literal) or not isinstance(bound.value, bool):
            name = self._call.name
            message = f"the second argument of {name} says whether NULL is left out"
            raise self._scope.wrong("WB795", message, node, hint="write TRUE or FALSE")
        return bound.value


def _typed(value: Expr) -> Expr:
    """NULL as a number: it has no type by itself."""
    return convert(value, DOUBLE) if is_null(value) else value
