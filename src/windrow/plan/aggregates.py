"""Aggregates, and the scope of groups in which the select list and HAVING stand.

What an aggregate accepts and returns is in its entry in windrow.aggregate_functions. Equal
aggregates are computed once.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from windrow.aggregate_functions import (
    AGGREGATE_FUNCTIONS,
    AggregateFunction,
    Form,
    Takes,
    running_names,
)
from windrow.errors import WindrowError
from windrow.plan.digits import check_words
from windrow.plan.expressions import AggregateRef, Expr, GroupRef, Literal, inputs_of
from windrow.plan.model import Aggregate
from windrow.plan.names import Names
from windrow.plan.nested_access import written_as_field
from windrow.plan.rows import row_scope
from windrow.plan.scalars import scope_of
from windrow.plan.scope import Scope
from windrow.plan.types import convert, is_null
from windrow.schema import BIGINT, BOOLEAN, DOUBLE, STRING
from windrow.sql.functions import aggregate_classes

__all__ = ["FUNCTIONS", "IDEMPOTENT", "RUNNING", "Groups"]

FUNCTIONS = aggregate_classes()
# What stands in hints: the aggregates that run.
RUNNING = f"{running_names(lambda each: not each.laws.in_sketch)} are supported"
_IN_BLOCKS = f"{running_names(lambda each: each.is_of_blocks)} are supported"
IDEMPOTENT = running_names(lambda each: each.laws.is_idempotent)


class Groups:
    """Binds what stands above the groups, and collects the aggregates that it needs."""

    def __init__(self, names: Names, group_by: tuple[Expr, ...]) -> None:
        self.aggregates: list[Aggregate] = []
        self._names = names
        self._group_by = group_by
        self._row = row_scope(names, "a group")
        self._argument = row_scope(names, "an aggregate")

    def scope(self, aliases: Mapping[str, exp.Expr] | None = None) -> Scope:
        """A scope of groups and aggregates, and then of names of the select list."""
        plain = scope_of(self._names.text, self._resolve)
        if not aliases:
            return plain

        def resolve(node: exp.Expr) -> Expr | None:
            if not isinstance(node, exp.Column) or node.table:
                return self._resolve(node)
            written = aliases.get(node.name.lower())
            if written is not None and not self._names.find(node):
                return plain.bind(written)
            return self._resolve(node, shadowed=written is not None)

        return scope_of(self._names.text, resolve)

    def _resolve(self, node: exp.Expr, *, shadowed: bool = False) -> Expr | None:
        if isinstance(node, exp.AggFunc):
            return self._aggregate(node)
        index = self._group_index(node)
        if index is not None:
            return GroupRef(index, self._group_by[index].type)
        if isinstance(node, exp.Column) and not isinstance(node.this, exp.Star):
            if self._names.is_field(node):
                return self.scope().bind(written_as_field(node))
            raise self._ungrouped(node, shadowed)
        return None

    def _group_index(self, node: exp.Expr) -> int | None:
        if not self._group_by or node.find(exp.AggFunc) is not None:
            return None
        try:
            bound = self._row.bind(node)
        except WindrowError:
            return None  # binding its parts raises the same error, at the place of the part
        return self._group_by.index(bound) if bound in self._group_by else None

    def _ungrouped(self, node: exp.Column, shadowed: bool) -> Exception:
        column = self._names.resolve(node)
        hint = "add it to GROUP BY, or put it into an aggregate such as MAX or COUNT"
        if shadowed:
            hint = (
                "a column takes precedence over an item of that name: repeat the item, or rename it"
            )
        return self._row.wrong(
            "WB243",
            f"column {column.column!r} is neither grouped nor aggregated",
            node,
            hint=hint,
        )

    def _aggregate(self, node: exp.AggFunc) -> AggregateRef:
        found = self._bound(node)
        if found not in self.aggregates:
            self.aggregates.append(found)
        return AggregateRef(self.aggregates.index(found), found.type)

    def _bound(self, node: exp.AggFunc) -> Aggregate:
        function = FUNCTIONS.get(type(node))
        if function is None or not function.is_of_blocks:
            raise self._not_run(node, function)
        if node.this is None or node.expressions:
            name = function.sql_names[0]
            given = 0 if node.this is None else 1 + len(node.expressions)
            message = f"{name} takes 1 argument, but got {given}"
            raise self._row.wrong("WB231", message, node, hint=f"write {name}(x)")
        if function.star is not None and isinstance(node.this, exp.Star):
            return _of_rows(function.star)
        if isinstance(node.this, exp.Distinct):
            return self._over_distinct(function, node, node.this)
        return self._over(function, node.this)

    def _not_run(self, node: exp.AggFunc, function: AggregateFunction | None) -> Exception:
        what, hint = f"the aggregate {node.sql_name()}", _IN_BLOCKS
        if function is not None and (function.is_of_trees or function.laws.is_collected):
            what = f"{function.sql_names[0]} in a single block"
        elif function is not None:
            what = f"{function.sql_names[0]} over a window"
            hint = f"{_IN_BLOCKS}; this one is supported FROM HISTORY(...), where a sketch is kept"
        return self._row.refused("WU205", what, node, hint=hint)

    def _over_distinct(
        self, function: AggregateFunction, node: exp.AggFunc, distinct: exp.Distinct
    ) -> Aggregate:
        # The least of the different values is the least of all.
        named = function.name if function.laws.is_idempotent else function.distinct
        if len(distinct.expressions) == 1 and named is not None:
            return self._over(AGGREGATE_FUNCTIONS[named], distinct.expressions[0])
        what = f"{function.sql_names[0]}(DISTINCT ...)"
        if function.distinct is not None:
            what += " of several expressions"
        hint = f"COUNT(DISTINCT x) of one expression runs, and so do {IDEMPOTENT}"
        raise self._row.refused("WU204", what, node, hint=hint)

    def _over(self, function: AggregateFunction, node: exp.Expr) -> Aggregate:
        argument = self._argument.bind(node)
        is_value = isinstance(argument, Literal) and argument.value is not None
        if function.star is not None and is_value:
            return _of_rows(function.star)
        reads = sorted(inputs_of(argument))
        if function.form is not Form.COUNT:
            check_words(self._argument, function, node, argument)
        source = None if len(reads) > 1 else next(iter(reads), 0)
        argument = self._taken(function, argument, node)
        return Aggregate(function.name, argument, source, function.type_of(argument.type))

    def _taken(self, function: AggregateFunction, argument: Expr, node: exp.Expr) -> Expr:
        """The argument in a type that the function takes."""
        if function.takes is Takes.ANYTHING:
            return argument
        if is_null(argument):
            argument = convert(argument, BOOLEAN if function.takes is Takes.TRUTH else DOUBLE)
        if function.takes is Takes.TRUTH:
            self._check_truth(function, argument, node)
            return argument
        if function.takes is Takes.ORDERED:
            self._check_ordered(function, argument, node)
            return argument
        self._check_number(function, argument, node)
        return convert(argument, DOUBLE) if function.form is Form.SPREAD else argument

    def _check_ordered(self, function: AggregateFunction, argument: Expr, node: exp.Expr) -> None:
        if argument.type == STRING:
            raise self._row.refused(
                "WU222",
                f"{function.sql_names[0]} of text",
                node,
                hint=f"{IDEMPOTENT} compare {function.takes.value}; "
                "COUNT(DISTINCT x) accepts text, and GROUP BY has a row per text",
            )

    def _check_truth(self, function: AggregateFunction, argument: Expr, node: exp.Expr) -> None:
        if argument.type != BOOLEAN:
            raise self._row.wrong(
                "WB242",
                f"{function.sql_names[0]} takes {function.takes.value}, "
                f"but this is {argument.type}",
                node,
                hint="compare it with something, such as <> 0",
            )

    def _check_number(self, function: AggregateFunction, argument: Expr, node: exp.Expr) -> None:
        if not argument.type.is_numeric:
            raise self._row.wrong(
                "WB242",
                f"{function.sql_names[0]} takes {function.takes.value}, "
                f"but this is {argument.type}",
                node,
                hint="COUNT takes any type; text becomes a number with CAST(... AS DOUBLE)",
            )


def _of_rows(function: str) -> Aggregate:
    return Aggregate(function, None, None, BIGINT)
