"""A history as points of a chart: one interval after the other, no finer than is still known."""

from __future__ import annotations

from collections.abc import Iterator
from typing import SupportsFloat

import numpy as np
import pyarrow as pa

from windrow.aggregate_functions import COUNT, GREATEST, LEAST, MEAN, SUM
from windrow.errors import BindingError
from windrow.event_time import END_OF_TIME, START_OF_TIME
from windrow.history.adaptive_tree import AdaptiveTree
from windrow.history.answers.answer import Answer
from windrow.history.history import History
from windrow.history.operator import HistoryOperator
from windrow.history.tree_nodes import first_start_us, tree_nodes
from windrow.plan.history_schema import HistorySchema

__all__ = [
    "SERIES_SCHEMA",
    "group_keys",
    "held_interval",
    "point_of",
    "points_of",
    "series_of",
    "shape_table",
]

SERIES_SCHEMA = pa.schema(
    [
        ("from_us", pa.int64()),
        ("to_us", pa.int64()),
        ("count", pa.int64()),
        ("sum", pa.float64()),
        ("mean", pa.float64()),
        ("min", pa.float64()),
        ("max", pa.float64()),
        ("lower", pa.float64()),  # of the mean, or of the count where no measure is asked for
        ("upper", pa.float64()),
        ("exact", pa.bool_()),
    ]
)
# Columns that stand behind the count of a point, and what they show.
_SHOWN = tuple(zip(SERIES_SCHEMA.names[3:7], (SUM, MEAN, LEAST, GREATEST), strict=True))


def series_of(
    operator: HistoryOperator,
    measure: str | None,
    since_us: int | None,
    until_us: int | None,
    points: int,
    keys: pa.Table | None = None,
) -> pa.Table:
    """At most about this many intervals of what is known; those without rows are omitted.

    keys: one group; None: all of them together. Intervals begin and end where nodes do, and get
    longer where only coarser nodes are left.
    """
    held_from_us, held_to_us = held_interval(operator.history)
    since_us = held_from_us if since_us is None else max(since_us, held_from_us)
    until_us = held_to_us if until_us is None else min(until_us, held_to_us)
    rows = []
    for answer in points_of(operator.history, since_us, until_us, points, keys):
        row = point_of(answer, measure)
        if operator.missed.meets(answer.asked.since_us, answer.asked.until_us - 1):
            row |= {"exact": False, "lower": None, "upper": None}
        rows.append(row)
    return pa.Table.from_pylist(rows, schema=SERIES_SCHEMA)


def points_of(
    history: History, since_us: int, until_us: int, points: int, keys: pa.Table | None
) -> Iterator[Answer]:
    """An answer for each interval of a chart in which there are rows, oldest first."""
    for begin_us, end_us in _intervals(history, since_us, until_us, max(1, points)):
        answer = history.snapshot(begin_us, end_us, keys=keys, total=keys is None)
        if len(answer) and answer.bounds(COUNT.name).value:
            yield answer


def shape_table(operator: HistoryOperator, keys: pa.Table | None = None) -> pa.Table:
    """The nodes of one group's tree, or of all laid over each other."""
    history = operator.history
    if keys is None:
        return tree_nodes(_tree(history), history.spec)
    columns = {name: keys.column(name) for name in keys.column_names}
    with history.groups.found(columns) as codes:
        return tree_nodes(_tree(history), history.spec, codes)


def group_keys(schema: HistorySchema, values: list[str]) -> pa.Table | None:
    """The keys of one group from texts, in the order of its key columns; none of them: None."""
    columns = schema.keys
    if not values:
        return None
    names = ", ".join(column.name for column in columns) or "none"
    if len(values) != len(columns):
        raise BindingError(
            "WB326",
            f"a group of this history has {len(columns)} keys, {len(values)} were given",
            hint=f"its keys are: {names}",
        )
    try:
        arrays = [
            pa.array([value]).cast(column.type.arrow)
            for value, column in zip(values, columns, strict=True)
        ]
    except pa.ArrowInvalid as problem:
        raise BindingError(
            "WB326", f"there is no such group: {problem}", hint=f"its keys are: {names}"
        ) from None
    return pa.table(arrays, names=[column.name for column in columns])


def held_interval(history: History) -> tuple[int, int]:
    """From the first node to where the history is complete; the same instant where it is empty."""
    first_us, now_us = first_start_us(_tree(history)), history.now_us
    if first_us is None or not START_OF_TIME < now_us < END_OF_TIME:
        return 0, 0
    return first_us, now_us + 1


def _tree(history: History) -> AdaptiveTree:
    assert isinstance(history.storage, AdaptiveTree)
    return history.storage


def _intervals(
    history: History, since_us: int, until_us: int, points: int
) -> Iterator[tuple[int, int]]:
    """Whole nodes of every region, at least as long as the points want, oldest first."""
    regions, steps_us = history.storage.regions, history.spec.granularities_us
    wanted_us = max(1, -(-(until_us - since_us) // points))
    for region, begin_us, end_us in reversed(regions.parts(since_us, until_us)):
        grain_us = steps_us[regions.levels[region]]
        width_us = -(-wanted_us // grain_us) * grain_us
        floor_us = max(begin_us // grain_us * grain_us, regions.horizons_us[region])
        start_us = begin_us // width_us * width_us
        for at_us in np.arange(start_us, end_us, width_us).tolist():
            first_us, last_us = max(at_us, floor_us), at_us + width_us
            if region:
                last_us = min(last_us, regions.horizons_us[region - 1])
            if first_us < last_us:
                yield first_us, last_us


def point_of(answer: Answer, measure: str | None) -> dict[str, object]:
    """An answer about one interval as a row of a series."""
    count = answer.bounds(COUNT.name)
    row: dict[str, object] = {
        "from_us": answer.asked.since_us,
        "to_us": answer.asked.until_us,
        "count": count.value,
        "exact": answer.is_exact,
    }
    if measure is None:
        return row | {"lower": _real(count.low), "upper": _real(count.high)}
    for name, function in _SHOWN:
        row[name] = _real(answer.bounds(function.name, measure).value)
    mean = answer.bounds(MEAN.name, measure)
    return row | {"lower": _real(mean.low), "upper": _real(mean.high)}


def _real(value: SupportsFloat | None) -> float | None:
    return None if value is None else float(value)
