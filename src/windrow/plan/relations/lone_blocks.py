"""Queries where only single blocks run, as on Spark: planned, or refused with what runs them."""

from __future__ import annotations

from windrow.errors import BindingError, UnsupportedError, WindrowError
from windrow.plan.algorithms import with_algorithm
from windrow.plan.binder import bind
from windrow.plan.catalog import Catalog
from windrow.plan.comparable import maps_compared_in
from windrow.plan.digits import carries_words
from windrow.plan.model import QueryPlan
from windrow.plan.relations.planner import check_policy, tree_plan
from windrow.plan.relations.whole_blocks import as_block
from windrow.plan.stores import with_store
from windrow.sql.statements import Select

__all__ = ["plan_block"]

_ELSEWHERE = "windrow.connect() without Spark, or windrow run --embedded, runs this query"


def plan_block(select: Select, catalog: Catalog, algorithm: str, store: str) -> QueryPlan:
    """The plan of a query where only single blocks run, as they do on Spark."""
    check_policy(select)
    if select.on_error in (None, "fail"):
        plan = _bound(select, catalog, algorithm, store)
    else:
        plan = _under_policy(select, catalog, algorithm, store)
    _check_values(plan, is_distinct=select.distinct)
    return plan


def _bound(select: Select, catalog: Catalog, algorithm: str, store: str) -> QueryPlan:
    try:
        return bind(select, catalog, algorithm, store)
    except (BindingError, UnsupportedError) as problem:
        if not _runs_as_tree(select, catalog):
            raise
        if isinstance(problem, UnsupportedError):
            hint = f"{problem.hint}; {_ELSEWHERE}" if problem.hint else _ELSEWHERE
            raise UnsupportedError(
                problem.code, problem.message, hint=hint, place=problem.place
            ) from None
        raise UnsupportedError(
            "WU231",
            "this query is a tree of relations, which Spark does not run",
            hint=f"write one SELECT of windows, inner joins and NOT EXISTS; {_ELSEWHERE}",
            place=problem.place,
        ) from problem


def _runs_as_tree(select: Select, catalog: Catalog) -> bool:
    try:
        tree_plan(select, catalog)
    except WindrowError:
        return False
    return True


def _under_policy(select: Select, catalog: Catalog, algorithm: str, store: str) -> QueryPlan:
    """The block with what ON ERROR puts into its expressions and conditions."""
    found = as_block(tree_plan(select, catalog))
    if isinstance(found, QueryPlan):
        return with_store(with_algorithm(found, algorithm), store)
    policy = (select.on_error or "").replace("_", " ").upper()
    raise UnsupportedError(
        "WU762",
        f"ON ERROR {policy} is not supported for this query on Spark: it is a tree of relations",
        hint="write TRY_DIVIDE, TRY_ADD, TRY_CAST and the like, which are NULL for errors; "
        + _ELSEWHERE,
        place=select.places.get("ON ERROR"),
    )


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
