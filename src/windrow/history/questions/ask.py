"""A query about the past and its answer, at once or coarse first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from windrow.history.operator import HistoryOperator, Reach
from windrow.history.questions.bounds import Bounded
from windrow.history.questions.lookup import arranged, look_up
from windrow.history.questions.rows import AnswerRows, rows_of, table_of
from windrow.plan.history_plan import HistoryPlan

__all__ = ["ask", "ask_progressively"]

Known = dict[tuple[Any, ...], tuple[Any, Any]]


def ask(operator: HistoryOperator, plan: HistoryPlan) -> pa.Table:
    """The select list, then bounds of its aggregates and what is exact."""
    return _answer(operator, plan, operator.reach(plan.since_us, plan.until_us), plan.at_us, None)


def ask_progressively(operator: HistoryOperator, plan: HistoryPlan) -> Iterator[pa.Table]:
    """Answers from the coarsest level down, to one that is exact; bounds only tighten.

    NOW is when the first one is asked for. Rows that come meanwhile are not in the answers, but
    may leave what they are mixed with in doubt.
    """
    reach = operator.reach(plan.since_us, plan.until_us)
    known: Known = {}
    for at_us in _levels(plan):
        table = _answer(operator, plan, reach, at_us, known)
        yield table
        if pc.all(table.column("exact"), min_count=0).as_py():
            return


def _levels(plan: HistoryPlan) -> list[int | None]:
    finest = plan.at_us or 0
    levels: list[int | None] = [
        granularity_us
        for granularity_us in reversed(plan.history.granularities_us)
        if granularity_us >= finest
    ]
    return levels if plan.at_us is not None else [*levels, None]


def _answer(
    operator: HistoryOperator,
    plan: HistoryPlan,
    reach: Reach,
    at_us: int | None,
    known: Known | None,
) -> pa.Table:
    found = look_up(operator, plan, reach.known, at_us)
    rows = rows_of(plan, arranged(plan, found, operator.history), reach)
    if known is not None:
        rows = _tightened(rows, known)
    return table_of(plan, rows, found, reach)


def _tightened(rows: AnswerRows, known: Known) -> AnswerRows:
    """Rows with bounds no wider than those known, which become those of the rows."""
    columns = [[_hashable(value) for value in column.to_pylist()] for column in rows.groups]
    groups: list[tuple[Any, ...]] = list(zip(*columns, strict=True)) or [()] * rows.count
    aggregates = []
    for index, each in enumerate(rows.aggregates):
        shown = list(
            zip(*(side.to_pylist() for side in (each.value, each.low, each.high)), strict=True)
        )
        cut = [
            _cut(known, (index, *group), *triple)
            for group, triple in zip(groups, shown, strict=True)
        ]
        value, low, high = (
            pa.array([row[side] for row in cut], each.value.type) for side in range(3)
        )
        aggregates.append(Bounded(value, low, high, each.is_there))
    return replace(rows, aggregates=tuple(aggregates))


def _cut(
    known: Known, group: tuple[Any, ...], value: Any, low: Any, high: Any
) -> tuple[Any, Any, Any]:
    before = known.get(group, (None, None))
    low = max((each for each in (low, before[0]) if each is not None), key=_order, default=None)
    high = min((each for each in (high, before[1]) if each is not None), key=_order, default=None)
    known[group] = (low, high)
    if value is not None and low is not None:
        value = max(value, low, key=_order)
    if value is not None and high is not None:
        value = min(value, high, key=_order)
    return value, low, high


def _hashable(value: Any) -> Any:
    """A NaN is equal to itself in keys."""
    return "NaN" if value != value else value


def _order(value: Any) -> tuple[bool, Any]:
    """NaN is larger than all others."""
    return (True, 0) if value != value else (False, value)
