"""Which keeper runs a query by which algorithm."""

from __future__ import annotations

from windrow.engine.factorised_keeper import FactorisedKeeper
from windrow.engine.keeper import Keeper
from windrow.engine.shape import QueryShape
from windrow.plan.model import QueryPlan

__all__ = ["first_algorithm", "keeper_for"]


def first_algorithm(plan: QueryPlan) -> str:
    """The algorithm that a query begins with: the one asked for, or the one that auto takes."""
    return "factorised" if plan.algorithm in ("auto", "scan") else plan.algorithm


def keeper_for(plan: QueryPlan, shape: QueryShape, grid_us: int, algorithm: str) -> Keeper:
    """A new, empty keeper."""
    del algorithm
    return FactorisedKeeper(plan, shape, grid_us)
