"""CREATE ALERT as the query that it runs: the rows for which its condition holds, and their key."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from windrow.column_types import TIMESTAMP, ColumnType
from windrow.connectors.process_run import AlertShape
from windrow.errors import BindingError, UnsupportedError
from windrow.output.upserts import own_key
from windrow.plan.catalog import Catalog
from windrow.plan.history_refusals import reads_history
from windrow.plan.model import QueryPlan
from windrow.plan.relations.planner import plan_query
from windrow.schema import Column
from windrow.sql import parse_query
from windrow.sql.query_printer import print_query
from windrow.sql.statements import CreateAlert, QueryText, Select, ValuesList

if TYPE_CHECKING:
    from windrow.plan.relations.tree_plan import RunnablePlan

__all__ = ["BoundAlert", "bind_alert", "bound_again"]

_STRING = ColumnType("STRING")
# The columns of events that are not of the select list.
_OWN = {"at": TIMESTAMP, "alert": _STRING, "state": _STRING, "since": TIMESTAMP}
# Clauses of the whole query, which a query in its FROM has none of.
_SERVICE = ("error_percent", "every_us", "duration", "on_error")


@dataclass(frozen=True)
class BoundAlert:
    """An alert, its query as text, and what tells its groups apart."""

    name: str
    text: str
    plan: RunnablePlan
    columns: tuple[Column, ...]
    key: tuple[str, ...]
    for_us: int

    @property
    def shape(self) -> AlertShape:
        """The columns of its events, behind `at`."""
        own = [Column(name, kind) for name, kind in _OWN.items() if name != "at"]
        return AlertShape((*own, *self.columns))

    @property
    def schema(self) -> pa.Schema:
        """The columns of its rows."""
        return pa.schema([(each.name, each.type.arrow) for each in self.columns])


def bind_alert(statement: CreateAlert, catalog: Catalog) -> BoundAlert:
    """The alert that a statement describes."""
    select = statement.select
    if isinstance(select, Select) and reads_history(select):
        raise UnsupportedError(
            "WU832",
            f"alert {statement.name!r} reads HISTORY",
            hint="an alert is of the answers over windows: name the stream and a window",
            place=statement.place,
        )
    inner = plan_query(select, catalog)  # what is wrong with it is found at its place
    columns = _columns(inner)
    for column in columns:
        if column.name.lower() in _OWN:
            raise BindingError(
                "WB840",
                f"an alert has a column {column.name!r} of its own",
                hint=f"give the column of the select list another name: AS {column.name}_",
                place=statement.place,
            )
    whole = select if statement.when is None else _filtered(select, statement.when)
    plan = inner if statement.when is None else plan_query(whole, catalog)
    key = _key(select, inner, tuple(column.name for column in columns))
    return BoundAlert(statement.name, print_query(whole), plan, columns, key, statement.for_us)


def bound_again(
    name: str, text: str, plan: RunnablePlan, key: tuple[str, ...], for_us: int
) -> BoundAlert:
    """An alert whose query runs already."""
    return BoundAlert(name, text, plan, _columns(plan), key, for_us)


def _columns(plan: RunnablePlan) -> tuple[Column, ...]:
    shown = plan if isinstance(plan, QueryPlan) else plan.published
    return tuple(Column(each.name, each.type) for each in shown.select)


def _filtered(select: QueryText, when: Any) -> Select:
    """The rows of a query for which the condition holds; its service clauses are of the whole."""
    frame = parse_query("SELECT * FROM (SELECT 1 AS one) AS rows_of_alert WHERE 1 = 1")
    assert isinstance(frame, Select)
    outer = replace(frame, where=when)
    if isinstance(select, ValuesList):
        return replace(outer, sources=(replace(frame.sources[0], query=select),))
    nothing: dict[str, Any] = dict.fromkeys(_SERVICE)
    service: dict[str, Any] = {name: getattr(select, name) for name in _SERVICE}
    inner = replace(frame.sources[0], query=replace(select, **nothing))
    return replace(outer, text=select.text, places=select.places, sources=(inner,), **service)


def _key(select: QueryText, plan: RunnablePlan, names: tuple[str, ...]) -> tuple[str, ...]:
    """The columns of GROUP BY, or all."""
    own = own_key(plan) if isinstance(plan, QueryPlan) else None
    if own is not None:
        return own
    if not isinstance(select, Select) or not select.group_by or len(select.items) != len(names):
        return names
    found = []
    for group in select.group_by:
        same = [
            name
            for item, name in zip(select.items, names, strict=True)
            if item.expression == group or (group.key == "column" and group.name == name)
        ]
        if not same:
            return names
        found.append(same[0])
    return tuple(found)
