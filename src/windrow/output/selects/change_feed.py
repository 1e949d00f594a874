"""The feed of a select that is followed by its changes: only what nobody has read is held here.

Changes come as they are told: in order, each instant netted. The result is where it comes from, in
the windows of the shard, and is asked for when somebody reads it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.backlog import joined_rows
from windrow.errors import DataError
from windrow.output import group_feed
from windrow.output.feed_columns import repeated_rows, timestamps, with_answer_columns
from windrow.output.selects import kernels
from windrow.output.selects.order_words import row_order
from windrow.output.told_updates import ToldUpdates
from windrow.output.unread_limit import UNREAD_BYTES

__all__ = ["ChangeFeed", "ChangedRows"]

Vector = NDArray[np.int64]
Codes = NDArray[np.int32]
NONE: Vector = np.empty(0, np.int64)


@dataclass(frozen=True)
class ChangedRows:
    """Rows that came (+1) and went (-1), in time order, those of an instant in order of rows."""

    at: Vector
    sign: NDArray[np.int8]
    rows: pa.Table
    row_bytes: int

    @classmethod
    def of(cls, at: Vector, sign: NDArray[np.int8], rows: pa.Table) -> ChangedRows:
        """With the bytes of the rows, which are asked for often."""
        return cls(at, sign, rows, rows.nbytes)

    def __len__(self) -> int:
        return self.at.size

    def __getitem__(self, places: slice) -> ChangedRows:
        at = self.at[places]
        start, _, _ = places.indices(self.at.size)
        return ChangedRows.of(at, self.sign[places], self.rows.slice(start, at.size))

    @property
    def nbytes(self) -> int:
        """Bytes of all columns."""
        return self.at.nbytes + self.sign.nbytes + self.row_bytes


class ChangeFeed(ToldUpdates[ChangedRows]):
    """Changes until they are read; live: the rows of the result now, in any order."""

    def __init__(self, schema: pa.Schema, live: Callable[[], pa.Table]) -> None:
        self._schema, self._live = schema, live
        super().__init__(self._joined)
        self._result: pa.Table | None = None
        self._result_cache_bytes = 0

    def _joined(self, parts: list[ChangedRows]) -> ChangedRows:
        if not parts:
            return ChangedRows.of(NONE, NONE.astype(np.int8), self._schema.empty_table())
        at, sign = (
            np.concatenate(each)
            for each in zip(*((part.at, part.sign) for part in parts), strict=True)
        )
        return ChangedRows.of(at, sign, joined_rows([part.rows for part in parts]))

    @property
    def parts(self) -> tuple[object, ...]:
        """All objects with attributes that a step changes."""
        return (self, self._updates, *self._due.parts)

    def begin_step(self) -> None:
        """Nothing is written over."""

    def undo_step(self) -> None:
        """Nothing was."""

    def derive(self) -> None:
        """There is nothing to find again."""

    def record(self, changes: ChangedRows) -> None:
        """Take changes, which are later than those before."""
        if len(changes):
            self._result = None
            self._updates.append(changes)
            self._last_us = int(changes.at[-1])

    def ask(self, instants: Vector) -> None:
        """An answer is due at each of these instants, all later than the previous ones."""
        self._due.add(instants)

    def trim(self, limit_bytes: int = UNREAD_BYTES) -> None:
        """Keep within the limits: called after changes and instants of a step are in."""
        if self.starts_over:
            self._told_to = self._updates.end
        if self._updates.end - self._answered_to > group_feed.UPDATES_LIMIT:
            self._due.lose()
            self._answered_to = self._updates.end
        # Changes of all live rows stay however often they are netted: wait until they are twice
        # as many, or every step would go over all of them.
        if self._untold > max(group_feed.UPDATES_LIMIT, 2 * len(self._apart)):
            self._net_changes()
        self._compact()
        self.keep_within(limit_bytes)

    def answers(self) -> pa.Table:
        """The answers at all instants due since the last call."""
        instants, due = self._due.all(), self._due.after_all()
        table = self._answers_at(instants, self._joined(self._updates.since(self._answered_to)))
        self._move_on(_answered_to=self._updates.end, _due=due)
        return table

    def _answers_at(self, instants: Vector, changes: ChangedRows) -> pa.Table:
        if not instants.size:
            return with_answer_columns(instants, self._schema.empty_table())
        now = self._live()
        both = joined_rows([now, changes.rows])
        order, starts = _equal_runs(both)
        sign = np.concatenate([np.zeros(now.num_rows, np.int8), changes.sign])
        # What is there now, without what came since: that was there before.
        is_live = np.arange(order.size) < now.num_rows
        copies = _sums(is_live[order].astype(np.int64) - sign[order], starts)
        step = np.concatenate([[0], np.cumsum(changes.sign, dtype=np.int64)])
        counts = int(copies.sum()) + step[np.searchsorted(changes.at, instants, side="right")]
        rank = np.empty(order.size, np.int64)
        rank[order] = np.repeat(np.arange(starts.size), np.diff(starts, append=order.size))
        ranks = rank[now.num_rows :]
        found = _listed(instants, counts, order[starts], copies, ranks, changes)
        return with_answer_columns(np.repeat(instants, counts), both.take(pa.array(found)))

    def _told(self, updates: ChangedRows) -> pa.Table:
        columns = [timestamps(updates.at), pa.array(updates.sign), *updates.rows.columns]
        return pa.Table.from_arrays(columns, names=["at", "change", *self._schema.names])

    def drop_answers(self) -> None:
        """Nobody will read the answers that are due: let them go without counting them as lost."""
        self._due.drop()
        self._move_on(_answered_to=self._updates.end)

    def result(self) -> pa.Table:
        """The rows of the result now; the same table while nothing changes."""
        if self._result is None:
            rows = self._live()
            order = row_order(rows, np.array([0, rows.num_rows]))
            table = rows.take(pa.array(order)).combine_chunks()
            self._result_cache_bytes = table.nbytes
            self._result = table
        return self._result

    def _net_changes(self) -> None:
        """Put one net change of each row in the place of the changes that nobody has read."""
        changes = self._joined(self._changes_apart_and_since())
        order, starts = _equal_runs(changes.rows)
        net = _sums(changes.sign[order], starts)
        copies = np.abs(net)
        sign = np.repeat(np.sign(net), copies).astype(np.int8)
        rows = changes.rows.take(pa.array(np.repeat(order[starts], copies)))
        at = np.full(sign.size, changes.at[-1], np.int64)
        self.changes_netted += len(changes) - sign.size
        self._apart, self._told_to = ChangedRows.of(at, sign, rows), self._updates.end

    def groups_shown(self) -> NDArray[np.bool_]:
        """Rows are not known as groups."""
        return np.zeros(0, np.bool_)

    def groups_in_use(self) -> NDArray[np.bool_]:
        """Rows are not known as groups."""
        return np.zeros(0, np.bool_)

    @property
    def instants_lost(self) -> int:
        """Answers that were due but dropped because nobody read them for too long."""
        return self._due.lost

    @instants_lost.setter
    def instants_lost(self, count: int) -> None:
        self._due.lost = count

    def tables(self) -> dict[str, pa.Table]:
        """It is part of a process that has the windows, too, and is never saved."""
        raise AssertionError("a select that is followed is not saved")

    def load(self, tables: Mapping[str, pa.Table], new_code: Codes) -> None:
        """It was never saved."""
        raise AssertionError(f"a select that is followed has no {list(tables)} by {new_code}")

    @property
    def nbytes(self) -> int:
        """Bytes of changes, instants and the result if it was read."""
        unread = self._updates.nbytes + self._apart.nbytes + self._due.nbytes
        return unread + self._result_bytes()

    def growth_bytes(self, groups: int) -> int:
        """There are no tables."""
        del groups
        return 0

    def _result_bytes(self) -> int:
        return 0 if self._result is None else self._result_cache_bytes

    def _lose_answers(self, updates: int) -> None:
        end = self._answered_to + updates
        self._due.lose_before(int(self._updates.since(end - 1, end)[0].at[0]))
        self._answered_to = end

    def _compact(self) -> None:
        self._updates.drop_before(min(self._answered_to, self._told_to))


def _equal_runs(rows: pa.Table) -> tuple[Vector, Vector]:
    """The order of rows, and where in it those begin that are equal to each other."""
    order = row_order(rows, np.array([0, rows.num_rows]))
    return order, np.flatnonzero(~repeated_rows(rows.take(pa.array(order))))


def _sums(numbers: NDArray[np.integer], starts: Vector) -> Vector:
    """The sums of numbers in runs that begin so."""
    return np.add.reduceat(numbers, starts, dtype=np.int64) if starts.size else NONE


def _listed(
    instants: Vector, counts: Vector, rows: Vector, copies: Vector, ranks: Vector,
    changes: ChangedRows,
) -> Vector:  # fmt: skip
    """The rows of the answers, one instant after the other, in order.

    rows: in order, with their copies before the changes; ranks: which of them each change is of.
    """
    total = int(counts.sum())
    if total > group_feed.ANSWER_ROWS_LIMIT:
        raise DataError(
            "WD301",
            f"there are {total} unread rows of answers, more than {group_feed.ANSWER_ROWS_LIMIT}",
            hint="call answers() more often, give the query an EVERY clause, or read changes()",
        )
    order = np.argsort(ranks, kind="stable")
    first_update = np.searchsorted(ranks[order], np.arange(rows.size + 1))
    moved = np.concatenate([[0], np.cumsum(changes.sign[order], dtype=np.int64)])
    many = copies[ranks[order]] + moved[1:] - moved[first_update[:-1]][ranks[order]]
    out = np.empty(total, np.int64)
    kernels.list_copies(
        rows, copies.astype(np.int32), first_update, np.searchsorted(instants, changes.at[order]),
        many.astype(np.int32), np.cumsum(counts) - counts, out,
    )  # fmt: skip
    return out
