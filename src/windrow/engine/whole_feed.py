"""The feed of an ungrouped aggregate: one row that changes, or none while HAVING is false.

The same as Feed with one entity, in a third of the memory: touch and row have the same number, the
row before a touch is that of the touch before it, and what both readers have read is cut off in
front.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.engine import kernels
from windrow.engine.due_instants import DueInstants
from windrow.engine.feed_columns import equal_rows, timestamps, with_answer_columns
from windrow.engine.row_log import RowLog

__all__ = ["WholeFeed"]

# What is kept for a reader that does not come: beyond it changes are netted and answers let go.
TOUCHES_LIMIT = 1_000_000
# Rows that both have read are cut off when they are this many.
ROWS_LET_BE = 65_536

Vector = NDArray[np.int64]
NONE: Vector = np.empty(0, np.int64)


class WholeFeed:
    """The row of an ungrouped aggregate over time. Numbers of touches count from `_first`."""

    def __init__(self, schema: pa.Schema) -> None:
        self._log = RowLog(schema)
        self._at: list[Vector] = []
        self._present: list[NDArray[np.bool_]] = []
        self._answered = -1  # the last touch that answers() has gone over; -1: none
        self._told = -1  # the last touch that changes() has told
        self._due = DueInstants()

    def record(self, at: Vector, _entity: NDArray[np.int32], many: Vector, rows: pa.Table) -> None:
        """Take touches in time order; row i of `rows` is what touch i shows, if many[i] is 1."""
        if at.size:
            self._log.append(rows)
            self._at.append(at)
            self._present.append(many > 0)

    def ask(self, instants: Vector) -> None:
        """An answer is due at each of these instants, all later than those asked for before."""
        self._due.add(instants)

    @property
    def instants_lost(self) -> int:
        """Answers that were due but let go because nobody read them for too long."""
        return self._due.lost

    @instants_lost.setter
    def instants_lost(self, count: int) -> None:
        self._due.lost = count

    def settle(self) -> None:
        """Keep within the limits: called after touches and instants of a step are in."""
        last = self._log.size - 1
        if last - self._answered > TOUCHES_LIMIT:
            self._due.lose()
            self._answered = last
        if last - self._told > TOUCHES_LIMIT:
            self._net_changes()
        read = min(self._answered, self._told)
        if read > ROWS_LET_BE and 2 * read > self._log.size:
            self._keep([], read, self._answered - read, self._told - read)

    def answers(self) -> pa.Table:
        """The answers at all instants asked for since the last call."""
        instants = self._due.take()
        start = self._answered + 1
        at = self._since(self._at, start)
        number = np.empty(instants.size, np.int64)
        kernels.latest_touch(instants, at, start - 1, number)
        self._answered = self._log.size - 1
        shown = self._is_present(number)
        if not shown.all():
            instants, number = instants[shown], number[shown]
        return with_answer_columns(instants, self._log.take(number))

    def changes(self) -> pa.Table:
        """Rows that came and went since the last call."""
        return self.first_changes(self._log.size - 1 - self._told)

    def unread_changes(self) -> Vector:
        """The times of the touches whose changes nobody has read."""
        return self._since(self._at, self._told + 1)

    def first_changes(self, count: int) -> pa.Table:
        """Rows that came and went by the first `count` touches that nobody has read."""
        number = np.arange(self._told + 1, self._told + 1 + count)
        at = self.unread_changes()[:count]
        self._told += count
        goes, comes = self._is_present(number - 1), self._is_present(number)
        both = np.flatnonzero(goes & comes)
        same = equal_rows(self._log.take(number[both] - 1), self._log.take(number[both]))
        goes[both[same]] = comes[both[same]] = False
        told = np.stack([goes, comes], axis=1).ravel()
        rows = np.stack([number - 1, number], axis=1).ravel()[told]
        signs = np.tile(np.array([-1, 1], np.int8), number.size)[told]
        table = self._log.take(rows)
        columns = [timestamps(np.repeat(at, 2)[told]), pa.array(signs), *table.columns]
        return pa.Table.from_arrays(columns, names=["at", "change", *table.schema.names])

    def drop_answers(self) -> None:
        """Nobody will read the answers that are due: let them go without counting them as lost."""
        self._due.drop()
        self._answered = self._log.size - 1

    def drop_changes(self) -> None:
        """Nobody will read the changes so far."""
        self._told = self._log.size - 1

    def result(self) -> pa.Table:
        """The row now."""
        number = np.array([self._log.size - 1], np.int64)
        return self._log.take(number[self._is_present(number)])

    def entities_in_use(self) -> NDArray[np.bool_]:
        """The one entity is always in use."""
        return np.ones(1, np.bool_)

    def tables(self) -> dict[str, pa.Table]:
        """Everything that it holds, for saving; what both have read goes first."""
        read = min(self._answered, self._told)
        if read > 0:
            self._keep([], read, self._answered - read, self._told - read)
        cursors = {"answered": [self._answered], "told": [self._told]}
        return {
            "rows": self._log.table(),
            "touches": pa.table({"at": _joined(self._at), "present": self._all_present()}),
            "instants": pa.table({"instant": self._due.all()}),
            "cursors": pa.table(cursors),
        }

    def load(self, tables: Mapping[str, pa.Table], _new_code: NDArray[np.int32]) -> None:
        """Back from tables()."""
        self._log.append(tables["rows"])
        self._at = [tables["touches"].column("at").to_numpy()]
        self._present = [tables["touches"].column("present").to_numpy()]
        self._due.add(tables["instants"].column("instant").to_numpy())
        self._answered = tables["cursors"].column("answered")[0].as_py()
        self._told = tables["cursors"].column("told")[0].as_py()

    def _is_present(self, number: Vector) -> NDArray[np.bool_]:
        present = self._all_present()
        if present.size == 0 or number.size == 0:
            return np.zeros(number.size, np.bool_)
        shown: NDArray[np.bool_] = present[number]
        shown[number < 0] = False
        return shown

    def _all_present(self) -> NDArray[np.bool_]:
        if len(self._present) > 1:
            self._present = [np.concatenate(self._present)]
        return self._present[0] if self._present else np.empty(0, np.bool_)

    def _since(self, parts: list[Vector], start: int) -> Vector:
        """The entries from number `start` on."""
        later = []
        before = 0
        for part in parts:
            if before + part.size > start:
                later.append(part[max(0, start - before) :])
            before += part.size
        return _joined(later)

    def _net_changes(self) -> None:
        """Put one change in the place of those nobody has read: to the row that answers() knows.

        What comes after that row stays as it is.
        """
        told = [self._told] if self._told >= 0 else []
        start = max(self._answered, self._told + 1)
        answered = len(told) + self._answered - start
        self._keep(told, start, answered, len(told) - 1)

    def _keep(self, few: list[int], start: int, answered: int, told: int) -> None:
        """Forget all touches but a few and those from `start` on; the readers stand there now."""
        numbers = np.concatenate([np.array(few, np.int64), np.arange(start, self._log.size)])
        first = [self._since(self._at, number)[:1] for number in few]
        at, present = _joined([*first, self._since(self._at, start)]), self._all_present()[numbers]
        rows = self._log.take(numbers).combine_chunks()
        self._log = RowLog(rows.schema)
        self._log.append(rows)
        self._at, self._present = [at], [present]
        self._answered, self._told = answered, told


def _joined(parts: list[Vector]) -> Vector:
    if len(parts) == 1:
        return parts[0]
    return np.concatenate(parts) if parts else NONE
