"""The rows of a result in the order that ORDER BY asks for; answers and changes have their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from windrow.deferred import deferred
from windrow.operators.ranks import ranks_of_values
from windrow.plan.expressions import ColumnRef, Expr
from windrow.rows.evaluate import evaluate
from windrow.windows.order_bytes import order_bytes
from windrow.windows.value_bytes import is_coded

if TYPE_CHECKING:
    from windrow.plan.relations.algebra import OrderKey
    from windrow.plan.relations.tree_plan import TreePlan
else:
    OrderKey = deferred("windrow.plan.relations.algebra", "OrderKey")

__all__ = ["in_order"]


def in_order(rows: pa.Table, plan: TreePlan) -> pa.Table:
    """The rows sorted by the keys; where they are equal, by the whole rows.

    rows: of the relation of the plan; columns that only order them are left out. How they came
    about does not matter: the same rows are always in the same order.
    """
    place = {field.id: number for number, field in enumerate(plan.relation.fields)}

    def leaf(part: Expr) -> pa.Array:
        assert isinstance(part, ColumnRef)
        return rows.column(place[part.column]).combine_chunks()

    order = np.arange(rows.num_rows)
    whole = [OrderKey(field.ref) for field in plan.relation.fields]
    for key in reversed([*plan.order, *whole]):
        values = evaluate(key.expression, leaf, rows.num_rows)
        order = order[_sorted(values.take(pa.array(order)), key)]
    shown = rows.select(range(len(plan.outputs)))
    return shown.rename_columns([field.name for field in plan.outputs]).take(pa.array(order))


def _sorted(values: pa.Array, key: OrderKey) -> NDArray[np.int64]:
    """A stable order: equal values stay as they are, NULL is first or last."""
    if is_coded(values.type) or pa.types.is_decimal(values.type):
        values = order_bytes(values) if pa.types.is_nested(values.type) else values
        ranks = pc.rank(values, "ascending", tiebreaker="dense").to_numpy().astype(np.int64)
    else:
        ranks = ranks_of_values(values, is_max=True)[0]
    missing = values.is_null().to_numpy(zero_copy_only=False)
    order = np.argsort(~ranks if key.is_descending else ranks, kind="stable")
    # A second pass for NULL: no rank is left for it beyond those of all numbers.
    return order[np.argsort(missing[order] != key.nulls_first, kind="stable")]
