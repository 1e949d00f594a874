"""Answers and changes of a continuous question about the past, kept until they are read."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.backlog import Backlog, joined_rows
from windrow.history.questions.bounds import Bounded
from windrow.history.questions.rows import AnswerRows, select_table
from windrow.output.change_limit import cut_between_instants
from windrow.output.unread_limit import UNREAD_BYTES
from windrow.plan.history_plan import HistoryPlan
from windrow.schema import TIMESTAMP
from windrow.service_levels import INCOMPLETE
from windrow.windows.undo_log import runs_of

__all__ = ["ANSWERS_LIMIT", "HistoryFeed", "feed_schemas", "rows_of_table"]

# Unread rows of answers and changes: beyond these answers are dropped, changes netted.
ANSWERS_LIMIT = 1_000_000
CHANGES_LIMIT = 1_000_000
# About what a row of Python values takes, and each value of it.
ROW_BYTES, VALUE_BYTES = 120, 40

Longs = NDArray[np.int64]
Row = tuple[Any, ...]


class HistoryFeed:
    """The result as it is, answers that are due, and changes that led to the result.

    Each answer that is due is an instant and a run of rows; the rows are kept once, however many
    instants they are the answer at. limit_bytes: for what nobody has read; limit_rows: of answers
    and of changes.
    """

    def __init__(
        self, plan: HistoryPlan, limit_bytes: int = UNREAD_BYTES, limit_rows: int | None = None
    ) -> None:
        self._plan, self._limit_bytes, self._limit_rows = plan, limit_bytes, limit_rows
        self._schema = pa.schema([(item.name, item.type.arrow) for item in plan.select])
        self.result = self._schema.empty_table()
        self._answer = self._empty_answer()
        self._answer_rows: Backlog[pa.Table] = Backlog(joined_rows)
        self._run: tuple[int, int] | None = None  # where the newest answer is in them, if it is
        self._due: Backlog[Longs] = Backlog(np.concatenate)  # instant, first row, number of rows
        self._first_due = 0  # the number of the first that was not dropped
        self._rows_due = 0
        self._changes: Backlog[pa.Table] = Backlog(joined_rows)
        self._shown: Counter[Row] = Counter()
        self._read: Counter[Row] = Counter()
        self._cut: pa.Table | None = None
        self.rows_lost = 0
        self.changes_netted = 0

    @property
    def parts(self) -> tuple[object, ...]:
        """All objects with attributes that a step changes."""
        return (self, self._answer_rows, self._due, self._changes)

    @property
    def nbytes(self) -> int:
        """Bytes held, those of the rows that were shown and read by and large."""
        rows = len(self._shown) + len(self._read)
        row_bytes = ROW_BYTES + VALUE_BYTES * len(self._schema)
        cut = 0 if self._cut is None else self._cut.nbytes
        return int(self._answer_bytes + self._changes.nbytes + cut + rows * row_bytes)

    @property
    def _answer_bytes(self) -> int:
        return self._answer_rows.nbytes + self._due.nbytes

    def show(self, at_us: int, rows: AnswerRows, *, changed: bool = True) -> None:
        """The answer from an instant on; changed: whether changes tell of it."""
        table, bounded = select_table(self._plan, rows)
        self.result = table
        self._answer = _with_bounds(self.result, rows, list(bounded.values()))
        self._run = None
        if not changed:
            return
        now = _counted(self.result)
        if now == self._shown:
            return
        self._changes.append(self._changes_table(at_us, self._shown, now))
        self._shown = now
        held = self._changes.end - self._changes.first
        if held > (self._limit_rows or CHANGES_LIMIT) or self._changes.nbytes > self._limit_bytes:
            self._net(at_us)

    @property
    def answer_now(self) -> pa.Table:
        """The answer that is due from now on, with its level and bound."""
        return self._answer

    def resume(self, result: pa.Table, answer: pa.Table, *, is_told: bool) -> None:
        """Stands where another stood, all of whose answers and changes have been read.

        is_told: whether changes have told of the result.
        """
        self.__init__(self._plan, self._limit_bytes, self._limit_rows)  # type: ignore[misc]
        self.result, self._answer = result, answer
        self._shown = self._read = _counted(result) if is_told else Counter()

    def preview(self, rows: AnswerRows) -> pa.Table:
        """What the result would be; nothing is recorded."""
        return select_table(self._plan, rows)[0]

    def answer(self, instants: Longs) -> None:
        """The answer as it is now is due at these instants, which are later than all before."""
        if not instants.size or not self._answer.num_rows:
            return
        if self._run is None:
            self._run = (self._answer_rows.end, self._answer.num_rows)
            self._answer_rows.append(self._answer)
        due = np.empty((instants.size, 3), np.int64)
        due[:, 0], due[:, 1:] = instants, self._run
        self._due.append(due)
        self._rows_due += instants.size * self._answer.num_rows
        while self._rows_due > (self._limit_rows or ANSWERS_LIMIT) or (
            self._answer_bytes > self._limit_bytes and self._due.end - self._first_due > 1
        ):
            self._lose_oldest()

    def answers(self) -> pa.Table:
        """Every answer since the last call: at, level, error_bound, then the select list."""
        due = np.concatenate([np.empty((0, 3), np.int64), *self._due.since(self._first_due)])
        first = int(due[0, 1]) if due.size else self._answer_rows.end
        rows = pa.concat_tables([self._empty_answer(), *self._answer_rows.since(first)])
        at = pa.array(np.repeat(due[:, 0], due[:, 2])).cast(TIMESTAMP.arrow)
        given = rows.take(pa.array(runs_of(due[:, 1] - first, due[:, 2])))
        table = given.add_column(0, "at", at)
        none: dict[str, Any] = {
            "_answer_rows": Backlog(joined_rows), "_due": Backlog(np.concatenate),
            "_run": None, "_first_due": 0, "_rows_due": 0,
        }  # fmt: skip
        vars(self).update(none)  # at once: whatever breaks off the read, all are read, or none
        return table

    def changes(self, limit: int | None = None) -> pa.Table:
        """Rows that came (+1) and went (-1) since the last call."""
        cut = [] if self._cut is None else [self._cut]
        none = self._changes_table(0, Counter(), Counter())
        held = pa.concat_tables([none, *cut, *self._changes.parts])
        end = held.num_rows if limit is None else cut_between_instants(held, limit)
        left = {
            "_changes": Backlog(joined_rows), "_read": self._shown,
            "_cut": joined_rows([held.slice(end)]) if end < held.num_rows else None,
        }  # fmt: skip
        vars(self).update(left)
        return held.slice(0, end)

    def _changes_table(self, at_us: int, before: Counter[Row], now: Counter[Row]) -> pa.Table:
        """The changes from some rows to others."""
        gone, come = list((before - now).elements()), list((now - before).elements())
        count = len(gone) + len(come)
        columns: dict[str, pa.Array] = {
            "at": pa.array(np.full(count, at_us)).cast(TIMESTAMP.arrow),
            "change": pa.array([-1] * len(gone) + [1] * len(come), pa.int8()),
        }
        for place, field in enumerate(self._schema):
            values = [_value(row[place]) for row in (*gone, *come)]
            columns[field.name] = pa.array(values, field.type)
        return pa.table(columns)

    def _net(self, at_us: int) -> None:
        """Changes that nobody reads become what they add up to."""
        net: Backlog[pa.Table] = Backlog(joined_rows)
        net.append(self._changes_table(at_us, self._read, self._shown))
        self.changes_netted += max(0, self._changes.end - self._changes.first - net.end)
        self._changes = net

    def _lose_oldest(self) -> None:
        """Let the older half of the answers go."""
        count = (self._due.end - self._first_due + 1) // 2
        gone = np.concatenate(self._due.since(self._first_due, self._first_due + count))
        self._first_due += count
        self._rows_due -= int(gone[:, 2].sum())
        self.rows_lost += int(gone[:, 2].sum())
        self._due.drop_before(self._first_due)
        rest = self._due.since(self._first_due)
        if rest:
            self._answer_rows.drop_before(int(rest[0][0, 1]))

    def _empty_answer(self) -> pa.Table:
        return pa.schema([*feed_schemas(self._plan)["answers"]][1:]).empty_table()


def feed_schemas(plan: HistoryPlan) -> dict[str, pa.Schema]:
    """The columns of answers, of changes and of the result."""
    columns = [pa.field(item.name, item.type.arrow) for item in plan.select]
    at = pa.field("at", TIMESTAMP.arrow)
    bounds = [pa.field("level", pa.string()), pa.field("error_bound", pa.float64())]
    return {
        "answers": pa.schema([at, *bounds, *columns]),
        "changes": pa.schema([at, pa.field("change", pa.int8()), *columns]),
        "result": pa.schema(columns),
    }


def rows_of_table(table: pa.Table) -> list[Row]:
    """The rows as they are counted: one NaN equals another."""
    return [*map(_row, zip(*(column.to_pylist() for column in table), strict=True))]


def _counted(result: pa.Table) -> Counter[Row]:
    return Counter(rows_of_table(result))


def _with_bounds(table: pa.Table, rows: AnswerRows, items: list[Bounded]) -> pa.Table:
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
