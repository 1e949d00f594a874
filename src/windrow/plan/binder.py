"""From a parsed query to its plan: names resolved, types settled, what does not run refused."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from windrow.errors import BindingError
from windrow.plan.aggregates import Groups
from windrow.plan.catalog import Catalog
from windrow.plan.conditions import Conditions, split
from windrow.plan.expressions import Expr, inputs_of
from windrow.plan.model import PlanInput, QueryPlan
from windrow.plan.names import NamedInput, Names
from windrow.plan.outputs import aliases_of, bind_items
from windrow.plan.refusals import check_algorithm, check_shape, refusal
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
        return _aggregate_plan(select, names, inputs)
    if len(inputs) > 1:
        raise refusal(
            "WU202",
            "a join without aggregates",
            select.sources[1].place,
            "aggregate it: COUNT(*), SUM or AVG, with GROUP BY",
        )
    items = bind_items(select, names, row_scope(names, "SELECT"), grouped=False)
    return QueryPlan(
        select.text, "select", inputs, items, every_us=select.every_us, algorithm="scan"
    )


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
        if not conditions.keys[0]:
            first, second = (entry.alias for entry in names.inputs)
            raise refusal(
                "WU215",
                "a join without an equality between its inputs",
                select.sources[1].place,
                f"join on equal columns: {first}.x = {second}.y",
            )
    return tuple(
        PlanInput(
            entry.stream,
            entry.alias,
            bind_window(source.window, entry.stream, position),
            conditions.filters[position],
            conditions.keys[position] if len(select.sources) > 1 else (),
        )
        for position, (source, entry) in enumerate(zip(select.sources, names.inputs, strict=True))
    )


def _aggregate_plan(select: Select, names: Names, inputs: tuple[PlanInput, ...]) -> QueryPlan:
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
        tuple(next(iter(inputs_of(part)), None) for part in group_by),
        tuple(_key_index(part, inputs) for part in group_by),
        tuple(groups.aggregates),
        having,
        select.every_us,
        "factorised",
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
        if len(inputs_of(bound)) > 1:
            raise scope.refused(
                "WU210",
                "GROUP BY an expression of two inputs",
                node,
                hint="group by an expression of each input",
            )
        if bound not in found:
            found.append(bound)
    return tuple(found)


def _key_index(expression: Expr, inputs: tuple[PlanInput, ...]) -> int | None:
    """The join key that the expression is; a key cast to another type is not the same value."""
    for entry in inputs:
        if expression in entry.keys:
            return entry.keys.index(expression)
    return None
