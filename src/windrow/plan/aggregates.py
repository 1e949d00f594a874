"""Aggregates, and the scope of groups in which the select list and HAVING stand.

SUM of integers is BIGINT, of DECIMAL(p, s) is DECIMAL(p + 18, s), of FLOAT and DOUBLE is DOUBLE;
AVG and the variances are DOUBLE, also of decimals; COUNT is BIGINT; MIN and MAX have the type of
their argument. Equal aggregates are computed once.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from windrow.errors import WindrowError
from windrow.plan.digits import check_digits
from windrow.plan.expressions import AggregateRef, Expr, GroupRef, Literal, inputs_of
from windrow.plan.model import Aggregate
from windrow.plan.names import Names
from windrow.plan.rows import row_scope
from windrow.plan.scalars import scope_of
from windrow.plan.scope import Scope
from windrow.plan.separation import separated
from windrow.plan.types import convert, is_null, sum_type
from windrow.schema import BIGINT, DOUBLE, STRING

__all__ = ["RUNNING", "Groups"]

_FUNCTIONS: dict[type[exp.Expr], str] = {
    exp.Count: "count",
    exp.Sum: "sum",
    exp.Avg: "avg",
    exp.Min: "min",
    exp.Max: "max",
    exp.Stddev: "stddev_samp",
    exp.StddevSamp: "stddev_samp",
    exp.StddevPop: "stddev_pop",
    exp.Variance: "var_samp",
    exp.VariancePop: "var_pop",
}
_OF_HISTORY: dict[type[exp.Expr], str] = {
    exp.ApproxQuantile: "APPROX_PERCENTILE",
    exp.ApproxDistinct: "APPROX_COUNT_DISTINCT",
}
# What stands in hints: the aggregates that run.
RUNNING = "COUNT, SUM, AVG, MIN, MAX, STDDEV and VARIANCE run"


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
                "a column comes before an item of that name: repeat the item, or name it otherwise"
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
        function = _FUNCTIONS.get(type(node))
        if function is None:
            what, hint = f"the aggregate {node.sql_name()}", RUNNING
            if type(node) in _OF_HISTORY:
                what = f"{_OF_HISTORY[type(node)]} over a window"
                hint = f"{RUNNING}; this one runs FROM HISTORY(...), where a sketch is kept"
            raise self._row.refused("WU205", what, node, hint=hint)
        if node.this is None or node.expressions:
            given = 0 if node.this is None else 1 + len(node.expressions)
            message = f"{function.upper()} takes 1 argument, but here are {given}"
            raise self._row.wrong("WB231", message, node, hint=f"write {function.upper()}(x)")
        if function == "count" and isinstance(node.this, exp.Star):
            return Aggregate("count_star", None, None, BIGINT)
        if isinstance(node.this, exp.Distinct):
            return self._over_distinct(function, node, node.this)
        return self._over(function, node.this)

    def _over_distinct(self, function: str, node: exp.AggFunc, distinct: exp.Distinct) -> Aggregate:
        if len(distinct.expressions) == 1 and function in ("count", "min", "max"):
            # The least of the different values is the least of all.
            named = "count_distinct" if function == "count" else function
            return self._over(named, distinct.expressions[0])
        what = f"{function.upper()}(DISTINCT ...)"
        if function == "count":
            what = "COUNT(DISTINCT ...) of several expressions"
        hint = "COUNT(DISTINCT x) of one expression runs, and so do MIN and MAX"
        raise self._row.refused("WU204", what, node, hint=hint)

    def _over(self, function: str, node: exp.Expr) -> Aggregate:
        argument = self._argument.bind(node)
        if function == "count" and isinstance(argument, Literal) and argument.value is not None:
            return Aggregate("count_star", None, None, BIGINT)
        reads = sorted(inputs_of(argument))
        check_digits(self._argument, node, argument)
        source = None if len(reads) > 1 else next(iter(reads), 0)
        if function in ("count", "count_distinct"):
            return Aggregate(function, argument, source, BIGINT)
        argument = convert(argument, DOUBLE) if is_null(argument) else argument
        if function in ("min", "max"):
            return self._extreme(function, argument, source, node)
        self._check_number(function, argument, node)
        if function in ("sum", "avg"):
            kind = DOUBLE if function == "avg" else sum_type(argument.type)
            terms = separated(argument) if source is None else ()
            return Aggregate(function, argument, source, kind, terms)
        return Aggregate(function, convert(argument, DOUBLE), source, DOUBLE)

    def _extreme(
        self, function: str, argument: Expr, source: int | None, node: exp.Expr
    ) -> Aggregate:
        if argument.type == STRING:
            raise self._row.refused(
                "WU222",
                f"{function.upper()} of text",
                node,
                hint="MIN and MAX compare numbers, timestamps, dates and truth values; "
                "COUNT(DISTINCT x) takes text, and GROUP BY gives every text its row",
            )
        return Aggregate(function, argument, source, argument.type)

    def _check_number(self, function: str, argument: Expr, node: exp.Expr) -> None:
        if not argument.type.is_numeric:
            raise self._row.wrong(
                "WB242",
                f"{function.upper()} takes numbers, but this is {argument.type}",
                node,
                hint="COUNT takes any type; text becomes a number with CAST(... AS DOUBLE)",
            )
