"""A short text that is equal for plans that mean the same rows, and stable across versions."""

from __future__ import annotations

import hashlib
from dataclasses import replace

from windrow.plan.model import QueryPlan
from windrow.plan.serialise import plan_to_json

__all__ = ["fingerprint"]


def fingerprint(plan: QueryPlan) -> str:
    """SHA-256 over the plan with its streams.

    Spacing and aliases of the text do not count, nor do algorithm and store: state is rows, and
    any of them resumes from those. Nor does it matter which rows streams set aside from now on.
    """
    inputs = tuple(
        replace(entry, alias="", stream=entry.stream.taking_all()) for entry in plan.inputs
    )
    canonical = plan_to_json(replace(plan, text="", inputs=inputs, algorithm="", store=""))
    return hashlib.sha256(canonical.encode()).hexdigest()
