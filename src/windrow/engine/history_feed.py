"""Answers and changes of a continuous question about the past, kept until they are read."""

from __future__ import annotations

from collections import Counter, deque
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.engine.change_limit import cut_between_instants
from windrow.engine.history_bounds import Bounded
from windrow.engine.history_rows import AnswerRows, select_table
from windrow.plan.history_plan import HistoryPlan
from windrow.schema import TIMESTAMP
from windrow.service_levels import INCOMPLETE

__all__ = ["ANSWERS_LIMIT", "HistoryFeed"]

# Rows of answers that nobody reads: the newest so many are kept, the others counted as lost.
ANSWERS_LIMIT = 1_000_000
CHANGES_LIMIT = 1_000_000

Instants = NDArray[np.int64]
Row = tuple[Any, ...]


class HistoryFeed:
    """The result as it is, answers that are due, and changes that led to the result."""

    def __init__(self, plan: HistoryPlan) -> None:
        self._plan = plan
        self._schema = pa.schema([(item.name, item.type.arrow) for item in plan.select])
        self.result = self._schema.empty_table()
        self._judged = self._empty_answer()
        self._answers: deque[tuple[Instants, pa.Table]] = deque()
        self._rows_held = 0
        self._changes: list[tuple[int, int, Row]] = []
        self._shown: Counter[Row] = Counter()
        self._read: Counter[Row] = Counter()
        self._cut: pa.Table | None = None
        self.rows_lost = 0

    def show(self, at_us: int, rows: AnswerRows, *, changed: bool = True) -> None:
        """The answer from an instant on; changed: whether changes tell of it."""
        table, bounded = select_table(self._plan, rows)
        self.result = table
        self._judged = _judged(self.result, rows, list(bounded.values()))
        if not changed:
            return
        now = Counter(map(_row, zip(*(column.to_pylist() for column in self.result), strict=True)))
        gone, come = self._shown - now, now - self._shown
        self._changes += [(at_us, -1, row) for row in gone.elements()]
        self._changes += [(at_us, 1, row) for row in come.elements()]
        self._shown = now
        if len(self._changes) > CHANGES_LIMIT:
            self._net(at_us)

    def preview(self, rows: AnswerRows) -> pa.Table:
        """What the result would be; nothing is recorded."""
        return select_table(self._plan, rows)[0]

    def answer(self, instants: Instants) -> None:
        """The answer as it is now is due at these instants, which are later than all before."""
        if instants.size and self._judged.num_rows:
            self._answers.append((instants, self._judged))
            self._rows_held += instants.size * self._judged.num_rows
            self._forget_oldest()

    def answers(self) -> pa.Table:
        """Every answer since the last call: at, level, error_bound, then the select list."""
        given, self._answers, self._rows_held = self._answers, deque(), 0
        parts = [_at_each(instants, table) for instants, table in given]
        return pa.concat_tables([_at_each(np.empty(0, np.int64), self._empty_answer()), *parts])

    def changes(self, limit: int | None = None) -> pa.Table:
        """Rows that came (+1) and went (-1) since the last call."""
        fresh = self._taken_changes()
        held = fresh if self._cut is None else pa.concat_tables([self._cut, fresh])
        end = held.num_rows if limit is None else cut_between_instants(held, limit)
        self._cut = held.slice(end) if end < held.num_rows else None
        return held.slice(0, end)

    def _taken_changes(self) -> pa.Table:
        changes, self._changes = self._changes, []
        self._read = self._shown.copy()
        columns: dict[str, pa.Array] = {
            "at": pa.array([at_us for at_us, _, _ in changes], pa.int64()).cast(TIMESTAMP.arrow),
            "change": pa.array([sign for _, sign, _ in changes], pa.int8()),
        }
        for place, field in enumerate(self._schema):
            values = [_value(row[place]) for _, _, row in changes]
            columns[field.name] = pa.array(values, field.type)
        return pa.table(columns)

    def _net(self, at_us: int) -> None:
        """Changes that nobody reads become what they add up to."""
        gone, come = self._read - self._shown, self._shown - self._read
        self._changes = [(at_us, -1, row) for row in gone.elements()]
        self._changes += [(at_us, 1, row) for row in come.elements()]

    def _forget_oldest(self) -> None:
        while self._rows_held > ANSWERS_LIMIT:
            instants, table = self._answers.popleft()
            excess = self._rows_held - ANSWERS_LIMIT
            gone = min(instants.size, -(-excess // table.num_rows))
            if gone < instants.size:
                self._answers.appendleft((instants[gone:], table))
            self.rows_lost += gone * table.num_rows
            self._rows_held -= gone * table.num_rows

    def _empty_answer(self) -> pa.Table:
        fields = [("level", pa.string()), ("error_bound", pa.float64()), *self._schema]
        return pa.schema(fields).empty_table()


def _at_each(instants: Instants, table: pa.Table) -> pa.Table:
    """The same rows at each instant."""
    rows = np.tile(np.arange(table.num_rows), instants.size)
    at = pa.array(np.repeat(instants, table.num_rows)).cast(TIMESTAMP.arrow)
    return table.take(pa.array(rows, pa.int64())).add_column(0, "at", at)


def _judged(table: pa.Table, rows: AnswerRows, items: list[Bounded]) -> pa.Table:
    """The rows with their level and, where they are in doubt, the largest relative error."""
    errors = np.zeros(rows.count)
    for item in items if not rows.is_sure.all() else ():
        errors = np.maximum(errors, _relative_errors(item))
    doubtful = INCOMPLETE if rows.lacks_rows else "B"
    levels = pa.array(np.where(rows.is_sure, "A", doubtful), pa.string())
    table = table.add_column(0, "level", levels)
    return table.add_column(1, "error_bound", pa.array(errors, mask=rows.is_sure))


def _relative_errors(item: Bounded) -> NDArray[np.float64]:
    """|value - true| / |true| at most; infinite where nothing is known, or 0 or NULL is true."""
    value, low, high = (_doubles(side) for side in (item.value, item.low, item.high))
    with np.errstate(all="ignore"):
        farthest = np.maximum(value - low, high - value)
        least = np.where(low * high > 0, np.minimum(np.abs(low), np.abs(high)), 0.0)
        errors = np.where(farthest > 0, farthest / least, 0.0)
    there = item.is_present.to_numpy(zero_copy_only=False)
    unknown = ~(np.isfinite(low) & np.isfinite(high) & there)
    sure: NDArray[np.bool_] = item.is_sure.to_numpy(zero_copy_only=False)
    found: NDArray[np.float64] = np.where(sure, 0.0, np.where(unknown, np.inf, errors))
    return found


def _doubles(column: pa.Array) -> NDArray[np.float64]:
    values = column.to_pylist()
    if not pa.types.is_decimal(column.type) and not _is_number(column.type):
        return np.full(len(values), np.nan)
    return np.array([np.nan if value is None else float(value) for value in values])


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _row(values: Row) -> Row:
    """The values with one NaN, which equals itself."""
    return tuple(_NAN if value != value else value for value in values)


def _value(value: Any) -> Any:
    return float("nan") if value is _NAN else value


_NAN = object()
