"""From a parsed query to what runs it: one block where that is enough, a tree otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import exp

from windrow.deferred import deferred
from windrow.errors import UnsupportedError
from windrow.plan.binder import bind
from windrow.plan.catalog import Catalog, View
from windrow.plan.digits import carries_words
from windrow.plan.model import QueryPlan
from windrow.plan.relations.aggregate_calls import PLACED, RANKING, function_name
from windrow.plan.relations.instants import PROCTIME, is_instant
from windrow.plan.windows import all_sources
from windrow.sql.nested_query import NestedQuery
from windrow.sql.statements import QueryText, Select, Source, ValuesList
from windrow.sql.unnesting import GENERATORS

if TYPE_CHECKING:
    from windrow.plan.relations.algebra import Project, Relation, ValidRows
    from windrow.plan.relations.binder import bind_query, bind_view
    from windrow.plan.relations.blocks import with_blocks
    from windrow.plan.relations.bound_query import BoundQuery
    from windrow.plan.relations.closing import closes_of, has_sessions, of_closing_sessions
    from windrow.plan.relations.comparable import check_comparable
    from windrow.plan.relations.exact_sums import with_exact_sums
    from windrow.plan.relations.references import passed
    from windrow.plan.relations.rules.pipeline import rewritten_relation
    from windrow.plan.relations.share_aggregates import share_aggregates
    from windrow.plan.relations.share_parts import share_parts
    from windrow.plan.relations.tree_plan import TreePlan, grid_of
    from windrow.plan.relations.union_blocks import with_union_blocks
    from windrow.plan.relations.whole_blocks import as_block
    from windrow.plan.relations.window_columns import BOUND_NAMES
else:
    Project = deferred("windrow.plan.relations.algebra", "Project")
    ValidRows = deferred("windrow.plan.relations.algebra", "ValidRows")
    bind_query = deferred("windrow.plan.relations.binder", "bind_query")
    bind_view = deferred("windrow.plan.relations.binder", "bind_view")
    with_blocks = deferred("windrow.plan.relations.blocks", "with_blocks")
    closes_of = deferred("windrow.plan.relations.closing", "closes_of")
    has_sessions = deferred("windrow.plan.relations.closing", "has_sessions")
    of_closing_sessions = deferred("windrow.plan.relations.closing", "of_closing_sessions")
    check_comparable = deferred("windrow.plan.relations.comparable", "check_comparable")
    with_exact_sums = deferred("windrow.plan.relations.exact_sums", "with_exact_sums")
    passed = deferred("windrow.plan.relations.references", "passed")
    rewritten_relation = deferred("windrow.plan.relations.rules.pipeline", "rewritten_relation")
    share_aggregates = deferred("windrow.plan.relations.share_aggregates", "share_aggregates")
    share_parts = deferred("windrow.plan.relations.share_parts", "share_parts")
    TreePlan = deferred("windrow.plan.relations.tree_plan", "TreePlan")
    grid_of = deferred("windrow.plan.relations.tree_plan", "grid_of")
    with_union_blocks = deferred("windrow.plan.relations.union_blocks", "with_union_blocks")
    as_block = deferred("windrow.plan.relations.whole_blocks", "as_block")
    BOUND_NAMES = deferred("windrow.plan.relations.window_columns", "BOUND_NAMES")

__all__ = ["check_policy", "plan_query", "plan_view", "tree_plan"]

# Policies that are a part of the tree; a tree that is one block is run as one.
_IN_TREES = ("null", "set_aside")
# What only a tree can run.
_OF_TREES = (NestedQuery, exp.Window, exp.Filter, exp.Exists, exp.WithinGroup)


def plan_query(
    query: QueryText,
    catalog: Catalog,
    algorithm: str = "auto",
    store: str = "auto",
    *,
    shares_views: bool = False,
) -> QueryPlan | TreePlan:
    """The plan of a query over the streams and views of the catalog.

    shares_views: views run by themselves, and are read; otherwise each is part of the query.
    """
    check_policy(query)
    if not isinstance(query, Select) or not _is_block(query, catalog):
        _check_choices(algorithm, store)
        return as_block(tree_plan(query, catalog, shares_views=shares_views))
    is_chosen = query.error_percent is not None or (algorithm, store) != ("auto", "auto")
    try:
        plan = bind(query, catalog, algorithm, store)
    except UnsupportedError:
        if is_chosen:
            raise
        return as_block(tree_plan(query, catalog))
    if carries_words(plan):
        return plan
    if is_chosen:
        raise UnsupportedError(
            "WU720",
            "a block does not carry nested values, BINARY or decimals of more than 18 digits",
            hint="omit the algorithm, the store and ERROR: a tree of relations carries them",
        )
    return as_block(tree_plan(query, catalog))


def tree_plan(query: QueryText, catalog: Catalog, *, shares_views: bool = False) -> TreePlan:
    """The query as a tree, also where one block would do."""
    bound = bind_query(query, catalog, shares_views=shares_views)
    if not isinstance(query, ValuesList) and query.error_percent is not None:
        # A tree has no ERROR: it would be lost without a word.
        raise UnsupportedError(
            "WU240",
            "ERROR is not supported together with ORDER BY, GROUP BY of numbers or texts, or "
            "another clause that only a tree of relations has",
            hint="omit ERROR: the answers are exact; or omit ORDER BY, and name in GROUP BY what "
            "it means",
            place=query.places.get("ERROR"),
        )
    return _planned(bound)


def plan_view(view: View, catalog: Catalog) -> TreePlan:
    """The plan of a view of the catalog that runs by itself, as views that it reads do."""
    return _planned(bind_view(view, catalog, shares_views=True))


def _planned(bound: BoundQuery) -> TreePlan:
    check_comparable(bound.relation, bound.order)
    hidden = bound.relation.fields[len(bound.outputs) :]
    relation = _rewritten(bound, bound.relation)
    grid_us = None if bound.every_us is None else grid_of(relation, bound.every_us)
    relation = _on_grid(relation, grid_us or 1)
    has_no_ticks = bound.every_us is None
    closing = None
    if has_no_ticks and has_sessions(bound.relation):
        whole = _rewritten(bound, of_closing_sessions(bound.relation))
        closing = _running(whole, grid_us, bound.text)
    return TreePlan(
        bound.text,
        bound.relation,
        _running(relation, grid_us, bound.text),
        bound.outputs,
        bound.order,
        bound.every_us,
        bound.duration,
        hidden,
        closes_of(bound.relation) if has_no_ticks else None,
        closing,
        bound.on_error,
    )


def _running(relation: Relation, grid_us: int | None, text: str) -> Relation:
    """The relation with blocks as leaves."""
    unions = with_union_blocks(share_aggregates(relation), grid_us, text)
    return share_parts(with_exact_sums(with_blocks(unions, grid_us, text)))


def _rewritten(bound: BoundQuery, relation: Relation) -> Relation:
    """The relation after all rules, with the columns of the query in their order."""
    given = (*bound.outputs, *bound.relation.fields[len(bound.outputs) :])
    found = rewritten_relation(relation)
    if [field.id for field in found.fields] != [field.id for field in given]:
        return Project(found, passed(given))
    return found


def _on_grid(relation: Relation, grid_us: int) -> Relation:
    """Rows that hold for a time come and go when all else changes."""
    if relation.inputs:
        relation = relation.with_inputs(*(_on_grid(part, grid_us) for part in relation.inputs))
    return replace(relation, grid_us=grid_us) if isinstance(relation, ValidRows) else relation


def check_policy(query: QueryText) -> None:
    """A bound of an error is known only for rows that all count."""
    if isinstance(query, ValuesList) or query.error_percent is None:
        return
    if query.on_error in _IN_TREES:
        raise UnsupportedError(
            "WU760",
            "ERROR and ON ERROR cannot be written together",
            hint="omit ERROR, or write ON ERROR FAIL and TRY_DIVIDE, TRY_CAST and the like",
            place=query.places.get("ON ERROR"),
        )


def _check_choices(algorithm: str, store: str) -> None:
    for what, chosen in (("algorithm", algorithm), ("store", store)):
        if chosen != "auto":
            raise UnsupportedError(
                "WU245",
                f"{what}={chosen!r} is for a query of one block, and this is a tree of relations",
                hint="omit it: each block of the tree has its own, chosen by cost; explain() "
                "shows which",
            )


def _is_block(select: Select, catalog: Catalog) -> bool:
    """Whether it says nothing but what one block can: windows, inner joins, one aggregate."""
    if select.on_error in _IN_TREES:
        return False
    is_plain = not (
        select.grouping_sets or select.order_by or select.common_tables or select.offset
    )
    if not is_plain or select.qualify is not None or select.limit is not None:
        return False
    if not select.sources or not all(_is_window(each, catalog) for each in all_sources(select)):
        return False
    windows = [source.window for source in all_sources(select)]
    if len(windows) > 1 and any(each.traits.is_endless for each in windows):
        return False
    if any(isinstance(each.unnest(), exp.Literal) for each in select.group_by):
        return False
    if any(each.traits.is_scheduled for each in windows):
        return False
    if any(each.traits.has_bounds for each in windows) and _reads_bounds(select):
        return False
    return not any(_is_of_trees(node) for each in _expressions(select) for node in each.walk())


def _reads_bounds(select: Select) -> bool:
    """Whether it may read window_start and its like, which single blocks do not have."""
    nodes = (node for each in _expressions(select) for node in each.walk())
    return any(
        (isinstance(node, exp.Column) and node.name.lower() in BOUND_NAMES)
        or (isinstance(node, exp.Star) and not isinstance(node.parent, exp.Count))
        for node in nodes
    )


def _is_of_trees(node: exp.Expr) -> bool:
    """Whether only a tree can run it, or says best why it cannot: RANK() without OVER."""
    if isinstance(node, exp.Anonymous) and node.name.upper() in GENERATORS:
        return True
    if isinstance(node, _OF_TREES) or is_instant(node):
        return True
    return function_name(node) in (*RANKING, *PLACED, PROCTIME)


def _is_window(source: Source, catalog: Catalog) -> bool:
    has_more = source.query is not None or source.joined or source.using or source.columns
    if source.unnest is not None:
        return False
    if has_more or source.is_natural or source.join not in ("first", "inner", "anti"):
        return False
    is_stream = catalog.view(source.stream) is None and catalog.table(source.stream) is None
    return is_stream and source.as_of is None


def _expressions(select: Select) -> Iterator[exp.Expr]:
    yield from (item.expression for item in select.items)
    yield from (source.on for source in select.sources if source.on is not None)
    yield from select.group_by
    for condition in (select.where, select.having):
        if condition is not None:
            yield condition
