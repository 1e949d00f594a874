"""Views that run, in a snapshot: each is a query that nobody named, with a log of its changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from windrow.durable.saved_parts import SavedParts, SavedReader
from windrow.durable.saved_queries import load_query, saved_query
from windrow.plan.relations.tree_plan import TreePlan
from windrow.plan.serialise import plan_from_json, plan_to_json

if TYPE_CHECKING:
    from windrow.durable.session import DurableSession
    from windrow.embedded.query_run import QueryRun
    from windrow.embedded.view_run import ViewRun

__all__ = ["load_views", "plan_views", "read_views", "saved_views"]


def read_views(views: Sequence[ViewRun], queries: Sequence[QueryRun]) -> list[ViewRun]:
    """Those of the views that run which a query reads, itself or in others; in their order."""
    needed: set[int] = set()
    for reader in (*queries, *reversed(views)):
        if reader in queries or id(reader) in needed:
            needed |= {id(view) for view in reader.views}
    return [view for view in views if id(view) in needed]


def saved_views(
    session: DurableSession, views: Sequence[ViewRun], parts: SavedParts
) -> list[dict[str, Any]]:
    """Views in the order in which they run: those first that others read."""
    pool = session.ingest.pool
    return [
        {
            "name": view.name,
            "plan": plan_to_json(view.plan),
            "state": saved_query(view, pool, parts),
            "log": {name: parts.add_table(table) for name, table in view.log.saved().items()},
        }
        for view in views
    ]


def plan_views(session: DurableSession, saved: Sequence[dict[str, Any]]) -> None:
    """Views that queries begin from now on run by these plans."""
    with session.knowing_functions():
        plans = {told["name"].lower(): plan_from_json(told["plan"]) for told in saved}
    session.view_plans({name: plan for name, plan in plans.items() if isinstance(plan, TreePlan)})


def load_views(
    session: DurableSession, saved: Sequence[dict[str, Any]], parts: SavedReader
) -> None:
    """Back into views that queries, registered again, have begun."""
    running = {view.name.lower(): view for view in session.running_views()}
    for told in saved:
        view = running[told["name"].lower()]
        # Readers have their place in this very log.
        log = view.log
        log.load({name: parts.table(number) for name, number in told["log"].items()})
        load_query(view, told["state"], parts)
        view.keep_log(log)
    session.view_plans({})
