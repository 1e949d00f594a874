"""The plan of a query on Spark: one block wherever that is enough, a tree otherwise."""

from __future__ import annotations

from windrow.errors import BindingError, UnsupportedError
from windrow.plan.algorithms import with_algorithm
from windrow.plan.binder import bind
from windrow.plan.catalog import Catalog
from windrow.plan.comparable import maps_compared_in
from windrow.plan.digits import carries_words
from windrow.plan.model import QueryPlan
from windrow.plan.refusals import is_one_select
from windrow.plan.relations.planner import check_policy, plan_query, tree_plan
from windrow.plan.relations.tree_plan import RunnablePlan
from windrow.plan.relations.whole_blocks import as_block
from windrow.plan.stores import with_store
from windrow.plan.windows import all_sources
from windrow.sql.statements import QueryText, Select, ValuesList

__all__ = ["plan_on_spark"]


def plan_on_spark(query: QueryText, catalog: Catalog, algorithm: str, store: str) -> RunnablePlan:
    """The plan of a query over streams and views; more of them are one block than in process.

    Blocks in buckets carry nested values and wide ones, too, and negate inputs.
    """
    check_policy(query)
    plan = _block(query, catalog, algorithm, store) or plan_query(query, catalog, algorithm, store)
    if isinstance(plan, QueryPlan):
        _check_error(plan, query)
        _check_values(plan, is_distinct=isinstance(query, Select) and query.distinct)
    if not plan.streams:
        raise UnsupportedError(
            "WU231",
            "this query reads no stream, so that on Spark nothing would ever run it",
            hint="windrow.connect() without Spark, or windrow run --embedded, answers it",
        )
    return plan


def _check_error(plan: QueryPlan, query: QueryText) -> None:
    """Refuses ERROR over joins: their coarse tails are kept in process only."""
    if isinstance(query, ValuesList) or query.error_percent is None:
        return
    if len(plan.inputs) > 1:
        raise UnsupportedError(
            "WU212",
            "ERROR over a join is not supported on Spark: there its rows are in several buckets",
            hint="omit ERROR: the answers are then exact; or run the query in process",
            place=query.places.get("ERROR"),
        )


def _block(query: QueryText, catalog: Catalog, algorithm: str, store: str) -> QueryPlan | None:
    """The plan of one block; None where the query is a tree, or something is wrong with it."""
    if not isinstance(query, Select) or not is_one_select(query) or _has_windows_of_trees(query):
        return None
    if query.on_error in (None, "fail"):
        try:
            return bind(query, catalog, algorithm, store)
        except (BindingError, UnsupportedError):
            return None
    found = as_block(tree_plan(query, catalog))
    if isinstance(found, QueryPlan):
        return with_store(with_algorithm(found, algorithm), store)
    return None


def _has_windows_of_trees(select: Select) -> bool:
    """Sessions and their like, whose rows come and go in no order, and joins of all rows ever."""
    kinds = [source.window.traits for source in all_sources(select)]
    is_endless = len(kinds) > 1 and any(each.is_endless for each in kinds)
    return is_endless or any(each.is_scheduled for each in kinds)


def _check_values(plan: QueryPlan, *, is_distinct: bool) -> None:
    """Refuses maps where values are compared, and wide values where answers have bounds."""
    compared = {
        "GROUP BY": plan.group_by,
        "DISTINCT": [column.expression for column in plan.select if is_distinct],
        "PARTITION BY": [key for entry in plan.inputs for key in entry.window.partition_by],
    }
    for clause, parts in compared.items():
        if not all(part.type.is_comparable for part in parts):
            raise maps_compared_in(clause)
    if plan.error_percent is not None and not carries_words(plan):
        raise UnsupportedError(
            "WU720",
            "nested values, BINARY and decimals of more than 18 digits cannot be in a query with "
            "ERROR",
            hint="omit ERROR: the answers are exact",
        )
