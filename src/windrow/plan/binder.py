"""From a parsed query to its plan: names resolved, types settled, what does not run refused."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from windrow.errors import BindingError
from windrow.plan.aggregates import Groups
from windrow.plan.algorithms import check_algorithm, with_algorithm
from windrow.plan.catalog import Catalog
from windrow.plan.conditions import Conditions, split
from windrow.plan.digits import check_digits
from windrow.plan.expressions import Expr, inputs_of
from windrow.plan.model import SEVERAL, PlanInput, QueryPlan
from windrow.plan.names import NamedInput, Names
from windrow.plan.outputs import aliases_of, bind_items
from windrow.plan.refusals import check_shape, refusal
from windrow.plan.rows import row_scope
from windrow.plan.scope import Scope
from windrow.plan.windows import bind_window, check_every, check_join_window
from windrow.sql.statements import Select

__all__ = ["bind"]


def bind(select: Select, catalog: Catalog, algorithm: str = "auto") -> QueryPlan:
    """The plan of a query over the streams of the catalog."""
    check_algorithm(algorithm)
    names = _names(select, catalog)
    check_shape(select)
    check_every(select)
    conditions = _conditions(select, names)
    inputs = _inputs(select, names, conditions)
    if _is_aggregate(select):
        plan = _aggregate_plan(select, names, inputs, conditions)
        return with_algorithm(plan, algorithm)
    if len(inputs) > 1:
        raise refusal(
            "WU202",
            "a join without aggregates",
            select.sources[1].place,
            "aggregate it: COUNT(*), SUM or MAX, with GROUP BY",
        )
    items = bind_items(select, names, row_scope(names, "SELECT"), grouped=False)
    plan = QueryPlan(select.text, "select", inputs, items, every_us=select.every_us)
    return with_algorithm(plan, algorithm)


def _is_aggregate(select: Select) -> bool:
    if select.group_by or select.having is not None:
        return True
    return any(item.expression.find(exp.AggFunc) is not None for item in select.items)


def _names(select: Select, catalog: Catalog) -> Names:
    found: list[NamedInput] = []
    for source in select.sources:
        stream = catalog.stream(source.stream, source.place)
        if any(source.alias.lower() == entry.alias.lower() for entry in found):
            raise BindingError(
                "WB202",
                f"FROM names two inputs {source.alias!r}",
                hint=f"give each a name of its own: {source.stream} [...] AS {source.alias}2",
                place=source.place,
            )
        found.append(NamedInput(source.alias, stream))
    return Names(select.text, tuple(found))


def _conditions(select: Select, names: Names) -> Conditions:
    clauses = [source.on for source in select.sources if source.on is not None]
    if select.where is not None:
        clauses.append(select.where)
    return split(row_scope(names, "WHERE"), clauses, len(select.sources))


def _inputs(select: Select, names: Names, conditions: Conditions) -> tuple[PlanInput, ...]:
    if len(select.sources) > 1:
        for source in select.sources:
            check_join_window(source)
    return tuple(
        PlanInput(
            entry.stream,
            entry.alias,
            bind_window(source.window, entry.stream, position),
            conditions.filters[position],
            conditions.keys[position],
            conditions.variables[position],
        )
        for position, (source, entry) in enumerate(zip(select.sources, names.inputs, strict=True))
    )


def _aggregate_plan(
    select: Select, names: Names, inputs: tuple[PlanInput, ...], conditions: Conditions
) -> QueryPlan:
    aliases = aliases_of(select)
    group_by = _group_by(row_scope(names, "GROUP BY", aliases), select.group_by)
    groups = Groups(names, group_by)
    items = bind_items(select, names, groups.scope(), grouped=True)
    having = None
    if select.having is not None:
        having = groups.scope(aliases).condition(select.having, "HAVING")
    return QueryPlan(
        select.text,
        "aggregate",
        inputs,
        items,
        group_by,
        tuple(_source(part) for part in group_by),
        tuple(conditions.variable_of(part) for part in group_by),
        tuple(groups.aggregates),
        having,
        select.every_us,
        residual=conditions.residual,
    )


def _group_by(scope: Scope, nodes: Sequence[exp.Expr]) -> tuple[Expr, ...]:
    found: list[Expr] = []
    for node in nodes:
        if isinstance(node, exp.Literal) and not node.is_string:
            raise scope.wrong(
                "WB245",
                f"GROUP BY {node.this} is a number, not a column",
                node,
                hint="positions are not counted here: write the expression itself",
            )
        bound = scope.bind(node)
        check_digits(scope, node, bound)
        if bound not in found:
            found.append(bound)
    return tuple(found)


def _source(expression: Expr) -> int | None:
    reads = inputs_of(expression)
    return SEVERAL if len(reads) > 1 else next(iter(reads), None)
