"""A short text that is equal for plans that mean the same rows, and stable across versions."""

from __future__ import annotations

import hashlib
from dataclasses import replace

from windrow.plan.model import QueryPlan
from windrow.plan.serialise import plan_to_json

__all__ = ["fingerprint"]


def fingerprint(plan: QueryPlan) -> str:
    """SHA-256 over the plan with its streams.

    Spacing and aliases of the text do not count, nor does the algorithm: state is rows, and any
    algorithm goes on from them.
    """
    inputs = tuple(replace(entry, alias="") for entry in plan.inputs)
    canonical = plan_to_json(replace(plan, text="", inputs=inputs, algorithm=""))
    return hashlib.sha256(canonical.encode()).hexdigest()
