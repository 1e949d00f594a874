"""A short text that is equal for plans that mean the same rows, and stable across versions."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING

from windrow.deferred import deferred
from windrow.plan.model import QueryPlan
from windrow.plan.serialise import plan_to_json

if TYPE_CHECKING:
    from windrow.plan.relations.canonical import canonical_tree
    from windrow.plan.relations.tree_plan import RunnablePlan
else:
    canonical_tree = deferred("windrow.plan.relations.canonical", "canonical_tree")

__all__ = ["canonical_block", "fingerprint"]


def fingerprint(plan: RunnablePlan) -> str:
    """SHA-256 over the plan with its streams.

    Spacing and aliases of the text do not count, nor do algorithm and store: state is rows, and
    any of them resumes from those. Nor does it matter which rows streams set aside from now on.
    """
    whole = canonical_block(plan) if isinstance(plan, QueryPlan) else canonical_tree(plan)
    canonical = plan_to_json(whole)
    return hashlib.sha256(canonical.encode()).hexdigest()


def canonical_block(plan: QueryPlan) -> QueryPlan:
    """The plan without what does not count."""
    inputs = tuple(
        replace(entry, alias="", stream=entry.stream.taking_all()) for entry in plan.inputs
    )
    return replace(plan, text="", inputs=inputs, algorithm="", store="")
