"""From a parsed question about the past to its plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from windrow.errors import BindingError
from windrow.event_time import show_span
from windrow.plan.catalog import Catalog
from windrow.plan.expressions import Expr
from windrow.plan.history_groups import HistoryGroups, check_keys
from windrow.plan.history_plan import BOUND_ENDINGS, FACTS, HistoryPlan, has_aggregate
from windrow.plan.history_refusals import check_history_shape, history_range
from windrow.plan.history_schema import HistorySchema
from windrow.plan.model import OutputColumn
from windrow.plan.names import NamedInput, Names
from windrow.plan.outputs import aliases_of, bind_items
from windrow.plan.rows import row_scope
from windrow.plan.scope import Scope
from windrow.plan.session_zone import in_session_zone
from windrow.sql.statements import HistoryRange, Select

__all__ = ["bind_history"]


@in_session_zone
def bind_history(
    select: Select,
    catalog: Catalog,
    histories: Mapping[str, HistorySchema],
    *,
    continuous: bool = False,
) -> HistoryPlan:
    """The plan of a question to the history of one of the streams.

    continuous: the question is asked again and again as time goes on, and not once.
    """
    check_history_shape(select, continuous=continuous)
    asked = history_range(select)
    history = _history(select, catalog, histories)
    _check_level(asked, history)
    names = Names(select.text, (NamedInput(select.sources[0].alias, history.stream, 0),))
    where = _where(select, names, history)
    group_by = _group_by(select, names, history)
    groups = HistoryGroups(names, group_by, history)
    for item in select.items:
        check_keys(names, history, item.expression, "the select list")
    items = bind_items(select, names, groups.scope(), grouped=True)
    having = None
    if select.having is not None:
        check_keys(names, history, select.having, "HAVING")
        having = groups.scope(aliases_of(select)).condition(select.having, "HAVING")
    _check_names(select, items)
    return HistoryPlan(
        select.text,
        history,
        asked.since_us,
        asked.until_us,
        asked.at_us,
        items,
        group_by,
        tuple(groups.found),
        where,
        having,
        select.every_us,
    )


def _history(
    select: Select, catalog: Catalog, histories: Mapping[str, HistorySchema]
) -> HistorySchema:
    source = select.sources[0]
    stream = catalog.stream(source.stream, source.place)
    if stream.name not in histories:
        raise BindingError(
            "WB330",
            f"stream {stream.name!r} has no history",
            hint="declare one: session.history(...), or CREATE HISTORY ON ... in a script",
            place=source.place,
        )
    return histories[stream.name]


def _check_level(asked: HistoryRange, history: HistorySchema) -> None:
    if asked.at_us is not None and asked.at_us not in history.granularities_us:
        raise BindingError(
            "WB335",
            f"the history of {history.stream.name!r} has no level of {show_span(asked.at_us)}",
            hint=f"its levels are {', '.join(map(show_span, history.granularities_us))}",
            place=asked.place,
        )


def _where(select: Select, names: Names, history: HistorySchema) -> Expr | None:
    if select.where is None:
        return None
    check_keys(names, history, select.where, "WHERE")
    return row_scope(names, "WHERE").condition(select.where, "WHERE")


def _group_by(select: Select, names: Names, history: HistorySchema) -> tuple[Expr, ...]:
    aliases = aliases_of(select)
    for node in select.group_by:
        check_keys(names, history, _written(node, names, aliases), "GROUP BY")
    return _expressions(row_scope(names, "GROUP BY", aliases), select.group_by)


def _expressions(scope: Scope, nodes: Sequence[exp.Expr]) -> tuple[Expr, ...]:
    for node in nodes:
        if isinstance(node, exp.Literal) and not node.is_string:
            hint = "positions are not supported: write the expression itself"
            raise scope.wrong("WB245", f"GROUP BY {node.this} is a number", node, hint)
    return tuple(dict.fromkeys(scope.bind(node) for node in nodes))


def _written(node: exp.Expr, names: Names, aliases: Mapping[str, exp.Expr]) -> exp.Expr:
    """What a name of the select list stands for."""
    if isinstance(node, exp.Column) and not node.table and not names.find(node):
        return aliases.get(node.name.lower(), node)
    return node


def _check_names(select: Select, items: tuple[OutputColumn, ...]) -> None:
    """Bounds and facts are columns after the select list, with their own names."""
    taken = {fact: f"every answer about the past has a column {fact!r}" for fact in FACTS}
    for item in items:
        if has_aggregate(item.expression):
            for ending in BOUND_ENDINGS:
                taken[(item.name + ending).lower()] = f"{item.name + ending!r} is a bound"
    for item, written in zip(items, select.items, strict=True):
        if item.name.lower() in taken:
            raise BindingError(
                "WB337",
                f"a column cannot be named {item.name!r} here: {taken[item.name.lower()]}",
                hint=f"give it another name: ... AS {item.name}_value",
                place=written.place,
            )
