"""Rows of an answer about the past: the select list with bounds, and what is sure of each row."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from windrow.aggregate_functions import Form
from windrow.errors import DataError
from windrow.event_time import END_OF_TIME, MIN_EVENT_TIME, START_OF_TIME
from windrow.history.aggregates import Aggregate
from windrow.history.answers.answer import Answer, Interval
from windrow.history.cells.kernels import EXACT, PARTS
from windrow.history.operator import Reach
from windrow.history.questions.bounds import Bounded, evaluate_bounded
from windrow.history.questions.lookup import LookedUp
from windrow.history.state_kernels import ROWS, VALID, WHOLE_STEP
from windrow.plan.expressions import AggregateRef, Expr, GroupRef
from windrow.plan.history_plan import (
    BOUND_ENDINGS,
    FACTS,
    HistoryAggregate,
    HistoryPlan,
    has_aggregate,
)
from windrow.rows.evaluate import evaluate_filter
from windrow.schema import TIMESTAMP

__all__ = ["AnswerRows", "instants_of", "kept_rows", "rows_of", "select_table", "table_of"]

Flags = NDArray[np.bool_]
_INT64 = range(-(1 << 63), 1 << 63)


@dataclass(frozen=True)
class AnswerRows:
    """Groups and aggregates of an answer; is_sure: rows of which nothing is in doubt.

    lacks_rows: rows of the stream were refused that would count.
    """

    groups: tuple[pa.Array, ...]
    aggregates: tuple[Bounded, ...]
    is_sure: Flags
    lacks_rows: bool = False

    @property
    def count(self) -> int:
        """How many rows there are."""
        return int(self.is_sure.size)

    def leaf(self, plan: HistoryPlan) -> Callable[[Expr], Bounded]:
        """What group columns and aggregates stand for."""
        columns: dict[Expr, Bounded] = {}
        for index, expression in enumerate(plan.group_by):
            column = self.groups[index]
            columns[GroupRef(index, expression.type)] = Bounded(column, column, column)
        for index, aggregate in enumerate(plan.aggregates):
            columns[AggregateRef(index, aggregate.type)] = self.aggregates[index]
        return columns.__getitem__


def rows_of(plan: HistoryPlan, answer: Answer, reach: Reach) -> AnswerRows:
    """The rows of an answer that is arranged by the groups of the plan."""
    groups = tuple(
        answer.keys.column(f"g{index}").combine_chunks() for index in range(len(plan.group_by))
    )
    in_doubt = answer.whole[ROWS].reshape(-1, PARTS)[:, 1:].sum(axis=1) > 0
    is_known = reach.is_whole
    is_sure = ~in_doubt & is_known
    aggregates = []
    for aggregate in plan.aggregates:
        found = _values(aggregate, answer)
        if aggregate.traits.laws.in_sketch:
            is_sure = is_sure & _sketch_is_sure(aggregate, answer, found)
        aggregates.append(found if is_known else _open(aggregate, found))
    return AnswerRows(groups, tuple(aggregates), is_sure, reach.lacks_rows())


def select_table(plan: HistoryPlan, rows: AnswerRows) -> tuple[pa.Table, Mapping[str, Bounded]]:
    """The rows of the select list that HAVING keeps; and by name its items that have bounds."""
    leaf, shown, bounded = rows.leaf(plan), {}, {}
    for item in plan.select:
        found = evaluate_bounded(item.expression, leaf, rows.count)
        shown[item.name] = found.value
        if has_aggregate(item.expression):
            sure = pa.array(rows.is_sure)
            low, high = (pc.if_else(sure, found.value, side) for side in (found.low, found.high))
            bounded[item.name] = replace(found, low=low, high=high)
    return pa.table(shown), bounded


def kept_rows(plan: HistoryPlan, rows: AnswerRows) -> AnswerRows:
    """The rows that HAVING keeps, judged by their values."""
    if plan.having is None:
        return rows
    leaf = rows.leaf(plan)
    kept = evaluate_filter(plan.having, lambda part: leaf(part).value, rows.count)
    chosen = pa.array(kept)
    return AnswerRows(
        tuple(column.filter(chosen) for column in rows.groups),
        tuple(Bounded(*(side.filter(chosen) for side in _sides(each))) for each in rows.aggregates),
        rows.is_sure[kept],
        rows.lacks_rows,
    )


def _sides(item: Bounded) -> tuple[pa.Array, ...]:
    return item.value, item.low, item.high, item.is_present


def table_of(plan: HistoryPlan, rows: AnswerRows, found: LookedUp, reach: Reach) -> pa.Table:
    """The select list, bounds of its aggregate items, and what is exact around them."""
    rows = kept_rows(plan, rows)
    table, bounded = select_table(plan, rows)
    for name, item in bounded.items():
        for ending, side in zip(BOUND_ENDINGS, (item.low, item.high), strict=True):
            table = table.append_column(name + ending, side)
    borders = (_sure_inside(found, reach), _sure_around(found, reach))
    facts: list[pa.Array] = [pa.array(rows.is_sure)]
    for border in borders:
        for side in (0, 1):
            own = (reach.asked.since_us, reach.asked.until_us)[side]
            other = None if border is None else (border.since_us, border.until_us)[side]
            facts.append(instants_of([own if sure else other for sure in rows.is_sure.tolist()]))
    known = (reach.known_from_us, reach.known_to_us)
    facts += [instants_of([each] * rows.count) for each in known]
    for name, column in zip(FACTS, facts, strict=True):
        table = table.append_column(name, column)
    return table


def _sure_inside(found: LookedUp, reach: Reach) -> Interval | None:
    if found.inside is None or reach.lacks_rows(found.inside):
        return None
    return found.inside if reach.known.since_us < reach.known.until_us else None


def _sure_around(found: LookedUp, reach: Reach) -> Interval | None:
    """No interval is exact that reaches into time which is not known, or lacks rows."""
    if found.outside is None or reach.lacks_rows(found.outside):
        return None
    return found.outside if reach.is_whole else None


def instants_of(values: Sequence[int | None]) -> pa.Array:
    """Timestamps; what lies before or behind all time is NULL, before all events the year 1."""
    shown = [
        max(value, MIN_EVENT_TIME)
        if value is not None and START_OF_TIME < value < END_OF_TIME
        else None
        for value in values
    ]
    return pa.array(shown, pa.int64()).cast(TIMESTAMP.arrow)


def _values(aggregate: HistoryAggregate, answer: Answer) -> Bounded:
    asked = Aggregate(aggregate.function, aggregate.measure, aggregate.rank)
    value, low, high = answer.columns(asked)
    is_there = pa.array(_is_there(aggregate, answer))
    if value.type == aggregate.type.arrow:
        return Bounded(value, low, high, is_there)
    if aggregate.type.is_integer:
        value, low, high = (_integers(aggregate, value), *map(_within_64_bits, (low, high)))
    else:
        value, low, high = (side.cast(aggregate.type.arrow) for side in (value, low, high))
    return Bounded(value, low, high, is_there)


def _is_there(aggregate: HistoryAggregate, answer: Answer) -> Flags:
    """Where the true value is not NULL, whichever of the rows in doubt are in the interval."""
    if aggregate.traits.is_count:
        return np.ones(len(answer), np.bool_)
    if aggregate.traits.form is Form.QUANTILE:
        sketches = answer.sketches[f"{aggregate.measure}_{aggregate.function}"]
        return np.array([not each.is_empty() for each in sketches.inner], np.bool_)
    assert aggregate.measure is not None
    valid = answer.whole[VALID + WHOLE_STEP * answer.spec.measure_index(aggregate.measure)]
    sure: Flags = valid[EXACT::PARTS] >= aggregate.traits.fewest_values
    return sure


def _integers(aggregate: HistoryAggregate, sums: pa.Array) -> pa.Array:
    values = _within_64_bits(sums)
    if values.null_count > sums.null_count:
        raise DataError(
            "WD302",
            f"{aggregate.traits.show(str(aggregate.measure))} does not fit 64 bits",
            hint="use AVG, or a shorter interval; a DOUBLE measure has no such limit",
        )
    return values


def _within_64_bits(sums: pa.Array) -> pa.Array:
    """Integers from wide decimals; those beyond 64 bits are NULL."""
    whole = [None if value is None else int(value) for value in sums.to_pylist()]
    return pa.array([value if value in _INT64 else None for value in whole], pa.int64())


def _sketch_is_sure(aggregate: HistoryAggregate, answer: Answer, found: Bounded) -> Flags:
    """A sketch of few values has all of them."""
    sketches = answer.sketches[f"{aggregate.measure}_{aggregate.function}"]
    pairs = zip(sketches.inner, sketches.outer, strict=True)
    is_whole = np.array([inner is outer for inner, outer in pairs], np.bool_)
    if aggregate.traits.form is Form.QUANTILE:
        estimates = [bool(each.is_estimation_mode()) for each in sketches.outer]
        return is_whole & ~np.array(estimates, np.bool_)
    same: Flags = found.is_sure.to_numpy(zero_copy_only=False)
    return is_whole & same


def _open(aggregate: HistoryAggregate, found: Bounded) -> Bounded:
    """Where rows may be missing: more of them only raise a count, lower a least value.

    They bound what there is: where no row is sure, those that are missing may be all there are.
    """
    nothing = pa.nulls(len(found.value), found.value.type)
    none = pa.scalar(None, found.value.type)
    if aggregate.traits.is_count or aggregate.traits.is_greatest:
        return replace(found, low=pc.if_else(found.is_present, found.low, none), high=nothing)
    if aggregate.traits.form is Form.EXTREME:
        return replace(found, low=nothing, high=pc.if_else(found.is_present, found.high, none))
    return replace(found, low=nothing, high=nothing)
