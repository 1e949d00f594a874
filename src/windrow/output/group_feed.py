"""The feed of a query: rows of its result as they come and go, read as answers, changes or result.

A group has one row in the result at a time, or none. An update says what a
group's row is from an instant on. Updates are kept until both readers, answers() and changes(),
have gone over them: each has its place in one log of updates.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.errors import DataError
from windrow.output import group_kernels as kernels
from windrow.output.feed import StateFeed
from windrow.output.feed_columns import repeated_rows, timestamps, with_answer_columns
from windrow.output.kernels import is_increasing
from windrow.output.row_log import RowLog
from windrow.output.state_log import StateLog, States
from windrow.output.told_updates import ToldUpdates
from windrow.output.unread_limit import UNREAD_BYTES

__all__ = ["ANSWER_ROWS_LIMIT", "UPDATES_LIMIT", "GroupFeed"]

# What is buffered for absent readers: beyond it changes are netted and answers are dropped,
# counted.
UPDATES_LIMIT = 1_000_000
# The log of rows is left as it is while it has no more than this beyond twice what is needed.
ROWS_LET_BE = 4_096
# Rows that one call of answers() may give.
ANSWER_ROWS_LIMIT = 50_000_000
# Answers of this many times more groups than they have rows are listed group by group.
SPARSE = 4
# What the columns of updates are called where they are saved.
_SAVED_NAMES = ("at", "entity", "row", "previous_row")

Vector = NDArray[np.int64]
Groups = NDArray[np.int32]
NO_ROWS: Vector = np.empty(0, np.int64)


@dataclass(frozen=True)
class GroupRowUpdates:
    """Updates in time order; row, previous_row: numbers in the log of rows, ABSENT for none."""

    at: Vector
    group: Groups
    row: Vector
    previous_row: Vector

    @classmethod
    def none(cls) -> GroupRowUpdates:
        """No updates."""
        return cls(NO_ROWS, np.empty(0, np.int32), NO_ROWS, NO_ROWS)

    def columns(self) -> tuple[Any, ...]:
        """All columns, in the order of the fields."""
        return self.at, self.group, self.row, self.previous_row

    def __len__(self) -> int:
        return self.at.size

    def __getitem__(self, places: slice) -> GroupRowUpdates:
        return GroupRowUpdates(*(column[places] for column in self.columns()))

    @property
    def nbytes(self) -> int:
        """Bytes of all columns."""
        return sum(column.nbytes for column in self.columns())

    @classmethod
    def joined(cls, parts: list[GroupRowUpdates]) -> GroupRowUpdates:
        """All updates of the parts."""
        columns = zip(*(part.columns() for part in parts), strict=True)
        return cls(*map(np.concatenate, columns)) if parts else cls.none()


class GroupFeed(ToldUpdates[GroupRowUpdates], StateFeed):
    """The result of a query over time. `rank` orders groups within an instant."""

    def __init__(self, log: RowLog | StateLog, rank: Callable[[Groups], Groups]) -> None:
        super().__init__(GroupRowUpdates.joined)
        self._log = log
        self._rank = rank
        self._now = GroupRows()  # the result after the last update
        self._answered = GroupRows()  # the result as far as answers() has read
        self._result: pa.Table | None = None
        self._result_cache_bytes = 0

    @property
    def parts(self) -> tuple[object, ...]:
        """All objects with attributes that a step changes."""
        both = (*self._log.parts, *self._due.parts)
        return (self, self._updates, self._now, self._answered, *both)

    def begin_step(self) -> None:
        """Nothing is written over in place but what derive() finds again."""

    def undo_step(self) -> None:
        """There is nothing to write back."""

    def derive(self) -> None:
        """The result now, from the one that answers() has read and the updates since."""
        now = self._answered.copy()
        for part in self._updates.since(self._answered_to):
            now.take(part)
        self._now = now

    def record(self, at: Vector, group: Groups, many: Vector, rows: pa.Table | States) -> None:
        """Take updates in time order; row i of `rows` is what update i shows, unless many is 0."""
        if at.size == 0:
            return
        self._compact_if_large()
        self._now.reserve(int(group.max()) + 1)
        first_row = self._log.size
        row, previous_row = np.empty(at.size, np.int64), np.empty(at.size, np.int64)
        next_row = kernels.chain(group, many, first_row, self._now.row, row, previous_row)
        if next_row - first_row < at.size:
            rows = _chosen(rows, many > 0)
        if next_row > first_row:
            self._log.append(rows)
        self._updates.append(GroupRowUpdates(at, group, row, previous_row))
        self._last_us = int(at[-1])
        self._result = None

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
        if self.starts_over:
            self._told_to = self._updates.end
        if self._unanswered > UPDATES_LIMIT:
            self._give_up_answers()
        # Where there are very many groups, changes stay many however often they are netted: wait
        # until they are twice as many, or every step would go over all of them.
        if self._untold > max(UPDATES_LIMIT, 2 * len(self._apart)):
            self._net_changes()
        self._updates.drop_before(min(self._answered_to, self._told_to))
        self._compact_if_large()
        self.keep_within(limit_bytes)

    def answers(self) -> pa.Table:
        """The answers at all instants due since the last call."""
        instants = self._due.all()
        updates = self._viewed(self._updates.since(self._answered_to))
        state, due = self._answered.copy(), self._due.after_all()
        at, rows = self._list(instants, updates, state)
        table = with_answer_columns(at, self._log.read(rows))
        if not self.has_told and self._untold + len(updates) > UPDATES_LIMIT:
            # The next step would net them, beside rows that answers() has not read then.
            self._net_changes()
        self._move_on(_answered_to=self._updates.end, _answered=state, _due=due)
        return table

    def _told(self, updates: GroupRowUpdates) -> pa.Table:
        size = 2 * updates.at.size
        at, rows = np.empty(size, np.int64), np.empty(size, np.int64)
        signs, is_second = np.empty(size, np.int8), np.empty(size, np.bool_)
        used = kernels.pair_up(
            updates.at, updates.row, updates.previous_row, self._order(updates),
            at, rows, signs, is_second,
        )  # fmt: skip
        table = self._log.read(rows[:used])
        columns = [timestamps(at[:used]), pa.array(signs[:used]), *table.columns]
        told = pa.Table.from_arrays(columns, names=["at", "change", *table.schema.names])
        same = is_second[:used] & repeated_rows(table)
        if not same.any():
            return told
        same[:-1] |= same[1:]  # what comes like what goes: neither is told
        return told.filter(pa.array(~same))

    def drop_answers(self) -> None:
        """Nobody will read the answers that are due: let them go without counting them as lost."""
        self._due.drop()
        self._move_on(_answered_to=self._updates.end, _answered=self._now.copy())

    def result(self) -> pa.Table:
        """The rows of the result now; the same table while nothing changes."""
        if self._result is None:
            present = self._ranked(self._now.present())
            self._result = self._log.read(self._now.row[present])
            self._result_cache_bytes = self._result.nbytes
        return self._result

    def tables(self) -> dict[str, pa.Table]:
        """Everything that it holds, for saving."""
        self._compact()  # what nothing refers to may have no values any more
        group = np.flatnonzero(self.groups_in_use()).astype(np.int32)
        self._now.reserve(group.size and int(group[-1]) + 1)
        self._answered.reserve(self._now.row.size)
        states = {
            "entity": group,
            "now_row": self._now.row[group],
            "answered_row": self._answered.row[group],
        }
        return {
            "rows": self._log.table(),
            "states": pa.table(states),
            "for_answers": _update_table(self._updates.since(self._answered_to)),
            "for_changes": _update_table(self._changes_apart_and_since()),
            "instants": pa.table({"instant": self._due.all()}),
        }

    def load(self, tables: Mapping[str, pa.Table], new_code: Groups) -> None:
        """Back from tables(); groups have the codes new_code[old code] now."""
        self._log.append(tables["rows"])
        names = ("entity", "now_row", "answered_row")
        group, *states = (tables["states"].column(name).to_numpy() for name in names)
        group = new_code[group]
        for kept, row in zip((self._now, self._answered), states, strict=True):
            kept.reserve(int(group.max(initial=-1)) + 1)
            kept.row[group] = row
        self._updates.append(_updates_of(tables["for_answers"], new_code))
        self._apart = _updates_of(tables["for_changes"], new_code)
        self._told_to = self._updates.end
        self._due.add(tables["instants"].column("instant").to_numpy())

    def groups_shown(self) -> NDArray[np.bool_]:
        """Which groups have a row now."""
        shown: NDArray[np.bool_] = self._now.row != kernels.ABSENT
        return shown

    def groups_in_use(self) -> NDArray[np.bool_]:
        """Which groups something still refers to."""
        used = np.zeros(max(self._now.row.size, self._answered.row.size), np.bool_)
        for each in (self._now, self._answered):
            used[each.present()] = True
        for part in (self._apart, *self._updates.parts):
            used[part.group] = True
        return used

    def _list(
        self, instants: Vector, updates: GroupRowUpdates, state: GroupRows
    ) -> tuple[Vector, Vector]:
        """For each row of the answers: its instant, and its number in the log.

        state: the result as far as answers() has read, which moves on over the updates.
        """
        state.reserve(int(updates.group.max(initial=-1)) + 1)
        changes = (updates.at, updates.group, updates.row)
        before = state.present()
        counts = np.empty(instants.size, np.int64)
        kernels.count_answers(instants, *changes, state.row.copy(), before.size, counts)
        total = int(counts.sum())
        if total > ANSWER_ROWS_LIMIT:
            raise DataError(
                "WD301",
                f"there are {total} unread rows of answers, more than {ANSWER_ROWS_LIMIT}",
                hint="call answers() more often, give the query an EVERY clause, or read changes()",
            )
        which, rows = np.repeat(instants, counts), np.empty(total, np.int64)
        named = np.zeros(state.row.size, np.bool_)
        named[before] = named[updates.group] = True
        groups = np.flatnonzero(named).astype(np.int32)
        if instants.size * groups.size <= SPARSE * total:
            kernels.list_in_order(instants, *changes, self._ranked(groups), state.row, rows)
            return which, rows
        active, place = np.zeros(groups.size, np.int32), np.zeros(state.row.size, np.int32)
        active[: before.size], place[before] = before, np.arange(before.size)
        groups = np.empty(total, np.int32)
        listed = (active, place, before.size, rows, groups)
        kernels.list_present(instants, *changes, state.row, *listed)
        return which, rows[np.lexsort((self._rank(groups), which))]

    def _ranked(self, groups: Groups) -> Groups:
        """Groups in order of their values."""
        return groups[np.argsort(self._rank(groups), kind="stable")]

    def _order(self, updates: GroupRowUpdates) -> Vector:
        """Updates of one instant ordered by their groups, as answers are; nothing: they are."""
        if is_increasing(updates.at):
            return NO_ROWS
        order, rank = np.empty(updates.at.size, np.int64), self._rank(updates.group)
        kernels.order_in_instants(updates.at, rank, int(rank.max()) + 1, order)
        return order

    def _net_changes(self) -> None:
        """Put one net change of each group in the place of the changes that nobody has read."""
        parts = self._changes_apart_and_since()
        first, last = (np.full(self._now.row.size, kernels.ABSENT, np.int64) for _ in range(2))
        offset = 0
        for part in parts:
            kernels.first_and_last(part.group, offset, first, last)
            offset += part.at.size
        group = np.flatnonzero(last >= 0).astype(np.int32)
        begins, ends = _places(first[group], parts), _places(last[group], parts)
        net = GroupRowUpdates(
            np.full(group.size, parts[-1].at[-1], np.int64),
            group,
            _gathered([part.row for part in parts], ends),
            _gathered([part.previous_row for part in parts], begins),
        )
        # A row that came and went in the meantime is no change.
        changed = np.flatnonzero(np.maximum(net.row, net.previous_row) != kernels.ABSENT)
        self._apart = GroupRowUpdates(*(column[changed] for column in net.columns()))
        self.changes_netted += offset - changed.size
        self._told_to = self._updates.end

    def _let_go(self) -> None:
        super()._let_go()
        self._compact_if_large()

    def _compact_if_large(self) -> None:
        unread = max(self._unanswered, self._untold)
        wanted = unread + self._now.row.size + self._answered.row.size
        if self._log.size > 2 * wanted + ROWS_LET_BE:
            self._compact()

    def _compact(self) -> None:
        """Drop the rows that neither a state nor an update refers to: all of it at once, or not."""
        updates = self._updates.after(min(self._answered_to, self._told_to))
        log, now, answered = copy(self._log), GroupRows(), GroupRows()
        parts = [self._apart, *updates.parts]
        references = [self._now.row, self._answered.row]
        references += [rows for part in parts for rows in (part.row, part.previous_row)]
        now.row, answered.row, *rows = log.compact(references) if log.size else references
        apart, *renumbered = (
            replace(part, row=row, previous_row=previous_row)
            for part, row, previous_row in zip(parts, rows[::2], rows[1::2], strict=True)
        )
        updates.replace(renumbered)
        vars(self).update(_log=log, _now=now, _answered=answered, _apart=apart, _updates=updates)

    @property
    def nbytes(self) -> int:
        """Bytes of rows, updates and instants, and of the tables of groups."""
        unread = self._updates.nbytes + self._apart.nbytes + self._due.nbytes
        cached = 0 if self._result is None else self._result_cache_bytes
        return self._log.nbytes + unread + cached + self._now.nbytes + self._answered.nbytes

    def growth_bytes(self, groups: int) -> int:
        """Peak bytes that the tables need for this many groups."""
        if groups <= self._now.row.size:
            return 0
        return 2 * (2 * groups * self._now.row.itemsize)

    def _result_bytes(self) -> int:
        rows = self._log.nbytes_of(self._now.row[self._now.present()])
        return rows + self._now.nbytes + self._answered.nbytes

    def _lose_answers(self, updates: int) -> None:
        end = self._answered_to + updates
        gone = GroupRowUpdates.joined(self._updates.since(self._answered_to, end))
        answered = self._answered.copy()
        answered.take(gone)
        self._answered, self._answered_to = answered, end
        self._due.lose_before(int(gone.at[-1]))

    @property
    def _unanswered(self) -> int:
        return self._updates.end - self._answered_to

    def _give_up_answers(self) -> None:
        """Drop and count the unread answers."""
        self._due.lose()
        self._answered_to = self._updates.end
        self._answered = self._now.copy()


def _places(numbers: Vector, parts: list[GroupRowUpdates]) -> tuple[Vector, Vector]:
    """Numbers of updates over all parts as the part and the place in it."""
    starts = np.cumsum([0, *(part.at.size for part in parts)])
    which = np.searchsorted(starts, numbers, side="right") - 1
    return which, numbers - starts[which]


def _gathered(columns: list[Vector], places: tuple[Vector, Vector]) -> Vector:
    which, place = places
    out = np.empty(place.size, np.int64)
    for number, column in enumerate(columns):
        chosen = which == number
        out[chosen] = column[place[chosen]]
    return out


class GroupRows:
    """For each group the row that it has, or ABSENT."""

    def __init__(self) -> None:
        self.row = np.empty(0, np.int64)

    def reserve(self, count: int) -> None:
        """Make room for groups below this number."""
        if count <= self.row.size:
            return
        more = max(64, 2 * count) - self.row.size
        self.row = np.concatenate([self.row, np.full(more, kernels.ABSENT, np.int64)])

    def present(self) -> Groups:
        """The groups that have one."""
        return np.flatnonzero(self.row != kernels.ABSENT).astype(np.int32)

    def take(self, updates: GroupRowUpdates) -> None:
        """Move on over updates."""
        self.reserve(int(updates.group.max(initial=-1)) + 1)
        self.row[updates.group] = updates.row

    @property
    def nbytes(self) -> int:
        """Bytes of all columns."""
        return self.row.nbytes

    def copy(self) -> GroupRows:
        """The same."""
        out = GroupRows()
        out.row = self.row.copy()
        return out


def _chosen(rows: pa.Table | States, flags: NDArray[np.bool_]) -> pa.Table | States:
    return rows.filter(pa.array(flags)) if isinstance(rows, pa.Table) else rows.chosen(flags)


def _update_table(parts: list[GroupRowUpdates]) -> pa.Table:
    return pa.table(dict(zip(_SAVED_NAMES, GroupRowUpdates.joined(parts).columns(), strict=True)))


def _updates_of(table: pa.Table, new_code: Groups) -> GroupRowUpdates:
    columns = [table.column(name).to_numpy() for name in _SAVED_NAMES]
    updates = GroupRowUpdates(*columns)
    return replace(updates, group=new_code[updates.group])
