"""From a parsed query to its plan: names resolved, types settled, what does not run refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from windrow.errors import BindingError
from windrow.plan.aggregates import Groups
from windrow.plan.algorithms import check_algorithm, with_algorithm
from windrow.plan.alignment import aligned
from windrow.plan.catalog import Catalog
from windrow.plan.conditions import Conditions, split
from windrow.plan.expressions import Expr, inputs_of
from windrow.plan.model import SEVERAL, Negation, PlanInput, QueryPlan
from windrow.plan.names import NamedInput, Names
from windrow.plan.negations import bind_negated, negated_inputs
from windrow.plan.outputs import aliases_of, bind_items
from windrow.plan.refusals import MAX_INPUTS, check_distinct_groups, check_shape
from windrow.plan.rows import row_scope
from windrow.plan.rules.exact_sums import exact_sums
from windrow.plan.rules.pipeline import RULES, Rule, rewritten
from windrow.plan.scope import Scope
from windrow.plan.service import with_service
from windrow.plan.session_zone import in_session_zone
from windrow.plan.stores import check_store, with_store
from windrow.plan.windows import all_sources, bind_window, check_slides, check_windows
from windrow.sql.statements import Select, Source

__all__ = ["bind"]


@in_session_zone
def bind(
    select: Select,
    catalog: Catalog,
    algorithm: str = "auto",
    store: str = "auto",
    rules: tuple[Rule, ...] = RULES,
) -> QueryPlan:
    """The plan of a query over the streams of the catalog, after the rules."""
    check_algorithm(algorithm)
    check_store(store)
    check_shape(select)
    names = _names(select, catalog)
    negated = negated_inputs(select, names, catalog)
    names = replace(names, hidden=tuple(each.entry for each in negated))
    check_windows(select)
    check_slides(select, all_sources(select))
    conditions = _conditions(select, names)
    inputs = _inputs(select, names, conditions)
    taken = [entry.alias for entry in inputs]
    negations: list[Negation] = []
    for each in negated:
        entry, negation = bind_negated(each, _free(each.entry.alias, taken))
        inputs = (*inputs, entry)
        negations.append(negation)
    kind = _aggregate_plan if _is_aggregate(select) else _select_plan
    bound = replace(
        kind(select, names, inputs, conditions), negations=aligned(negations, conditions.joins)
    )
    plan = rewritten(bound, rules)
    if select.error_percent is None:  # no bound is known for the parts of a sum
        plan = exact_sums(plan)
    return with_store(with_algorithm(with_service(plan, select), algorithm), store)


def _is_aggregate(select: Select) -> bool:
    if select.group_by or select.having is not None:
        return True
    return any(item.expression.find(exp.AggFunc) is not None for item in select.items)


def _joined(select: Select) -> list[Source]:
    return [source for source in select.sources if source.join != "anti"]


def _names(select: Select, catalog: Catalog) -> Names:
    """The joined inputs; an alias of FROM is given once, also to those that are negated."""
    found: list[NamedInput] = []
    seen: set[str] = set()
    for source in select.sources:
        stream = catalog.stream(source.stream, source.place)
        if source.alias.lower() in seen:
            raise BindingError(
                "WB202",
                f"FROM names two inputs {source.alias!r}",
                hint=f"give each its own name: {source.stream} [...] AS {source.alias}2",
                place=source.place,
            )
        seen.add(source.alias.lower())
        if source.join != "anti":
            found.append(NamedInput(source.alias, stream, len(found)))
    return Names(select.text, tuple(found))


def _free(alias: str, taken: list[str]) -> str:
    """The alias, numbered where an input outside of NOT EXISTS has it, too; then it is taken."""
    known = {each.lower() for each in taken}
    tries = (alias, *(f"{alias}{number}" for number in range(2, MAX_INPUTS + 2)))
    taken.append(next(name for name in tries if name.lower() not in known))
    return taken[-1]


def _conditions(select: Select, names: Names) -> Conditions:
    clauses = [source.on for source in _joined(select) if source.on is not None]
    if select.where is not None:
        clauses.append(select.where)
    return split(row_scope(names, "WHERE"), clauses, len(names.inputs))


def _inputs(select: Select, names: Names, conditions: Conditions) -> tuple[PlanInput, ...]:
    return tuple(
        PlanInput(
            entry.stream,
            entry.alias,
            bind_window(source.window, entry.stream, entry.input_index),
            conditions.filters[entry.input_index],
            conditions.keys[entry.input_index],
            conditions.variables[entry.input_index],
        )
        for source, entry in zip(_joined(select), names.inputs, strict=True)
    )


def _select_plan(
    select: Select, names: Names, inputs: tuple[PlanInput, ...], conditions: Conditions
) -> QueryPlan:
    scope = row_scope(names, "SELECT")
    items = bind_items(select, names, scope, grouped=False)
    return QueryPlan(
        select.text,
        "select",
        inputs,
        items,
        every_us=select.every_us,
        residual=conditions.residual,
        distinct=select.distinct,
    )


def _aggregate_plan(
    select: Select, names: Names, inputs: tuple[PlanInput, ...], conditions: Conditions
) -> QueryPlan:
    aliases = aliases_of(select)
    group_by = _group_by(row_scope(names, "GROUP BY", aliases), select.group_by)
    groups = Groups(names, group_by)
    items = bind_items(select, names, groups.scope(), grouped=True)
    if select.distinct:
        check_distinct_groups(select, items, group_by)
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
                hint="positions are not supported: write the expression itself",
            )
        bound = scope.bind(node)
        if bound not in found:
            found.append(bound)
    return tuple(found)


def _source(expression: Expr) -> int | None:
    reads = inputs_of(expression)
    return SEVERAL if len(reads) > 1 else next(iter(reads), None)
