"""The answers of a query as a stream through a window.

At every tick all rows of the input enter as rows of a stream with that time, and leave as the
window says. What is held is every answer in the window: the codes of its rows, and counts.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from windrow.event_time import START_OF_TIME
from windrow.operators.relations.changes import Changes, Vector, no_changes
from windrow.operators.relations.held_rows import HeldRows
from windrow.operators.relations.operator import RelationOperator
from windrow.plan.relations.algebra import AnswerWindow
from windrow.rows.prepare import lifetime_of
from windrow.windows.codes import Codes

__all__ = ["AnswerWindowOperator"]

# Where rows stay the same for more ticks than this in a step, the newest ones answer.
TICKS_LIMIT = 1_000_000
_EMPTY = np.empty(0, np.int64)
_NO_CODES = np.empty(0, np.int32)


@dataclass(frozen=True)
class _Answer:
    """Rows that enter the window, or leave it, at an instant; time: of the tick that gave them."""

    at: int
    time: int
    codes: Codes
    weight: Vector

    @property
    def nbytes(self) -> int:
        return self.codes.nbytes + self.weight.nbytes


class AnswerWindowOperator(RelationOperator):
    """Holds the input, and the answers in the window."""

    def __init__(self, node: AnswerWindow) -> None:
        assert node.window.traits.leaves_by_time  # others are refused when the query is bound
        self._types = [field.type.arrow for field in node.fields]
        self._every, self._offset = node.every_us, node.offset_us
        self._lifetime = lifetime_of(node.window)
        self._rows = HeldRows([field.type.arrow for field in node.input.fields])
        self._clock = START_OF_TIME
        self._first: int | None = None
        # Both in the order of their ticks, which is that of their instants, too.
        self._entering: deque[_Answer] = deque()
        self._leaving: deque[_Answer] = deque()
        self.entered = _EMPTY  # the instants at which answers entered in the last step

    def begin(self, first_us: int) -> None:
        """The first row of any stream has this time: from here on there are answers."""
        self._first = first_us if self._first is None else min(first_us, self._first)

    def advance(self, inputs: Sequence[Changes], until: int) -> Changes:
        """The rows that enter and leave the window until then."""
        (changes,) = inputs
        codes = self._rows.acquire(changes.columns, changes.size)
        self._answer(changes, codes, until)
        self._rows.release(codes)
        self._clock = until
        return self._given(until)

    @property
    def nbytes(self) -> int:
        """Bytes of the input and of all answers in the window."""
        queued = (*self._entering, *self._leaving)
        return self._rows.nbytes + sum(answer.nbytes for answer in queued)

    def growth_bytes(self, changes: int) -> int:
        """Peak of additional bytes, with one more answer."""
        return self._rows.growth_bytes(changes) + self._rows.counts.nbytes

    def held(self, at: int) -> Changes:
        """The answers in the window, as if all had entered at that instant."""
        waiting = {answer.time for answer in self._entering}
        inside = [answer for answer in self._leaving if answer.time not in waiting]
        found = self._changes(inside)
        return Changes(np.full(found.size, at, np.int64), -found.weight, found.columns)

    def saved(self) -> dict[str, pa.Table]:
        """The input, and the answers that are in the window or will be."""
        codes, counts = self._held()
        rows = self._table(codes).append_column("many", pa.array(counts))
        tables = {"rows": rows, "clock": pa.table({"clock": [self._clock], "first": [self._first]})}
        for name, queue in (("entering", self._entering), ("leaving", self._leaving)):
            sizes = [answer.codes.size for answer in queue]
            found = self._table(np.concatenate([_NO_CODES, *(each.codes for each in queue)]))
            found = found.append_column("at", pa.array(np.repeat([a.at for a in queue], sizes)))
            times = np.repeat([answer.time for answer in queue], sizes)
            found = found.append_column("time", pa.array(times))
            weight = np.concatenate([_EMPTY, *(answer.weight for answer in queue)])
            tables[name] = found.append_column("many", pa.array(weight))
        return tables

    def load(self, tables: Mapping[str, pa.Table]) -> None:
        """Back from saved(), into a new operator."""
        codes = self._acquired(tables["rows"])
        self._rows.counts[codes, 0] = tables["rows"].column("many").to_numpy()
        self._rows.hold(codes)
        (clock,) = tables["clock"].to_pylist()
        self._clock, self._first = clock["clock"], clock["first"]
        for name, queue in (("entering", self._entering), ("leaving", self._leaving)):
            table = tables[name]
            codes, columns = self._acquired(table), ("at", "time", "many")
            at, time, many = (table.column(each).to_numpy().astype(np.int64) for each in columns)
            changed = np.flatnonzero(time[1:] != time[:-1]) + 1
            bounds = [0, *changed.tolist(), time.size] if time.size else []
            for own in map(slice, bounds[:-1], bounds[1:]):
                queue.append(_Answer(int(at[own][0]), int(time[own][0]), codes[own], many[own]))

    def _table(self, codes: Codes) -> pa.Table:
        columns = self._rows.coder.columns(codes)
        return pa.Table.from_arrays(list(columns), names=[f"c{i}" for i in range(len(columns))])

    def _acquired(self, table: pa.Table) -> Codes:
        width = len(self._types) - 1
        columns = [column.combine_chunks() for column in table.columns[:width]]
        return self._rows.acquire(columns, table.num_rows)

    def _answer(self, changes: Changes, codes: Codes, until: int) -> None:
        """Count the changes; at each tick the rows that are held then are an answer."""
        done, size = 0, changes.size
        held: tuple[Codes, Vector] | None = None
        tick = until + 1 if self._first is None else self._at_tick(self._first, self._clock + 1)
        while tick <= until:
            end = int(np.searchsorted(changes.at, tick, side="right"))
            if end > done or held is None:
                self._count(changes, codes, done, end)
                done, held = end, self._held()
                following = int(changes.at[end]) if end < size else until + 1
                stop = self._at_tick(following)
                if held[0].size:
                    tick = max(tick, stop - TICKS_LIMIT * self._every)
            if held[0].size:
                self._enter(tick, *held)
                tick += self._every
            elif end == size:
                break
            else:
                tick = stop  # nothing is held until something changes
        self._count(changes, codes, done, size)

    def _at_tick(self, *instants: int) -> int:
        """The first tick that is not before any of these."""
        return -(-max(instants) // self._every) * self._every

    def _count(self, changes: Changes, codes: Codes, begin: int, end: int) -> None:
        np.add.at(self._rows.counts[:, 0], codes[begin:end], changes.weight[begin:end])

    def _held(self) -> tuple[Codes, Vector]:
        codes = np.flatnonzero(self._rows.counts[:, 0]).astype(np.int32)
        return codes, self._rows.counts[codes, 0]

    def _enter(self, time: int, codes: Codes, weight: Vector) -> None:
        time += self._offset
        tick = np.array([time])
        self._rows.coder.retain(codes)
        self._entering.append(_Answer(int(self._lifetime.enter(tick)[0]), time, codes, weight))
        self._rows.coder.retain(codes)
        leave = int(self._lifetime.leave(tick)[0])
        self._leaving.append(_Answer(leave, time, codes, -weight))

    def _given(self, until: int) -> Changes:
        """What enters and leaves until then, in time order."""
        coming = list(_due(self._entering, until))
        self.entered = np.array([answer.at for answer in coming], np.int64)
        due = [*coming, *_due(self._leaving, until)]
        if not due:
            return no_changes(self._types)
        due.sort(key=lambda answer: answer.at)
        changes = self._changes(due)
        self._rows.coder.release(np.concatenate([answer.codes for answer in due]))
        return changes

    def _changes(self, due: Sequence[_Answer]) -> Changes:
        if not due:
            return no_changes(self._types)
        sizes = [answer.codes.size for answer in due]
        codes = np.concatenate([answer.codes for answer in due])
        times = pa.array(np.repeat([answer.time for answer in due], sizes)).cast(self._types[0])
        return Changes(
            np.repeat([answer.at for answer in due], sizes),
            np.concatenate([answer.weight for answer in due]),
            (times, *self._rows.coder.columns(codes)),
        )


def _due(queue: deque[_Answer], until: int) -> Iterator[_Answer]:
    while queue and queue[0].at <= until:
        yield queue.popleft()
