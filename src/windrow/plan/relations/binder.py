"""From a parsed query to a tree of relations: every name a field, every expression typed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import count

from windrow.errors import UnsupportedError
from windrow.plan.catalog import Catalog, View
from windrow.plan.outputs import RESERVED_NAMES, check_reserved, is_star, item_name
from windrow.plan.relations.algebra import (
    Aggregate,
    Distinct,
    Field,
    Filter,
    Join,
    Project,
    Relation,
    Scan,
    walk_relations,
)
from windrow.plan.relations.bound_query import BoundQuery
from windrow.plan.relations.context import Answer, Context, Environment
from windrow.plan.relations.on_error import with_policy
from windrow.plan.relations.selects import bind_select
from windrow.plan.relations.sets import bind_set, bind_values
from windrow.plan.session_zone import in_session_zone
from windrow.plan.windows import check_slides
from windrow.sql.statements import CommonTable, QueryText, Select, SetQuery, ValuesList

__all__ = ["bind_query", "bind_view"]

_OF_ONE_BLOCK = (Scan, Filter, Project, Aggregate, Distinct, Join)


@in_session_zone
def bind_query(query: QueryText, catalog: Catalog, *, shares_views: bool = False) -> BoundQuery:
    """The relation of a query over the streams and views of the catalog.

    shares_views: views run by themselves, and are read; otherwise each is part of the query.
    """
    # A query with a life sees the rows of that time only; a view that others read sees all.
    has_life = not isinstance(query, ValuesList) and query.duration is not None
    context = Context(catalog, _bind, shares_views=shares_views and not has_life)
    answer = context.bind(query, Environment())
    outputs = _outputs(query, answer.shown)
    if isinstance(query, ValuesList):
        return BoundQuery(query.text, answer.relation, outputs)
    check_slides(query, context.scans.values())
    if query.error_percent is not None and is_tree(answer.relation):
        raise UnsupportedError(
            "WU240",
            "ERROR is not supported for a query that is a tree of relations",
            hint="omit it: the answers are exact; ERROR is for the aggregates of one SELECT over "
            "one window of time",
            place=query.places.get("ERROR"),
        )
    return BoundQuery(
        query.text,
        answer.relation,
        outputs,
        answer.order,
        query.every_us,
        query.error_percent,
        query.duration,
        query.on_error or "fail",
    )


@in_session_zone
def bind_view(view: View, catalog: Catalog, *, shares_views: bool = False) -> BoundQuery:
    """The relation of a view of the catalog, as those that read it see it."""
    context = Context(catalog, _bind, shares_views=shares_views)
    query = view.query
    answer = context.bind(query, Environment().within_view(view.name))
    outputs = _outputs(query, answer.shown)
    if isinstance(query, ValuesList):
        return BoundQuery(query.text, answer.relation, outputs)
    check_slides(query, context.scans.values())
    return BoundQuery(
        query.text,
        answer.relation,
        outputs,
        every_us=query.every_us,
        on_error=query.on_error or "fail",
    )


def is_tree(relation: Relation) -> bool:
    """Whether it is more than one block: windows, inner joins, filters, and one aggregation."""
    nodes = list(walk_relations(relation))
    if any(not isinstance(node, _OF_ONE_BLOCK) for node in nodes):
        return True
    if any(isinstance(node, Join) and node.kind not in ("inner", "anti") for node in nodes):
        return True
    projects = sum(isinstance(node, Project) for node in nodes)
    return projects > 1 or sum(isinstance(node, Aggregate) for node in nodes) > 1


def _bind(query: QueryText, context: Context, environment: Environment) -> Answer:
    if isinstance(query, ValuesList):
        return bind_values(query, context)
    if not environment.is_outermost:
        _check_service(query, environment)
    inner = environment.with_common(query.common_tables)
    if isinstance(query, SetQuery):
        answer = bind_set(query, context, inner)
    else:
        answer = bind_select(query, context, inner)
    _check_unread(query.common_tables, context, inner)
    if environment.is_outermost or environment.is_view:
        answer = replace(answer, relation=_under_policy(query, answer.relation, context))
    return answer


def _under_policy(query: Select | SetQuery, relation: Relation, context: Context) -> Relation:
    """The relation under the policy of its query, which no query around it changes."""
    found = with_policy(
        relation, query.on_error or "fail", {id(each) for each in context.under_policy}
    )
    context.under_policy.append(found)
    return found


def _check_service(query: Select | SetQuery, environment: Environment) -> None:
    clauses: dict[str, object] = {"ERROR": query.error_percent, "DURATION": query.duration}
    if not environment.is_view:
        clauses["ON ERROR"] = query.on_error
    for word, value in clauses.items():
        if value is not None:
            raise UnsupportedError(
                "WU240",
                f"{word} is not supported in a query within another",
                hint="write it at the end of the whole query, or omit it",
                place=query.places.get(word),
            )


def _check_unread(
    tables: Sequence[CommonTable], context: Context, environment: Environment
) -> None:
    """A common table that nobody reads is bound for its errors alone."""
    for table in tables:
        common = environment.common[table.name.lower()]
        if id(table) not in context.common_read:
            scans = dict(context.scans)
            context.bind(table.query, common.environment.within())
            context.scans = scans


def _outputs(query: QueryText, shown: Sequence[Field]) -> tuple[Field, ...]:
    """The fields under names of their own: equal ones are numbered.

    So are those that * gives under a reserved name, such as the time of answers in a window.
    """
    items = query.items if isinstance(query, Select) else ()
    has_star = any(is_star(item.expression) for item in items)
    for item in items:
        check_reserved("" if is_star(item.expression) else item_name(item), item.place)
    written = {field.name.lower() for field in shown}
    taken: set[str] = set(RESERVED_NAMES) if has_star else set()
    found: list[Field] = []
    for field in shown:
        name = field.name
        if not has_star:
            check_reserved(name, None)
        if name.lower() in taken:
            numbered = (f"{field.name}_{number}" for number in count(2))
            name = next(each for each in numbered if each.lower() not in taken | written)
        taken.add(name.lower())
        found.append(replace(field, name=name))
    return tuple(found)
