"""What holds the rows of an answer until they end: chosen by update pattern, or requested by name.

Rows that end in another order than they came are kept by their expiry. Where some end before it,
because a match comes or a newer row pushes them out, an index by key finds them, and their entries
in the queue are skipped when they come up.
"""

from __future__ import annotations

from dataclasses import replace

from windrow.errors import UnsupportedError
from windrow.plan.model import QueryPlan
from windrow.plan.nearest import no_such
from windrow.plan.update_pattern import keeps_results, update_pattern

__all__ = ["QUEUES", "check_store", "queue_of", "store_of", "with_store"]

# Queues that can be requested, the one that `auto` uses first: of all loads that were measured the
# wheel was the fastest up to a million live rows, but for windows with a handful of rows.
QUEUES = ("wheel", "branch-ladder", "ladder", "calendar", "heap")
_ASKED = ("auto", *QUEUES)


def check_store(store: str) -> None:
    """Refuses names that no store has."""
    if store not in _ASKED:
        raise no_such("WB254", "store", store, _ASKED)


def with_store(plan: QueryPlan, store: str) -> QueryPlan:
    """The plan with the requested store, which must have something to hold."""
    if store != "auto" and not keeps_results(plan):
        raise UnsupportedError(
            "WU225",
            f"this query does not use the store {store!r}: {store_of(plan)[1]}",
            hint="use 'auto'; joins without aggregates, SELECT DISTINCT and negations have a store",
        )
    return replace(plan, store=store)


def store_of(plan: QueryPlan) -> tuple[str, str]:
    """The store's name, and why it is this one."""
    if plan.kind == "aggregate":
        return "groups", "each group has one row, replaced in place"
    pattern, _ = update_pattern(plan)
    if pattern == "monotonic":
        return "append-only", "no row ever ends"
    if not keeps_results(plan):
        by_partition = plan.inputs[0].window.traits.counts_by_partition
        each = "each partition" if by_partition else "the window"
        return (
            "fifo",
            f"{each} is itself the queue, as its rows end in order of arrival",
        )
    queue = queue_of(plan)
    why = "asked for" if plan.store != "auto" else "rows end in order of expiry"
    if pattern == "weak":
        return queue, why
    return f"{queue} + key index", f"{why}; those that end early are found by key"


def queue_of(plan: QueryPlan) -> str:
    """The queue that rows expire from."""
    return QUEUES[0] if plan.store == "auto" else plan.store
