"""SELECT, clause after clause: FROM, WHERE, GROUP BY, HAVING, OVER, QUALIFY, the list, ORDER BY."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from windrow.plan.outputs import aliases_of
from windrow.plan.relations.aggregate_calls import own_aggregates
from windrow.plan.relations.answers import items_of, trimmed, with_order
from windrow.plan.relations.context import Answer, Context, Environment
from windrow.plan.relations.groups import grouped
from windrow.plan.relations.joins import bind_from
from windrow.plan.relations.nested import add_conditions
from windrow.plan.relations.over import add_window_functions
from windrow.plan.relations.phase import Phase, RowPhase
from windrow.plan.relations.tables import FromRows
from windrow.plan.relations.unnesting import one_row, with_unnested_items
from windrow.plan.relations.visible import Visible
from windrow.sql.nested_query import NestedQuery
from windrow.sql.statements import Select

__all__ = ["bind_select"]


def bind_select(select: Select, context: Context, environment: Environment) -> Answer:
    """The answer of a SELECT."""
    select = with_unnested_items(select)
    rows = _from(select, context, environment)
    visible = Visible(select.text, rows.tables, rows.columns, rows.hidden)
    row_phase = RowPhase(context, environment, visible, rows.relation)
    _where(select, row_phase)
    aliases = aliases_of(select)
    phase: Phase = row_phase
    if _has_groups(select):
        phase = grouped(select, row_phase, aliases)
        if select.having is not None:
            add_conditions(phase, select.having, "HAVING", aliases)
    add_window_functions(phase, _over_clauses(select))
    if select.qualify is not None:
        add_conditions(phase, select.qualify, "QUALIFY", aliases)
    answer = with_order(select, phase, items_of(select, phase), aliases)
    answer = replace(answer, is_single=_is_single(select))
    return answer if environment.is_outermost else trimmed(answer, context)


def _from(select: Select, context: Context, environment: Environment) -> FromRows:
    if select.sources:
        return bind_from(select.sources, select.text, context, environment)
    return one_row(context)


def _where(select: Select, phase: RowPhase) -> None:
    if select.where is not None:
        add_conditions(phase, select.where, "WHERE")
    for each in select.not_exists:
        negated = exp.Not(this=exp.Exists(this=NestedQuery(query=each)))
        add_conditions(phase, negated, "WHERE")


def _has_groups(select: Select) -> bool:
    if select.group_by or select.grouping_sets or select.having is not None:
        return True
    return any(next(own_aggregates(clause), None) for clause in _over_clauses(select))


def _over_clauses(select: Select) -> list[exp.Expr]:
    """The clauses in which functions with OVER may stand, and aggregates without GROUP BY."""
    found = [item.expression for item in select.items]
    found += [] if select.qualify is None else [select.qualify]
    return [*found, *(each.expression for each in select.order_by)]


def _is_single(select: Select) -> bool:
    """Whether there is at most one row: of all groups in one, of LIMIT 1, of no FROM."""
    if select.limit is not None and select.limit <= 1:
        return True
    if not select.sources:
        return True
    return _has_groups(select) and not select.group_by and not select.grouping_sets
