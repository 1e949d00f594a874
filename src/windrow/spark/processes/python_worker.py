"""What a Python worker of Spark does once: read the plan, and let memory be cheap."""

from __future__ import annotations

import ctypes
import gc
from functools import lru_cache
from itertools import count
from typing import TYPE_CHECKING

from windrow.plan.model import QueryPlan, one_block
from windrow.plan.shipped_plan import plan_shipped

if TYPE_CHECKING:
    from windrow.plan.relations.tree_plan import RunnablePlan, TreePlan

__all__ = ["plan_of", "prepare_worker", "tree_of"]

PLANS_KEPT = 64

# glibc's numbers for them, and what is set: so much that was freed stays with the process, and
# arrays up to a size (the largest that every version takes) are not mapped by themselves.
_TRIM_THRESHOLD, _KEPT_BYTES = -1, 64 << 20
_MMAP_THRESHOLD, _LARGEST_BYTES = -3, 32 << 20

_TASKS = count(1)  # of this process


def plan_of(text: str) -> QueryPlan:
    """The plan of one block that the text describes."""
    return one_block(_plan_of(text))


def tree_of(text: str) -> TreePlan:
    """The plan of a tree that the text describes."""
    plan = _plan_of(text)
    assert not isinstance(plan, QueryPlan), "a block runs in another way"
    return plan


@lru_cache(maxsize=PLANS_KEPT)
def _plan_of(text: str) -> RunnablePlan:
    return plan_shipped(text)


def prepare_worker() -> None:
    """Takes what has been made so far out of garbage collection, at tasks 1, 2, 4, 8 and so on.

    Spark's workers collect after every task; walking all modules each time costs more than a small
    batch does. Once is not enough: much is imported and compiled only while the first batches run.
    After each task would be too often: what has been taken out and becomes a dead cycle stays.
    """
    tasks = next(_TASKS)
    if tasks == 1:
        _keep_freed_memory()
    if tasks & (tasks - 1) == 0:
        gc.collect()
        gc.freeze()


def _keep_freed_memory() -> None:
    """Lets arrays of one batch be where those of the batch before were.

    By itself glibc gives them back whenever a batch is over, and the kernel hands out zeroed pages
    for the next, which took a quarter of what workers spent on large batches.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError):
        return  # another libc
    mallopt(_TRIM_THRESHOLD, _KEPT_BYTES)
    mallopt(_MMAP_THRESHOLD, _LARGEST_BYTES)
