"""A query with ERROR as it is run: with columns that its error bounds are made from, not shown.

Behind the select list come, for each aggregate, its value, how many values it is made of and, for
AVG and variances, their mean; then the group columns.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.aggregate_functions import AGGREGATE_FUNCTIONS, COUNT, MEAN, AggregateFunction
from windrow.plan.expressions import AggregateRef, Expr, GroupRef
from windrow.plan.model import Aggregate, OutputColumn, QueryPlan
from windrow.schema import BIGINT, DOUBLE

__all__ = ["BoundedAggregate", "InnerPlan", "inner_plan", "measures_of", "net_changes"]


@dataclass(frozen=True)
class BoundedAggregate:
    """An aggregate whose error is bounded: its measure, and the columns that its bound is made of.

    measure: None for COUNT(*). value, count, mean: names of hidden columns; mean may be ''.
    """

    function: str
    measure: int | None
    value: str
    count: str
    mean: str = ""

    @property
    def traits(self) -> AggregateFunction:
        """What is known of its function."""
        return AGGREGATE_FUNCTIONS[self.function]


@dataclass(frozen=True)
class InnerPlan:
    """plan: with hidden columns. measures: what is aggregated, each once."""

    plan: QueryPlan
    shown: tuple[str, ...]
    aggregates: tuple[BoundedAggregate, ...]
    groups: tuple[str, ...]
    measures: tuple[Expr, ...]

    def visible(self, table: pa.Table) -> pa.Table:
        """The table without hidden columns."""
        hidden = {column.name for column in self.plan.select[len(self.shown) :]}
        kept = [place for place, name in enumerate(table.schema.names) if name not in hidden]
        return table.select(kept)


def inner_plan(plan: QueryPlan) -> InnerPlan:
    """The plan to run for a query with ERROR."""
    work = _Columns(plan)
    bounded = tuple(work.bounded(number) for number in range(len(plan.aggregates)))
    groups = tuple(
        work.hidden(GroupRef(number, part.type)) for number, part in enumerate(plan.group_by)
    )
    inner = replace(plan, select=(*plan.select, *work.columns), aggregates=tuple(work.aggregates))
    shown = tuple(column.name for column in plan.select)
    return InnerPlan(inner, shown, bounded, groups, measures_of(plan))


def measures_of(plan: QueryPlan) -> tuple[Expr, ...]:
    """What is aggregated, each once; of a plan and of its inner plan the same."""
    arguments = (aggregate.measured for aggregate in plan.aggregates)
    return tuple(dict.fromkeys(part for part in arguments if part is not None))


class _Columns:
    """Collects aggregates, measures and hidden columns, each once."""

    def __init__(self, plan: QueryPlan) -> None:
        self.aggregates = list(plan.aggregates)
        self._measures = measures_of(plan)
        self.columns: list[OutputColumn] = []

    def bounded(self, number: int) -> BoundedAggregate:
        aggregate = self.aggregates[number]
        value = self.hidden(AggregateRef(number, aggregate.type))
        argument = aggregate.measured
        if argument is None:
            return BoundedAggregate(aggregate.function, None, value, value)
        count = self._made(Aggregate(COUNT.name, argument, aggregate.source, BIGINT))
        mean = ""
        if aggregate.traits.needs_mean:
            mean = self._made(Aggregate(MEAN.name, argument, aggregate.source, DOUBLE))
        place = self._measures.index(argument)
        return BoundedAggregate(aggregate.function, place, value, count, mean)

    def hidden(self, expression: Expr) -> str:
        """The name of a hidden column."""
        for column in self.columns:
            if column.expression == expression:
                return column.name
        self.columns.append(OutputColumn(f"~{len(self.columns)}", expression, expression.type))
        return self.columns[-1].name

    def _made(self, aggregate: Aggregate) -> str:
        if aggregate not in self.aggregates:
            self.aggregates.append(aggregate)
        number = self.aggregates.index(aggregate)
        return self.hidden(AggregateRef(number, aggregate.type))


def net_changes(inner: InnerPlan, changes: pa.Table) -> pa.Table:
    """Changes of what is shown: a row that went and came with other hidden columns did neither."""
    shown = inner.visible(changes)
    if not shown.num_rows:
        return shown
    names = shown.schema.names
    places = pa.array(np.arange(shown.num_rows))
    # Taken, and so copied: columns that were read from bytes may not lie where grouping wants them.
    numbered = shown.take(places).append_column("~", places)
    keys = [name for name in names if name != "change"]
    found = numbered.group_by(keys, use_threads=False).aggregate([("change", "sum"), ("~", "min")])
    net = found.column("change_sum").to_numpy()
    first = found.column("~_min").to_numpy()
    copies = np.abs(net)
    # What goes stands before what comes at the same instant, as in every feed.
    at = shown.column("at").cast(pa.int64()).to_numpy()[first]
    order = np.lexsort((first, net > 0, at))
    kept = np.repeat(first[order], copies[order])
    signs = np.repeat(np.sign(net[order]), copies[order])
    rows = shown.take(pa.array(kept))
    change = pc.cast(pa.array(signs), shown.schema.field("change").type)
    return rows.set_column(names.index("change"), shown.schema.field("change"), change)
