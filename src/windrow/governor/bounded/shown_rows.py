"""The select list of answers whose aggregates were completed, with a bound on each row's error."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from windrow.governor.bounded.inner_plan import InnerPlan
from windrow.plan.expressions import Expr, GroupRef
from windrow.rows.evaluate import evaluate_checked

__all__ = ["shown_rows"]


def shown_rows(
    inner: InnerPlan,
    rows: pa.Table,
    values: Mapping[Expr, pa.Array],
    bound: NDArray[np.float64],
    broken: NDArray[np.bool_],
) -> pa.Table:
    """What is shown, by the aggregates as they are now; `bound` is infinite where that is not so.

    rows: answers from the rows held, with hidden columns. values: of each aggregate. broken: where
    a type does not hold what was found, so that the row stays as the rows held say.
    """
    columns_of = dict(values)
    for number, name in enumerate(inner.groups):
        part = inner.plan.group_by[number]
        columns_of[GroupRef(number, part.type)] = rows.column(name).combine_chunks()
    chosen = []
    for item in inner.plan.select[: len(inner.shown)]:
        found, faults = evaluate_checked(item.expression, columns_of.__getitem__, rows.num_rows)
        chosen.append(found)
        broken = broken | (False if faults is None else faults)
    if broken.any():
        bound[broken] = np.inf
        held, stays = rows.select(list(inner.shown)), pa.array(broken)
        chosen = [
            pc.if_else(stays, one.combine_chunks().cast(other.type), other)
            for one, other in zip(held.columns, chosen, strict=True)
        ]
    return pa.Table.from_arrays(chosen, names=list(inner.shown))
