"""Progressive answers: from coarse nodes first, then finer ones, with bounds that only tighten."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from windrow.history.aggregates import Aggregate
from windrow.history.answers.answer import Answer
from windrow.history.history import History

__all__ = ["ProgressiveStep", "progressive"]

Bounds = tuple[Any, Any]


@dataclass(frozen=True)
class ProgressiveStep:
    """An answer from nodes of this granularity and coarser ones; None: from rows too.

    table: as that of the answer, its bounds cut to those of all steps before.
    """

    granularity_us: int | None
    answer: Answer
    table: pa.Table


def progressive(
    history: History, since_us: int, until_us: int, aggregates: Sequence[Aggregate],
    *, names: Sequence[str] | None = None, keys: pa.Table | None = None, total: bool = False,
    at_us: int | None = None,
) -> Iterator[ProgressiveStep]:  # fmt: skip
    """Answers from the coarsest level down to the finest that is wanted; ends when one is exact."""
    names = [each.label for each in aggregates] if names is None else names
    finest = None if at_us is None else history.spec.level_index(at_us)
    levels: list[int | None] = list(range(len(history.spec.levels) - 1, (finest or 0) - 1, -1))
    known: dict[tuple[Any, ...], Bounds] = {}
    for level in levels if finest is not None else [*levels, None]:
        granularity_us = None if level is None else history.spec.granularities_us[level]
        answer = history.snapshot(since_us, until_us, at_us=granularity_us, keys=keys, total=total)
        table = _tightened(answer.table(aggregates, names), names, known)
        yield ProgressiveStep(granularity_us, answer, table)
        if answer.is_exact:
            return


def _tightened(
    table: pa.Table, names: Sequence[str], known: dict[tuple[Any, ...], Bounds]
) -> pa.Table:
    """The table with bounds no wider than those known, which become those of the table."""
    shown = {f"{name}{ending}" for name in names for ending in ("", "_low", "_high")}
    keys = [name for name in table.column_names if name not in shown]
    groups = list(zip(*(_hashable(table.column(key)) for key in keys), strict=True))
    groups = groups or [()] * table.num_rows
    for name in names:
        columns = [table.column(name + ending).to_pylist() for ending in ("_low", "", "_high")]
        for row, group in enumerate(groups):
            low, value, high = (column[row] for column in columns)
            before = known.get((name, *group))
            if before is not None and low is not None:
                low = max(low, before[0], key=_order)
                high = min(high, before[1], key=_order)
                value = min(max(value, low, key=_order), high, key=_order)
            if low is not None:
                known[(name, *group)] = (low, high)
            for column, each in zip(columns, (low, value, high), strict=True):
                column[row] = each
        for ending, column in zip(("_low", "", "_high"), columns, strict=True):
            place = table.column_names.index(name + ending)
            kind = table.schema.field(place).type
            table = table.set_column(place, name + ending, pa.array(column, kind))
    return table


def _hashable(column: pa.ChunkedArray) -> list[Any]:
    """Values that are equal where the keys are: a NaN is equal to itself."""
    return ["NaN" if value != value else value for value in column.to_pylist()]


def _order(value: Any) -> tuple[bool, Any]:
    """NaN is larger than all others."""
    return (True, 0) if value != value else (False, value)
