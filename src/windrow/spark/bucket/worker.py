"""What a Python worker of Spark does once: read the plan, and make its garbage collection cheap."""

from __future__ import annotations

import gc
from functools import lru_cache

from windrow.plan.model import QueryPlan
from windrow.plan.serialise import plan_from_json

__all__ = ["plan_of", "settle_worker"]

PLANS_KEPT = 64


@lru_cache(maxsize=PLANS_KEPT)
def plan_of(text: str) -> QueryPlan:
    """The plan that the text describes."""
    return plan_from_json(text)


@lru_cache(maxsize=1)
def settle_worker() -> None:
    """Takes all that is imported out of garbage collection, once in a process.

    Spark's workers collect after every task; walking the modules each time costs more than a small
    batch does.
    """
    gc.collect()
    gc.freeze()
