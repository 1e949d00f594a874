"""The feed of an ungrouped aggregate: one row that changes, or none while HAVING is false.

The same as Feed with one group, in a third of the memory: an update is a row, the row before it is
that of the update before it, and what both readers have read is cut off in front.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.backlog import Backlog, joined_rows
from windrow.output import kernels
from windrow.output.due_instants import DueInstants
from windrow.output.feed import StateFeed
from windrow.output.feed_columns import equal_rows, timestamps, with_answer_columns
from windrow.output.row_log import taken_rows
from windrow.output.state_log import States
from windrow.output.unread_limit import UNREAD_BYTES

__all__ = ["WholeFeed", "ones"]

# What is buffered for an absent reader: beyond it changes are netted and answers dropped.
UPDATES_LIMIT = 1_000_000
# Answers from more parts than this are read from all of them joined.
FEW_PARTS = 4

Vector = NDArray[np.int64]
NONE: Vector = np.empty(0, np.int64)
NO_GROUPS: NDArray[np.int32] = np.empty(0, np.int32)


@dataclass(frozen=True)
class RowStates:
    """Updates in time order: the row from then on, and whether the result has it.

    rows: as states, as long as they can be made into rows when they are read.
    """

    at: Vector
    present: NDArray[np.bool_]
    rows: pa.Table | States

    def __len__(self) -> int:
        return self.at.size

    def __getitem__(self, places: slice) -> RowStates:
        return RowStates(self.at[places], self.present[places], self.rows[places])

    @property
    def nbytes(self) -> int:
        """Bytes of times, flags and rows."""
        return int(self.at.nbytes + self.present.nbytes + self.rows.nbytes)


class WholeFeed(StateFeed):
    """The row of an ungrouped aggregate over time.

    Its net change is that of one row, so that changes never start over.
    """

    starts_over = False

    def __init__(self, schema: pa.Schema, rows_of: Callable[[States], pa.Table]) -> None:
        self._rows_of = rows_of
        self._none = RowStates(NONE, np.empty(0, np.bool_), schema.empty_table())
        self._no_answers = with_answer_columns(NONE, schema.empty_table())
        self._updates: Backlog[RowStates] = Backlog(self._joined)
        self._answered = -1  # the last update that answers() has gone over; -1: none
        self._told = -1  # the last update that changes() has told
        # What changes() returned last, if that is another row than that of the last one returned.
        self._told_apart: RowStates | None = None
        self.has_told = False  # whether changes() was ever read
        self.changes_netted = 0
        self._due = DueInstants()

    @property
    def parts(self) -> tuple[object, ...]:
        """All objects with attributes that a step changes."""
        return (self, self._updates, self._due, self._due.instants)

    def begin_step(self) -> None:
        """Nothing is ever written over in place."""

    def undo_step(self) -> None:
        """There is nothing to write back."""

    def derive(self) -> None:
        """There is nothing to find again."""

    def record(
        self, at: Vector, group: NDArray[np.int32], many: Vector, rows: pa.Table | States
    ) -> None:
        """Take updates in time order; row i of `rows` is what update i shows, if many[i] is 1."""
        del group  # there is one
        if isinstance(rows, States):
            rows = replace(rows, group=NO_GROUPS)
        self._updates.append(RowStates(at, many > 0, rows))

    def ask(self, instants: Vector) -> None:
        """An answer is due at each of these instants, all later than the previous ones."""
        self._due.add(instants)

    def due_instants(self) -> Vector:
        """The instants at which answers are due."""
        return self._due.all()

    @property
    def instants_lost(self) -> int:
        """Answers that were due but dropped because nobody read them for too long."""
        return self._due.lost

    @instants_lost.setter
    def instants_lost(self, count: int) -> None:
        self._due.lost = count

    def trim(self, limit_bytes: int = UNREAD_BYTES) -> None:
        """Keep within the limits: called after updates and instants of a step are in."""
        if self._last - self._answered > UPDATES_LIMIT:
            self._due.lose()
            self._answered = self._last
        if self._last - self._told > UPDATES_LIMIT:
            self._net_changes()
        self._compact()
        self.keep_within(limit_bytes)

    def answers(self) -> pa.Table:
        """The answers at all instants asked for since the last call."""
        if self._due.instants.end == self._due.next:
            self._move_on(_answered=self._last)
            return self._no_answers
        instants, due = self._due.all(), self._due.after_all()
        parts = self._updates.since(max(self._answered, 0))
        if len(parts) > FEW_PARTS:
            parts = [self._joined(parts)]
        table = self._answers_at(instants, parts)
        self._move_on(_answered=self._last, _due=due)
        return table

    def _answers_at(self, instants: Vector, parts: list[RowStates]) -> pa.Table:
        """What updates show at instants; nothing before the first of them."""
        starts = [int(np.searchsorted(instants, part.at[0])) for part in parts]
        at, rows = [NONE], [self._none.rows]
        for part, first, end in zip(parts, starts, [*starts[1:], instants.size], strict=True):
            chosen = instants[first:end]
            number = np.empty(chosen.size, np.int64)
            kernels.latest_update(chosen, part.at, -1, number)
            if not part.present.all():
                shown = part.present[number]
                chosen, number = chosen[shown], number[shown]
            at.append(chosen)
            rows.append(self._taken(part.rows, number))
        return with_answer_columns(np.concatenate(at), pa.concat_tables(rows))

    def changes(self) -> pa.Table:
        """Rows that came and went since the last call."""
        return self.first_changes(self._last - self._told)

    def unread_changes(self) -> Iterator[Vector]:
        """The times of the updates whose changes nobody has read, in parts."""
        return (part.at for part in self._updates.since(self._told + 1))

    def first_changes(self, count: int) -> pa.Table:
        """Rows that came and went by the first `count` updates that nobody has read."""
        updates, before = self._after(self._told, self._told + 1 + count, self._told_apart)
        number = np.arange(before, before + count)
        comes = updates.present[number]
        goes = np.concatenate([np.zeros(1 - before, np.bool_), updates.present])[:count]
        both = number[goes & comes]
        rows = self._table(updates.rows)
        same = equal_rows(rows.take(pa.array(both - 1)), rows.take(pa.array(both)))
        goes[both[same] - before] = comes[both[same] - before] = False
        told = np.stack([goes, comes], axis=1).ravel()
        chosen = np.stack([number - 1, number], axis=1).ravel()[told]
        signs = np.tile(np.array([-1, 1], np.int8), count)[told]
        table = rows.take(pa.array(chosen))
        columns = [timestamps(np.repeat(updates.at[number], 2)[told]), pa.array(signs)]
        names = ["at", "change", *table.schema.names]
        given = pa.Table.from_arrays([*columns, *table.columns], names=names)
        if count:
            self._move_on(_told=self._told + count, _told_apart=None, has_told=True)
        self.has_told = True
        return given

    def drop_answers(self) -> None:
        """Nobody will read the answers that are due: let them go without counting them as lost."""
        self._due.drop()
        self._move_on(_answered=self._last)

    def begin_over(self, at_us: int) -> None:
        """The next changes are all rows of the result."""
        raise AssertionError(f"at {at_us}: one row never starts over")

    def drop_changes(self) -> None:
        """Nobody will read the changes so far."""
        self._move_on(_told=self._last, _told_apart=None)

    def result(self) -> pa.Table:
        """The row now."""
        now = self._viewed([self._none, *self._updates.since(self._last)])
        return self._table(now.rows).slice(0, int(np.count_nonzero(now.present)))

    def groups_shown(self) -> NDArray[np.bool_]:
        """Which have a row now."""
        return self.groups_in_use()

    def groups_in_use(self) -> NDArray[np.bool_]:
        """The one group is always in use."""
        return np.ones(1, np.bool_)

    def tables(self) -> dict[str, pa.Table]:
        """Everything that it holds, for saving; what both have read goes first."""
        start = max(0, min(self._answered, self._told))
        apart = [self._none]
        if self._told_apart is not None:  # answers() has read what comes after it
            apart, start = [self._told_apart], self._told + 1
        saved = self._joined([*apart, *self._updates.since(start)])
        start -= len(apart[0])
        cursors = {"answered": [self._answered - start], "told": [self._told - start]}
        return {
            "rows": self._table(saved.rows),
            "touches": pa.table({"at": saved.at, "present": saved.present}),
            "instants": pa.table({"instant": self._due.all()}),
            "cursors": pa.table(cursors),
        }

    def load(self, tables: Mapping[str, pa.Table], new_code: NDArray[np.int32]) -> None:
        """Back from tables()."""
        del new_code  # the one group has no code
        updates = tables["touches"]
        at, present = (updates.column(name).to_numpy() for name in ("at", "present"))
        self._updates.append(RowStates(at, present, tables["rows"]))
        self._due.add(tables["instants"].column("instant").to_numpy())
        self._answered = tables["cursors"].column("answered")[0].as_py()
        self._told = tables["cursors"].column("told")[0].as_py()

    @property
    def _last(self) -> int:
        """The number of the last update."""
        return self._updates.end - 1

    def _after(
        self, number: int, until: int | None = None, apart: RowStates | None = None
    ) -> tuple[RowStates, int]:
        """The updates after that number, with the one before them in front; whether there is one.

        apart: comes before them in the place of update `number`.
        """
        if apart is not None:
            return self._viewed([apart, *self._updates.since(number + 1, until)]), 1
        updates = self._viewed([self._none, *self._updates.since(max(number, 0), until)])
        return updates, 1 if number >= 0 else 0

    def _viewed(self, parts: list[RowStates]) -> RowStates:
        """All updates of the parts, to be read at once: tables stay where they are."""
        return self._of_all(parts, pa.concat_tables)

    def _joined(self, parts: list[RowStates]) -> RowStates:
        """All updates of the parts, of which there is at least one, in memory of their own."""
        return self._of_all(parts, joined_rows)

    def _of_all(
        self, parts: list[RowStates], join: Callable[[list[pa.Table]], pa.Table]
    ) -> RowStates:
        at = np.concatenate([part.at for part in parts])
        present = np.concatenate([part.present for part in parts])
        filled = [part.rows for part in parts if len(part)]
        states = [rows for rows in filled if isinstance(rows, States)]
        if states and len(states) == len(filled) and len({each.layout for each in states}) == 1:
            return RowStates(at, present, States.joined(states))
        return RowStates(at, present, join([self._table(part.rows) for part in parts]))

    def _table(self, rows: pa.Table | States) -> pa.Table:
        return self._rows_of(rows) if isinstance(rows, States) else rows

    def _taken(self, rows: pa.Table | States, numbers: Vector) -> pa.Table:
        """Rows of these numbers, which rise."""
        if not isinstance(rows, States):
            return taken_rows(rows, numbers)
        return self._rows_of(rows[numbers]) if numbers.size else self._none.rows

    def _net_changes(self) -> None:
        """Put one change in the place of those nobody has read: to the row that answers() knows.

        What comes after that row stays as it is.
        """
        start = max(self._answered, self._told + 1)
        if start > self._told + 1:
            if self._told_apart is None:
                known = self._updates.since(max(self._told, 0), max(self._told, 0) + 1)[0]
                present = known.present & (self._told >= 0)
                self._told_apart = self._joined([replace(known, present=present)])
            self.changes_netted += start - 1 - self._told
            self._told = start - 1

    @property
    def nbytes(self) -> int:
        """Bytes of rows and instants."""
        apart = 0 if self._told_apart is None else self._told_apart.nbytes
        return self._updates.nbytes + self._due.nbytes + apart

    def growth_bytes(self, groups: int) -> int:
        """Bytes that tables of groups need: there are none."""
        del groups
        return 0

    @property
    def _instant_bytes(self) -> int:
        return self._due.nbytes

    def _result_bytes(self) -> int:
        return (
            sum(part.nbytes for part in self._updates.since(self._last)) if self._last >= 0 else 0
        )

    def _unread_updates(self) -> tuple[int, int]:
        # Changes are netted to the row that answers() knows, and not beyond.
        return self._last - self._answered, max(0, self._answered - self._told - 1)

    def _compact(self) -> None:
        self._updates.drop_before(self._first_needed)

    def _move_on(self, **read: Any) -> None:
        """A reader has come further, and what both have read is dropped: all at once, or nothing.

        It is the last thing before what was read is given, which would be lost otherwise.
        """
        after = copy(self)
        vars(after).update(read)
        if self._updates.first < after._first_needed:
            after._updates = self._updates.after(after._first_needed)
        vars(self).update(vars(after))

    @property
    def _first_needed(self) -> int:
        """The number of the first update that a reader needs; the one before its next ones is."""
        told = self._told if self._told_apart is None else self._told + 1
        return min(self._answered, told)

    def _lose_answers(self, updates: int) -> None:
        self._answered += updates
        last = self._updates.since(self._answered, self._answered + 1)[0]
        self._due.lose_before(int(last.at[0]))

    def _lose_instants(self) -> None:
        self._due.lose_half()

    def _start_over(self) -> bool:
        return False


def ones(size: int) -> Vector:
    """So many ones, which take no memory."""
    return np.broadcast_to(np.ones(1, np.int64), size)
