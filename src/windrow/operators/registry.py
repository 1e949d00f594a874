"""Which operator runs a query by which algorithm."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from windrow.deferred import deferred
from windrow.operators.keyed.operator import FactorisedOperator
from windrow.operators.operator import Operator
from windrow.plan.cost import cheapest
from windrow.plan.figures import assumed_figures
from windrow.plan.model import QueryPlan
from windrow.plan.update_pattern import keeps_results
from windrow.rows.shape import QueryShape
from windrow.rows.shared_rows import RowReader

if TYPE_CHECKING:
    from windrow.operators.pairs.operator import PairOperator
    from windrow.operators.select.followed import FollowedSelect
    from windrow.operators.tree.operator import TreeOperator
    from windrow.operators.unbounded.operator import UnboundedOperator
else:
    PairOperator = deferred("windrow.operators.pairs.operator", "PairOperator")
    FollowedSelect = deferred("windrow.operators.select.followed", "FollowedSelect")
    TreeOperator = deferred("windrow.operators.tree.operator", "TreeOperator")
    UnboundedOperator = deferred("windrow.operators.unbounded.operator", "UnboundedOperator")

__all__ = ["first_algorithm", "operator_for"]


def first_algorithm(plan: QueryPlan) -> str:
    """The algorithm that a query starts with: the requested one, or the choice of auto."""
    if plan.algorithm == "scan":
        return "results" if keeps_results(plan) else "factorised"
    if plan.algorithm == "auto":
        return cheapest(plan, assumed_figures(plan))
    return plan.algorithm


def operator_for(
    plan: QueryPlan,
    shape: QueryShape,
    grid_us: int,
    algorithm: str,
    readers: Sequence[RowReader] = (),
    *,
    is_followed: bool = False,
) -> Operator:
    """A new, empty operator; readers: where its rows are shared with other queries.

    is_followed: of a select only changes are told, to someone in this process.
    """
    if is_followed:
        return FollowedSelect(plan, shape)
    if algorithm != "factorised":
        return PairOperator(plan, shape, grid_us, algorithm, readers=readers)
    if shape.mode is None and plan.inputs[0].window.traits.is_endless:
        return UnboundedOperator(plan, shape, grid_us)
    if shape.mode is None:
        return TreeOperator(plan, shape, grid_us, readers)
    return FactorisedOperator(plan, shape, grid_us, readers)
