"""The end of a query: what it shows, and ORDER BY with LIMIT over it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from windrow.errors import BindingError, Place
from windrow.plan.expressions import Expr, Literal
from windrow.plan.outputs import is_star, item_name
from windrow.plan.relations.algebra import (
    Distinct,
    Field,
    Item,
    OrderKey,
    Project,
    Relation,
    TopRows,
)
from windrow.plan.relations.context import Answer, Context
from windrow.plan.relations.groups import GroupPhase
from windrow.plan.relations.over import order_key
from windrow.plan.relations.phase import Aliases, Phase
from windrow.plan.relations.positions import checked_position, position_of
from windrow.sql.places import place_of
from windrow.sql.statements import Ordering, Select, SelectItem, SetQuery

__all__ = ["Shown", "items_of", "trimmed", "with_order"]


@dataclass(frozen=True)
class Shown:
    """A column of the select list: its name, and what it is over the rows of the phase."""

    name: str
    expression: Expr


def items_of(select: Select, phase: Phase) -> list[Shown]:
    """The columns that the select list stands for."""
    found: list[Shown] = []
    for item in select.items:
        if is_star(item.expression):
            found += _all_columns(select, phase, item)
        else:
            found.append(Shown(item_name(item), phase.bind(item.expression, "SELECT")))
    return found


def with_order(
    query: Select | SetQuery, phase: Phase, items: Sequence[Shown], aliases: Aliases
) -> Answer:
    """The answer that shows the items, in order and cut where the query says so."""
    check_limit(query)
    keys = [_key(each, phase, items, aliases, query.text) for each in query.order_by]
    is_cut = query.limit is not None or query.offset > 0
    for key, written in zip(keys, query.order_by, strict=True):
        if key.expression not in [item.expression for item in items]:
            _check_distinct(query, written)
    if not (phase.environment.is_outermost or is_cut):
        keys = []  # nobody sees in which order a query within another has its rows
    fresh = phase.context.fresh
    columns = [Item(fresh(item.name, item.expression.type), item.expression) for item in items]
    shown = tuple(column.field for column in columns)
    order = []
    for key in keys:
        field = _field_of(key.expression, columns)
        if field is None:
            field = fresh("order", key.expression.type)
            columns.append(Item(field, key.expression))
        order.append(replace(key, expression=field.ref))
    relation: Relation = Project(phase.relation, tuple(columns))
    if isinstance(query, Select) and query.distinct:
        relation = Distinct(relation)
    if is_cut:
        relation = TopRows(relation, (), tuple(order), query.limit, query.offset)
    constants = tuple(
        item.expression if isinstance(item.expression, Literal) else None for item in items
    )
    return Answer(relation, shown, constants, tuple(order))


def trimmed(answer: Answer, context: Context) -> Answer:
    """The answer without the columns that only order it."""
    if len(answer.relation.fields) == len(answer.shown):
        return answer
    items = tuple(Item(context.fresh(each.name, each.type), each.ref) for each in answer.shown)
    shown = tuple(item.field for item in items)
    project = Project(answer.relation, items)
    return Answer(project, shown, answer.constants, is_single=answer.is_single)


def check_limit(query: Select | SetQuery) -> None:
    """LIMIT and OFFSET are 0 or more."""
    for word, value in (("LIMIT", query.limit), ("OFFSET", query.offset)):
        if value is not None and value < 0:
            raise BindingError(
                "WB271",
                f"{word} {value} is negative",
                hint=f"write {word} 0 or more",
                place=query.places.get(word),
            )


def _all_columns(select: Select, phase: Phase, item: SelectItem) -> list[Shown]:
    place = item.place or place_of(item.expression, select.text)
    if isinstance(phase, GroupPhase):
        raise BindingError(
            "WB244",
            "* cannot be combined with GROUP BY, HAVING or aggregates",
            hint="name the columns, each in GROUP BY or in an aggregate",
            place=place,
        )
    node = item.expression
    if isinstance(node, exp.Column):
        return _shown(phase.visible.table_of(node).fields)
    if not select.sources:
        raise _no_columns(place)
    return _shown(phase.visible.columns)


def _shown(fields: Sequence[Field]) -> list[Shown]:
    return [Shown(field.name, field.ref) for field in fields]


def _no_columns(place: Place | None) -> BindingError:
    hint = "write FROM and a stream, or name values: SELECT 1 AS one"
    return BindingError("WB273", "* stands for nothing without FROM", hint=hint, place=place)


def _key(
    ordering: Ordering, phase: Phase, items: Sequence[Shown], aliases: Aliases, text: str
) -> OrderKey:
    node = ordering.expression
    if position_of(node) is not None:
        bound = items[checked_position(node, len(items), "ORDER BY", text)].expression
    else:
        bound = _item_named(node, items) or phase.bind(node, "ORDER BY", aliases)
    return order_key(bound, ordering.is_descending, ordering.nulls_first)


def _item_named(node: exp.Expr, items: Sequence[Shown]) -> Expr | None:
    """The item of that name, which comes before a column of FROM; None where several differ."""
    if not isinstance(node, exp.Column) or node.table:
        return None
    named = {item.expression for item in items if item.name.lower() == node.name.lower()}
    return next(iter(named)) if len(named) == 1 else None


def _field_of(expression: Expr, columns: Sequence[Item]) -> Field | None:
    return next((each.field for each in columns if each.expression == expression), None)


def _check_distinct(query: Select | SetQuery, written: Ordering) -> None:
    if isinstance(query, Select) and query.distinct:
        raise BindingError(
            "WB270",
            "SELECT DISTINCT cannot be ordered by what it does not select",
            hint="select it, or order by an item",
            place=written.place or place_of(written.expression, query.text),
        )
