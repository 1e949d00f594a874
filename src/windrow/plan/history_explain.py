"""A query about the past as text for people."""

from __future__ import annotations

from windrow.event_time import show_instant, show_span
from windrow.plan.expressions import ColumnRef, Expr
from windrow.plan.history_plan import HistoryAggregate, HistoryPlan
from windrow.plan.model import Aggregate, PlanInput, QueryPlan, WindowSpec
from windrow.plan.show import show, show_list
from windrow.window_kinds import UNBOUNDED

__all__ = ["explain_history"]


def explain_history(plan: HistoryPlan) -> str:
    """The plan, one fact a line."""
    history = plan.history
    until = "now" if plan.until_us is None else show_instant(plan.until_us)
    lines = [
        f"the past of {history.stream.name} from {show_instant(plan.since_us)} to {until}",
        f"  measures    {', '.join(each.name for each in history.measures) or 'none'}",
        f"  keys        {', '.join(each.name for each in history.keys) or 'none'}",
        f"  levels      {', '.join(_level(*each) for each in history.levels)}",
        f"  finest      {'rows' if plan.at_us is None else show_span(plan.at_us)}",
    ]
    if plan.where is not None:
        lines.append(f"  where       {_shown(plan, plan.where)}")
    lines.append(f"  aggregates  {', '.join(map(_aggregate, plan.aggregates)) or 'none'}")
    if plan.group_by:
        lines.append(f"  group by    {show_list(plan.group_by, _as_query(plan))}")
    if plan.having is not None:
        lines.append(f"  having      {_shown(plan, plan.having)}")
    columns = ", ".join(f"{column.name} {column.type}" for column in plan.select)
    return "\n".join([*lines, f"  columns     {columns}"])


def _level(granularity_us: int, retention_us: int | None) -> str:
    kept = "ever" if retention_us is None else show_span(retention_us)
    return f"{show_span(granularity_us)} for {kept}"


def _aggregate(aggregate: HistoryAggregate) -> str:
    rank = "" if aggregate.rank is None else f", {aggregate.rank:g}"
    return aggregate.traits.show(f"{aggregate.measure or '*'}{rank}")


def _shown(plan: HistoryPlan, expression: Expr) -> str:
    return show(expression, _as_query(plan))


def _as_query(plan: HistoryPlan) -> QueryPlan:
    """As a query over one window, which is what expressions are shown by."""
    stream = plan.history.stream
    entry = PlanInput(stream, stream.name, WindowSpec(UNBOUNDED.name))
    aggregates = []
    for each in plan.aggregates:
        argument = None if each.measure is None else ColumnRef(0, each.measure, each.type)
        aggregates.append(Aggregate(each.function, argument, 0, each.type))
    return QueryPlan(
        plan.text, "aggregate", (entry,), plan.select, plan.group_by, aggregates=tuple(aggregates)
    )
