"""The feed of a select: rows come and go in a number of copies, and a row never changes.

A row of the log is one life of a row of the result, from its first copy to its last. Whoever gives
updates names rows by codes; a code means one row until an update leaves it without copies, and may
mean another one after that. So nothing is hashed here, and the log has one row for each life, not
one for each update.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.errors import DataError
from windrow.output import group_feed
from windrow.output.feed_columns import timestamps, with_answer_columns
from windrow.output.row_log import RowLog
from windrow.output.selects import kernels
from windrow.output.selects.order_words import row_order
from windrow.output.selects.sorted_rows import SortedRows
from windrow.output.selects.tied_rows import order_in_instants
from windrow.output.told_updates import ToldUpdates
from windrow.output.unread_limit import UNREAD_BYTES

__all__ = ["SelectFeed"]

# The log of rows is left as it is while it has no more than this beyond twice what is needed.
ROWS_LET_BE = 65_536
SMALLEST = 64  # the rows and codes that there is room for at first

Vector = NDArray[np.int64]
Codes = NDArray[np.int32]
NONE: Vector = np.empty(0, np.int64)
NO_CODES: Codes = np.empty(0, np.int32)


@dataclass(frozen=True)
class RowUpdates:
    """Updates in time order: a row of the log, its copies from then on, and those before."""

    at: Vector
    row: Codes
    many: Codes
    before: Codes

    def __len__(self) -> int:
        return self.at.size

    def __getitem__(self, places: slice) -> RowUpdates:
        at, row, many, before = self.columns()
        return RowUpdates(at[places], row[places], many[places], before[places])

    @property
    def nbytes(self) -> int:
        """Bytes of all columns."""
        return sum(column.nbytes for column in self.columns())

    def columns(self) -> tuple[Vector, Codes, Codes, Codes]:
        """All columns, in the order of the fields."""
        return self.at, self.row, self.many, self.before

    @classmethod
    def joined(cls, parts: list[RowUpdates]) -> RowUpdates:
        """All updates of the parts."""
        if not parts:
            return cls(NONE, NO_CODES, NO_CODES, NO_CODES)
        at, *others = zip(*(part.columns() for part in parts), strict=True)
        return cls(np.concatenate(at), *map(np.concatenate, others))


# Updates, their codes, how many were written, and the tables that they were written to.
Written = tuple[RowUpdates, Codes, Vector, Codes, Codes]


class SelectFeed(ToldUpdates[RowUpdates]):
    """The rows of a select over time, read as answers, changes or result."""

    def __init__(self, schema: pa.Schema) -> None:
        super().__init__(RowUpdates.joined)
        self._schema = schema
        self._log = RowLog(schema)
        self._held = np.zeros(SMALLEST, np.int32)  # copies of each row of the log
        self._row_of_code = np.full(SMALLEST, kernels.ABSENT, np.int32)
        self._live = 0
        self._sorted = SortedRows(schema)
        self._result: pa.Table | None = None
        self._result_cache_bytes = 0
        self._written: list[Written] | None = None  # of the step, if it may fail

    @property
    def parts(self) -> tuple[object, ...]:
        """All objects with attributes that a step changes."""
        both = (*self._log.parts, *self._due.parts)
        return (self, self._updates, self._sorted, *both)

    def begin_step(self) -> None:
        """What a step writes over is noted from now on."""
        self._written = []

    def undo_step(self) -> None:
        """Write back what a step has written over."""
        for updates, code, ends, row_of_code, held in (self._written or [])[::-1]:
            done = updates[: int(ends[0])]
            kernels.unfollow(done.row, done.before, code, row_of_code, held)

    def derive(self) -> None:
        """There is nothing to find again."""

    def record(
        self,
        at: Vector,
        code: Codes,
        group: Codes,
        many: Vector,
        rows_of: Callable[[Codes], pa.Table],
    ) -> None:
        """Take updates in time order: `many` copies of the row that a code means.

        group: what rows_of knows the row of an update by.
        """
        if at.size == 0:
            return
        self._reserve(int(code.max()) + 1, at.size)
        numbers = (np.empty(at.size, np.int32) for _ in range(3))
        updates = RowUpdates(np.empty(at.size, np.int64), *numbers)
        codes, fresh = np.empty(at.size, np.int32), np.empty(at.size, np.int32)
        ends = np.zeros(3, np.int64)
        tables = (self._row_of_code, self._held)
        if self._written is not None:  # before it is written: what comes then is in `ends`
            self._written = [*self._written, (updates, codes, ends, *tables)]
        kernels.follow(
            at, code, group, many, self._log.size, *tables, fresh,
            (*updates.columns(), codes), ends,
        )  # fmt: skip
        used, begun, ended = ends.tolist()
        self._live += begun - ended
        if begun:
            self._log.append(rows_of(fresh[:begun]))
        if used:
            self._result = None
            self._updates.append(updates[:used])
            self._last_us = int(at[-1])

    def ask(self, instants: Vector) -> None:
        """An answer is due at each of these instants, all later than the previous ones."""
        self._due.add(instants)

    def trim(self, limit_bytes: int = UNREAD_BYTES) -> None:
        """Keep within the limits: called after updates and instants of a step are in."""
        if self.starts_over:
            self._told_to = self._updates.end
        unanswered = self._updates.end - self._answered_to
        if unanswered > group_feed.UPDATES_LIMIT:
            self._due.lose()
            self._answered_to, unanswered = self._updates.end, 0
        # Changes of all live rows stay however often they are netted: wait until they are twice
        # as many, or every step would go over all of them.
        if self._untold > max(group_feed.UPDATES_LIMIT, 2 * len(self._apart)):
            self._net_changes()
        self._updates.drop_before(min(self._answered_to, self._told_to))
        if self._log.size > 2 * (self._live + max(unanswered, self._untold)) + ROWS_LET_BE:
            self._compact()
        self.keep_within(limit_bytes)

    def answers(self) -> pa.Table:
        """The answers at all instants due since the last call."""
        instants, due = self._due.all(), self._due.after_all()
        updates = self._viewed(self._updates.since(self._answered_to))
        table = self._answers_at(instants, updates)
        self._move_on(_answered_to=self._updates.end, _due=due)
        return table

    def _answers_at(self, instants: Vector, updates: RowUpdates) -> pa.Table:
        if not instants.size:
            return with_answer_columns(instants, self._log.read(NONE))
        copies = self._held[: self._log.size].copy()
        kernels.undo(updates.row, updates.before, copies)
        counts = np.empty(instants.size, np.int64)
        start = int(copies.sum())
        kernels.count_copies(instants, updates.at, updates.many, updates.before, start, counts)
        rows = self._listed(instants, updates, copies, counts)
        return with_answer_columns(np.repeat(instants, counts), self._log.read(rows))

    def _told(self, updates: RowUpdates) -> pa.Table:
        size, order = len(updates), self._order(updates)
        count = -1
        while count < 0:  # mostly a row comes or goes in one copy
            at, rows = np.empty(size, np.int64), np.empty(size, np.int64)
            signs = np.empty(size, np.int8)
            count = kernels.list_changes(*updates.columns(), order, at, rows, signs)
            size = int(np.abs(updates.many - updates.before).sum()) if count < 0 else size
        table = self._log.read(rows[:count])
        columns = [timestamps(at[:count]), pa.array(signs[:count]), *table.columns]
        return pa.Table.from_arrays(columns, names=["at", "change", *table.schema.names])

    def drop_answers(self) -> None:
        """Nobody will read the answers that are due: let them go without counting them as lost."""
        self._due.drop()
        self._move_on(_answered_to=self._updates.end)

    def result(self) -> pa.Table:
        """The rows of the result now; the same table while nothing changes."""
        if self._result is None:
            # Removed while it changes: if interrupted, it is sorted again the next time.
            found, self._sorted = self._sorted, SortedRows(self._schema)
            table = found.update(self._log, self._held)
            copies = self._held[found.rows]
            if not bool((copies == 1).all()):
                table = table.take(pa.array(np.repeat(np.arange(copies.size), copies)))
            is_copy = table is not found.table
            self._result_cache_bytes = table.nbytes if is_copy else 0
            self._sorted, self._result = found, table
        return self._result

    def live_rows(self) -> tuple[Codes, pa.Table]:
        """The codes in use, and the rows that they mean."""
        codes = np.flatnonzero(self._row_of_code != kernels.ABSENT).astype(np.int32)
        return codes, self._log.read(self._row_of_code[codes].astype(np.int64))

    def rename(self, old: Codes, new: Codes) -> None:
        """The rows that the old codes mean have new ones, and there are no others."""
        rows = self._row_of_code[old]
        self._row_of_code = np.full(
            2 * int(new.max(initial=0)) + SMALLEST, kernels.ABSENT, np.int32
        )
        self._row_of_code[new] = rows

    def groups_shown(self) -> NDArray[np.bool_]:
        """Which have a row now."""
        return self.groups_in_use()

    def groups_in_use(self) -> NDArray[np.bool_]:
        """Which codes mean a row."""
        in_use: NDArray[np.bool_] = self._row_of_code != kernels.ABSENT
        return in_use

    @property
    def instants_lost(self) -> int:
        """Answers that were due but dropped because nobody read them for too long."""
        return self._due.lost

    @instants_lost.setter
    def instants_lost(self, count: int) -> None:
        self._due.lost = count

    def tables(self) -> dict[str, pa.Table]:
        """Everything that it holds, for saving."""
        codes = np.flatnonzero(self._row_of_code != kernels.ABSENT).astype(np.int32)
        return {
            "rows": self._log.table(),
            "held": pa.table({"many": self._held[: self._log.size]}),
            "codes": pa.table({"code": codes, "row": self._row_of_code[codes]}),
            "for_answers": _update_table(self._updates.since(self._answered_to)),
            "for_changes": _update_table(self._changes_apart_and_since()),
            "instants": pa.table({"instant": self._due.all()}),
        }

    def load(self, tables: Mapping[str, pa.Table], new_code: Codes) -> None:
        """Back from tables(); rows have the codes new_code[old code] now."""
        codes = new_code[tables["codes"].column("code").to_numpy()]
        self._reserve(int(codes.max(initial=-1)) + 1, tables["rows"].num_rows)
        self._log.append(tables["rows"])
        self._held[: self._log.size] = tables["held"].column("many").to_numpy()
        self._live = int(np.count_nonzero(self._held))
        self._row_of_code[codes] = tables["codes"].column("row").to_numpy()
        self._updates.append(_updates_of(tables["for_answers"]))
        self._apart, self._told_to = _updates_of(tables["for_changes"]), self._updates.end
        self._due.add(tables["instants"].column("instant").to_numpy())

    def _reserve(self, codes: int, rows: int) -> None:
        if codes > self._row_of_code.size:
            more = np.full(2 * codes - self._row_of_code.size, kernels.ABSENT, np.int32)
            self._row_of_code = np.concatenate([self._row_of_code, more])
        needed = self._log.size + rows
        if needed > self._held.size:
            held = np.zeros(needed + needed // 2, np.int32)
            held[: self._log.size] = self._held[: self._log.size]
            self._held = held

    def _order(self, updates: RowUpdates) -> Vector:
        """Updates of one instant ordered by their rows, as answers are; nothing: they are."""
        return order_in_instants(
            updates.at, lambda places: self._log.read(updates.row[places].astype(np.int64))
        )

    def _listed(
        self, instants: Vector, updates: RowUpdates, copies: Codes, counts: Vector
    ) -> Vector:
        """The rows of the answers, one instant after the other, in order."""
        total = int(counts.sum())
        if total > group_feed.ANSWER_ROWS_LIMIT:
            raise DataError(
                "WD301",
                f"there are {total} unread rows of answers, more than "
                f"{group_feed.ANSWER_ROWS_LIMIT}",
                hint="call answers() more often, give the query an EVERY clause, or read changes()",
            )
        is_shown = copies > 0
        is_shown[updates.row] = True
        rows = np.flatnonzero(is_shown)
        rows = rows[row_order(self._log.read(rows), np.array([0, rows.size]))]
        rank = np.empty(self._log.size, np.int64)
        rank[rows] = np.arange(rows.size)
        ranks = rank[updates.row]
        order = np.argsort(ranks, kind="stable")
        out = np.empty(total, np.int64)
        kernels.list_copies(
            rows, copies[rows], np.searchsorted(ranks[order], np.arange(rows.size + 1)),
            np.searchsorted(instants, updates.at[order]), updates.many[order],
            np.cumsum(counts) - counts, out,
        )  # fmt: skip
        return out

    def _net_changes(self) -> None:
        """Put one net change of each row in the place of the changes that nobody has read."""
        parts, used = self._changes_apart_and_since(), 0
        row, many, before = (np.empty(self._untold, np.int32) for _ in range(3))
        place = np.full(self._log.size, kernels.ABSENT, np.int64)
        for part in parts:
            updates = (part.row, part.many, part.before)
            used = kernels.net(*updates, used, place, row, many, before)
        # A row that came and went in the meantime is no change.
        changed = np.flatnonzero(many[:used] != before[:used])
        at = np.full(changed.size, parts[-1].at[-1], np.int64)
        self.changes_netted += self._untold - changed.size
        self._apart = RowUpdates(at, row[changed], many[changed], before[changed])
        self._told_to = self._updates.end

    @property
    def nbytes(self) -> int:
        """Bytes of rows, updates and instants, and of what is known of each row and code."""
        unread = self._updates.nbytes + self._apart.nbytes + self._due.nbytes
        cached = 0 if self._result is None else self._result_cache_bytes
        tables = self._held.nbytes + self._row_of_code.nbytes + self._sorted.nbytes
        return self._log.nbytes + unread + cached + tables

    def growth_bytes(self, groups: int) -> int:
        """Peak bytes that the tables need for this many groups."""
        return 0 if groups <= self._row_of_code.size else 2 * 2 * 4 * groups

    def _result_bytes(self) -> int:
        rows = self._log.nbytes_of(np.flatnonzero(self._held[: self._log.size]))
        return rows + self._held.nbytes + self._row_of_code.nbytes + self._sorted.nbytes

    def _lose_answers(self, updates: int) -> None:
        end = self._answered_to + updates
        self._due.lose_before(int(self._updates.since(end - 1, end)[0].at[0]))
        self._answered_to = end

    def _compact(self) -> None:
        """Drop the rows without copies that no unread update speaks of."""
        self._updates.drop_before(min(self._answered_to, self._told_to))
        if not self._log.size:
            return
        used = self._held[: self._log.size] > 0
        for part in (self._apart, *self._updates.parts):
            used[part.row] = True
        new_number = np.cumsum(used, dtype=np.int32) - np.int32(1)
        self._apart = replace(self._apart, row=new_number[self._apart.row])
        self._updates.replace(
            [replace(part, row=new_number[part.row]) for part in self._updates.parts]
        )
        present = self._row_of_code != kernels.ABSENT
        self._row_of_code = np.where(
            present, new_number[self._row_of_code], np.int32(kernels.ABSENT)
        )
        self._sorted.renumber(used, new_number)
        self._held = self._held[: used.size][used]
        self._log.keep(used)


def _update_table(parts: list[RowUpdates]) -> pa.Table:
    names = [field.name for field in fields(RowUpdates)]
    return pa.table(dict(zip(names, RowUpdates.joined(parts).columns(), strict=True)))


def _updates_of(table: pa.Table) -> RowUpdates:
    at, *numbers = (column.to_numpy() for column in table.columns)
    return RowUpdates(at, *(column.astype(np.int32) for column in numbers))
