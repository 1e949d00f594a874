"""Completed answers: what a narrowed window lacks is taken from the panes of the arrival profile.

The profile knows the aggregates of the older rows pane by pane. So an answer is made of the rows
held and of all panes that are lacking; uncertain is only which rows of a pane count that an edge
cuts. The answer given is the number of the interval that can be farthest off the least.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from windrow.governor.bounded.arrival_watch import ArrivalWatch
from windrow.governor.bounded.inner_plan import InnerPlan
from windrow.governor.bounded.shown_rows import shown_rows
from windrow.governor.bounded.shown_values import shown_value
from windrow.governor.error_bounds.bounds import completed_truths
from windrow.governor.error_bounds.intervals import Flags, Floats, Interval
from windrow.output.feed_columns import timestamps
from windrow.plan.expressions import AggregateRef, Expr

__all__ = ["can_complete", "completed_rows", "with_lost_groups"]

Instants = NDArray[np.int64]
# So many pairs of an instant and a group are looked at together.
PAIRS_AT_ONCE = 1 << 18


def can_complete(inner: InnerPlan) -> bool:
    """Whether answers are completed: HAVING has chosen by the rows held alone."""
    return inner.plan.having is None


def completed_rows(
    inner: InnerPlan, watch: ArrivalWatch, rows: pa.Table, at: Instants, edges: Instants
) -> tuple[pa.Table, Floats]:
    """The select list with what was missing, and a bound on the relative error of each row.

    rows: answers from the rows held, with hidden columns. edges: the earliest entry of rows that
    were held at each.
    """
    values: dict[Expr, pa.Array] = {}
    bound, broken = np.zeros(rows.num_rows), np.zeros(rows.num_rows, np.bool_)
    tails = watch.tails(rows, at, edges)
    for number, aggregate in enumerate(inner.plan.aggregates[: len(inner.aggregates)]):
        bounded, tail, held = tails[number]
        truth = completed_truths(bounded.function, tail, held)
        shown = rows.column(bounded.value).combine_chunks()
        fewest = bounded.traits.fewest_values
        is_sure = (tail.count.high == 0) | (held.count + tail.count.high < fewest)
        found, error, is_beyond = _completed(shown, truth, is_sure)
        values[AggregateRef(number, aggregate.type)] = found.cast(aggregate.type.arrow)
        bound = np.maximum(bound, error)
        broken |= is_beyond
    return shown_rows(inner, rows, values, bound, broken), bound


def _completed(shown: pa.Array, truth: Interval, is_sure: Flags) -> tuple[pa.Array, Floats, Flags]:
    """An aggregate as it is shown, its bound, and where its type does not hold it.

    shown: by the rows held; is_sure: where nothing else matters.
    """
    found, bound, known = shown_value(truth, shown.type)
    finite = np.isfinite(truth.low)
    bound = np.where(is_sure, 0.0, bound)
    return pc.if_else(pa.array(known & ~is_sure), found, shown), bound, finite & ~known & ~is_sure


def with_lost_groups(
    inner: InnerPlan, watch: ArrivalWatch, table: pa.Table, instants: Instants, edges: Instants
) -> pa.Table:
    """Answers, and empty ones of the groups that have no rows but in the panes that are lacking.

    table: answers from the rows held, with hidden columns. instants, edges: of the answers that
    lack rows.
    """
    if not inner.groups or not instants.size:
        return table
    known = watch.known_groups()
    at = table.column("at").cast(pa.int64()).to_numpy()
    held = watch.group_codes(table)
    found = [_lost(watch, at, held, known, *part) for part in _parts(instants, edges, known.size)]
    lost_at, lost = (np.concatenate(each) for each in zip(*found, strict=True))
    if not lost.size:
        return table
    columns = dict(zip(inner.groups, watch.group_columns(lost), strict=True))
    columns |= {"at": timestamps(lost_at), "level": pa.repeat("A", lost.size)}
    for each in inner.aggregates:
        counts = [each.count, each.value] if each.traits.is_count else [each.count]
        columns |= dict.fromkeys(counts, pa.array(np.zeros(lost.size, np.int64)))
    empty = [
        columns[field.name].cast(field.type)
        if field.name in columns
        else pa.nulls(lost.size, field.type)
        for field in table.schema
    ]
    joined = pa.concat_tables([table, pa.Table.from_arrays(empty, schema=table.schema)])
    rank = watch.rank(np.concatenate([held, lost]))
    order = np.lexsort((rank, np.concatenate([at, lost_at])))
    return joined.take(pa.array(order))


def _parts(instants: Instants, edges: Instants, groups: int) -> list[tuple[Instants, Instants]]:
    parts = -(-instants.size * max(groups, 1) // PAIRS_AT_ONCE)
    both = (np.array_split(each, parts) for each in (instants, edges))
    return list(zip(*both, strict=True))


def _lost(
    watch: ArrivalWatch,
    at: Instants,
    held: NDArray[np.int32],
    known: NDArray[np.int32],
    instants: Instants,
    edges: Instants,
) -> tuple[Instants, NDArray[np.int32]]:
    """The instants and groups of answers that may have rows although the window holds none."""
    has_answer = np.zeros((instants.size, int(max(known.max(initial=0), held.max(initial=0))) + 1))
    place = np.searchsorted(instants, at)
    is_here = place < instants.size
    is_here[is_here] = instants[place[is_here]] == at[is_here]
    has_answer[place[is_here], held[is_here]] = 1
    row, column = np.nonzero(has_answer[:, known] == 0)
    groups = known[column]
    count = watch.profile.tail(instants[row], edges[row], groups).count.high
    chosen = (count > 0) & np.isfinite(count)
    return instants[row][chosen], groups[chosen]
