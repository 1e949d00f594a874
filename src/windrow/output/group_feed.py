"""The feed of a query: rows of its result as they come and go, read as answers, changes or result.

A group has one row in the result at a time, or none. An update says what a
group's row is from an instant on. Updates are kept until both readers, answers() and changes(),
have gone over them: each has its place in one log of updates.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.errors import DataError
from windrow.output import kernels
from windrow.output.feed import StateFeed
from windrow.output.feed_columns import equal_rows, timestamps, with_answer_columns
from windrow.output.row_log import RowLog
from windrow.output.told_updates import ToldUpdates
from windrow.output.unread_limit import UNREAD_BYTES

__all__ = ["ANSWER_ROWS_LIMIT", "UPDATES_LIMIT", "GroupFeed"]

# What is buffered for absent readers: beyond it changes are netted and answers are dropped,
# counted.
UPDATES_LIMIT = 1_000_000
# The log of rows is left as it is while it has no more than this beyond twice what is needed.
ROWS_LET_BE = 65_536
# Rows that one call of answers() may give.
ANSWER_ROWS_LIMIT = 50_000_000
# Row, copies, place in the list of those present, and the list.
GROUP_BYTES = 8 + 8 + 4 + 4
# What the columns of updates are called where they are saved.
_SAVED_NAMES = ("at", "entity", "row", "many", "previous_row", "previous_many")

Vector = NDArray[np.int64]
NO_ROWS: Vector = np.empty(0, np.int64)


@dataclass(frozen=True)
class GroupRowUpdates:
    """Updates in time order; row, previous_row: numbers in the log of rows, ABSENT for none."""

    at: Vector
    group: NDArray[np.int32]
    row: Vector
    many: Vector
    previous_row: Vector
    previous_many: Vector

    @classmethod
    def none(cls) -> GroupRowUpdates:
        """No updates."""
        return cls(NO_ROWS, np.empty(0, np.int32), NO_ROWS, NO_ROWS, NO_ROWS, NO_ROWS)

    def columns(self) -> tuple[Any, ...]:
        """All columns, in the order of the fields."""
        return (
            *(self.at, self.group, self.row),
            *(self.many, self.previous_row, self.previous_many),
        )

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

    def __init__(self, schema: pa.Schema, rank: Callable[[NDArray[np.int32]], Vector]) -> None:
        super().__init__(GroupRowUpdates.joined)
        self._log = RowLog(schema)
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
            now.reserve(int(part.group.max(initial=-1)) + 1)
            now.row[part.group], now.many[part.group] = part.row, part.many
        now.list_present()
        self._now = now

    def record(self, at: Vector, group: NDArray[np.int32], many: Vector, rows: pa.Table) -> None:
        """Take updates in time order; row i of `rows` is what update i shows, in `many` copies."""
        if at.size == 0:
            return
        self._now.reserve(int(group.max()) + 1)
        first_row = self._log.append(rows)
        row, previous_row, previous_many = (np.empty(at.size, np.int64) for _ in range(3))
        kernels.chain(
            group, many, first_row, self._now.row, self._now.many, row, previous_row, previous_many
        )
        self._updates.append(GroupRowUpdates(at, group, row, many, previous_row, previous_many))
        self._last_us = int(at[-1])
        self._result = None

    def ask(self, instants: Vector) -> None:
        """An answer is due at each of these instants, all later than the previous ones."""
        self._due.add(instants)

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
        unread = max(self._unanswered, self._untold)
        wanted = unread + self._now.row.size + self._answered.row.size
        if self._log.size > 2 * wanted + ROWS_LET_BE:
            self._compact()
        self.keep_within(limit_bytes)

    def answers(self) -> pa.Table:
        """The answers at all instants due since the last call."""
        instants = self._due.all()
        updates = GroupRowUpdates.joined(self._updates.since(self._answered_to))
        state, due = self._answered.copy(), self._due.after_all()
        which, rows = self._list(instants, updates, state)
        table = with_answer_columns(instants[which], self._log.take(rows))
        self._answered_to, self._answered, self._due = self._updates.end, state, due
        return table

    def _told(self, updates: GroupRowUpdates) -> pa.Table:
        updates = self._in_order(updates)
        gone, come = updates.previous_many.copy(), updates.many.copy()
        same = self._same_rows(updates)
        common = np.where(same, np.minimum(gone, come), 0)
        gone -= common
        come -= common
        copies = np.stack([gone, come], axis=1).ravel()
        rows = np.stack([updates.previous_row, updates.row], axis=1).ravel()
        signs = np.tile(np.array([-1, 1], np.int8), updates.at.size)
        at = np.repeat(updates.at, 2)
        table = self._log.take(np.repeat(rows, copies))
        columns = [timestamps(np.repeat(at, copies)), pa.array(np.repeat(signs, copies))]
        names = ["at", "change", *table.schema.names]
        return pa.Table.from_arrays([*columns, *table.columns], names=names)

    def drop_answers(self) -> None:
        """Nobody will read the answers that are due: let them go without counting them as lost."""
        self._due.drop()
        self._answered_to = self._updates.end
        self._answered = self._now.copy()

    def result(self) -> pa.Table:
        """The rows of the result now; the same table while nothing changes."""
        if self._result is None:
            present = np.flatnonzero(self._now.many).astype(np.int32)
            present = present[np.argsort(self._rank(present), kind="stable")]
            self._result = self._log.take(self._now.row[present])
            self._result_cache_bytes = self._result.nbytes
        return self._result

    def tables(self) -> dict[str, pa.Table]:
        """Everything that it holds, for saving."""
        group = np.flatnonzero(self.groups_in_use()).astype(np.int32)
        self._now.reserve(group.size and int(group[-1]) + 1)
        self._answered.reserve(self._now.row.size)
        states = {
            "entity": group,
            "now_row": self._now.row[group],
            "now_many": self._now.many[group],
            "answered_row": self._answered.row[group],
            "answered_many": self._answered.many[group],
        }
        return {
            "rows": self._log.table(),
            "states": pa.table(states),
            "for_answers": _update_table(self._updates.since(self._answered_to)),
            "for_changes": _update_table(self._changes_apart_and_since()),
            "instants": pa.table({"instant": self._due.all()}),
        }

    def load(self, tables: Mapping[str, pa.Table], new_code: NDArray[np.int32]) -> None:
        """Back from tables(); groups have the codes new_code[old code] now."""
        self._log.append(tables["rows"])
        names = ("entity", "now_row", "now_many", "answered_row", "answered_many")
        group, *states = (tables["states"].column(name).to_numpy() for name in names)
        group = new_code[group]
        for kept, row, many in ((self._now, *states[:2]), (self._answered, *states[2:])):
            kept.reserve(int(group.max(initial=-1)) + 1)
            kept.row[group] = row
            kept.many[group] = many
            kept.list_present()
        self._updates.append(_updates_of(tables["for_answers"], new_code))
        self._apart = _updates_of(tables["for_changes"], new_code)
        self._told_to = self._updates.end
        self._due.add(tables["instants"].column("instant").to_numpy())

    def groups_shown(self) -> NDArray[np.bool_]:
        """Which groups have a row now."""
        shown: NDArray[np.bool_] = self._now.many > 0
        return shown

    def groups_in_use(self) -> NDArray[np.bool_]:
        """Which groups something still refers to."""
        size = max(self._now.many.size, self._answered.many.size)
        used = np.zeros(size, np.bool_)
        used[: self._now.many.size] |= self._now.many > 0
        used[: self._answered.many.size] |= self._answered.many > 0
        for part in (self._apart, *self._updates.parts):
            used[part.group] = True
        return used

    def _list(
        self, instants: Vector, updates: GroupRowUpdates, state: GroupRows
    ) -> tuple[Vector, Vector]:
        """For each row of the answers: the number of its instant, and its number in the log.

        state: the result as far as answers() has read, which moves on over the updates.
        """
        state.reserve(int(updates.group.max(initial=-1)) + 1)
        total = kernels.count_answers(
            instants, 0, updates.at, updates.group, updates.many,
            state.many.copy(), int(state.many.sum()),
        )  # fmt: skip
        if total > ANSWER_ROWS_LIMIT:
            raise DataError(
                "WD301",
                f"there are {total} unread rows of answers, more than {ANSWER_ROWS_LIMIT}",
                hint="call answers() more often, give the query an EVERY clause, or read changes()",
            )
        which, rows = np.empty(total, np.int64), np.empty(total, np.int64)
        groups = np.empty(total, np.int32)
        kernels.list_answers(
            instants, updates.at, updates.group, updates.many, updates.row,
            state.many, state.row, state.active, state.place, state.size, which, rows, groups,
        )  # fmt: skip
        order = np.lexsort((self._rank(groups), which))
        return which[order], rows[order]

    def _in_order(self, updates: GroupRowUpdates) -> GroupRowUpdates:
        """Updates of one instant ordered by their groups, as answers are."""
        if kernels.is_increasing(updates.at):
            return updates
        order = np.lexsort((self._rank(updates.group), updates.at))
        return GroupRowUpdates(*(column[order] for column in updates.columns()))

    def _same_rows(self, updates: GroupRowUpdates) -> NDArray[np.bool_]:
        both = (updates.previous_many > 0) & (updates.many > 0)
        if not both.any():
            return both
        old = self._log.take(updates.previous_row[both])
        new = self._log.take(updates.row[both])
        same = equal_rows(old, new)
        both[both] = same
        return both

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
            _gathered([part.many for part in parts], ends),
            _gathered([part.previous_row for part in parts], begins),
            _gathered([part.previous_many for part in parts], begins),
        )
        # A row that came and went in the meantime is no change.
        changed = np.flatnonzero(net.many | net.previous_many)
        self._apart = GroupRowUpdates(*(column[changed] for column in net.columns()))
        self.changes_netted += offset - changed.size
        self._told_to = self._updates.end

    def _compact(self) -> None:
        """Drop the rows that neither a state nor an update refers to."""
        self._updates.drop_before(min(self._answered_to, self._told_to))
        if not self._log.size:
            return
        parts = [self._apart, *self._updates.parts]
        references = [self._now.row, self._answered.row]
        references += [rows for part in parts for rows in (part.row, part.previous_row)]
        self._now.row, self._answered.row, *rows = self._log.compact(references)
        self._apart, *updates = (
            replace(part, row=row, previous_row=previous_row)
            for part, row, previous_row in zip(parts, rows[::2], rows[1::2], strict=True)
        )
        self._updates.replace(updates)

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
        return 2 * (2 * groups * GROUP_BYTES)

    def _result_bytes(self) -> int:
        rows = self._log.nbytes_of(self._now.row[self._now.many > 0])
        return rows + self._now.nbytes + self._answered.nbytes

    def _lose_answers(self, updates: int) -> None:
        end = self._answered_to + updates
        gone = GroupRowUpdates.joined(self._updates.since(self._answered_to, end))
        answered = self._answered.copy()
        answered.reserve(int(gone.group.max()) + 1)
        answered.row[gone.group], answered.many[gone.group] = gone.row, gone.many
        answered.list_present()
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
    """For each group the row that it has and in how many copies; and a list of those present."""

    def __init__(self) -> None:
        self.row = np.empty(0, np.int64)
        self.many = np.empty(0, np.int64)
        self.active = np.empty(0, np.int32)
        self.place = np.empty(0, np.int32)
        self.size = np.zeros(1, np.int64)

    def reserve(self, count: int) -> None:
        """Make room for groups below this number."""
        if count <= self.row.size:
            return
        more = max(64, 2 * count) - self.row.size
        self.row = np.concatenate([self.row, np.full(more, kernels.ABSENT, np.int64)])
        self.many = np.concatenate([self.many, np.zeros(more, np.int64)])
        self.active = np.concatenate([self.active, np.zeros(more, np.int32)])
        self.place = np.concatenate([self.place, np.zeros(more, np.int32)])

    @property
    def nbytes(self) -> int:
        """Bytes of all columns."""
        return GROUP_BYTES * self.row.size

    def copy(self) -> GroupRows:
        """The same state and size, with its list of those present rebuilt."""
        out = GroupRows()
        out.row, out.many = self.row.copy(), self.many.copy()
        out.active, out.place = np.zeros_like(self.active), np.zeros_like(self.place)
        out.list_present()
        return out

    def list_present(self) -> None:
        """Make the list of those present from the numbers of copies."""
        present = np.flatnonzero(self.many).astype(np.int32)
        self.active[: present.size] = present
        self.place[present] = np.arange(present.size)
        self.size[0] = present.size


def _update_table(parts: list[GroupRowUpdates]) -> pa.Table:
    return pa.table(dict(zip(_SAVED_NAMES, GroupRowUpdates.joined(parts).columns(), strict=True)))


def _updates_of(table: pa.Table, new_code: NDArray[np.int32]) -> GroupRowUpdates:
    updates = GroupRowUpdates(*(column.to_numpy() for column in table.columns))
    return replace(updates, group=new_code[updates.group])
