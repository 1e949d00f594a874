"""Answers of a query with ERROR: each with its level and, where it is not exact, its error bound.

How good an answer is depends on what the window held at its instant. So answers are taken from the
publisher while that is known: after every step of the clock that was less than exact, and before
the width changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.backlog import Backlog, joined_rows
from windrow.event_time import START_OF_TIME
from windrow.governor.bounded.arrival_watch import ArrivalWatch
from windrow.governor.bounded.fill_in import FillIn, reason_against_filling
from windrow.governor.bounded.inner_plan import InnerPlan, net_changes
from windrow.history.history import History
from windrow.output.publish import Publisher
from windrow.output.unread_limit import UNREAD_BYTES
from windrow.plan.model import QueryPlan
from windrow.rows.frames import pack, unpack
from windrow.rows.prepare import lifetime_of
from windrow.windows.lifetime import Lifetime, lifetimes_from_json, lifetimes_to_json
from windrow.windows.marks import DeepMark, Mark

__all__ = ["ANSWERS_LIMIT", "BoundedAnswers", "BoundedMark"]

# Of unread bounded answers this many of the newest rows are kept, the others counted as lost.
ANSWERS_LIMIT = 1_000_000


class BoundedMark(NamedTuple):
    """How bounded answers were before a step."""

    own: Mark
    watch: DeepMark


class BoundedAnswers:
    """Stands between a publisher of an inner plan and its reader."""

    def __init__(self, inner: InnerPlan, publisher: Publisher) -> None:
        self._inner, self._publisher = inner, publisher
        self.watch = ArrivalWatch(inner)
        self._lifetime = lifetime_of(inner.plan.inputs[0].window)
        self._full = self._lifetime
        self._edge = START_OF_TIME  # rows that entered before are gone
        self._clock = START_OF_TIME
        self._given: Backlog[pa.Table] = Backlog(joined_rows)
        self._next = 0  # the number of the first row of answers that nobody has read
        self._empty: pa.Table | None = None
        self.rows_lost = 0
        self.unread_limit = UNREAD_BYTES
        self._fill: FillIn | None = None

    def mark(self) -> BoundedMark:
        """How it is now, for a step that may fail; the publisher has a mark of its own."""
        return BoundedMark(Mark(self, self._given), DeepMark(self.watch))

    def rewind(self, mark: BoundedMark) -> None:
        """Be as at the mark."""
        mark.own.rewind()
        mark.watch.rewind()

    def fill_from(self, history: History, known_from_us: int) -> str | None:
        """Complete answers from a history from now on; why not, where it cannot.

        known_from_us: from there on the history has exactly the rows that the query was given.
        """
        reason = reason_against_filling(self._inner.plan, history.spec)
        if reason is None:
            self._take()
            self._fill = FillIn(self._inner, history, self.watch.range_us, known_from_us)
        return reason

    def read_from(self, history: History) -> None:
        """Where answers are completed, the history is this object from now on."""
        if self._fill is not None:
            self._fill.read_from(history)

    def change_lifetime(self, lifetime: Lifetime, clock: int) -> None:
        """The window lets rows go by another lifetime after the answers up to the clock."""
        self._take()
        self._edge = max(self._edge, int(self._edges(np.array([clock]))[0]))
        self._lifetime = lifetime
        self._edge = max(self._edge, int(lifetime.edge(np.array([clock]))[0]))

    def lose_before(self, edge: int) -> None:
        """Rows that entered before the edge leave now, after the answers up to the clock."""
        self._take()
        self._edge = max(self._edge, edge)

    def advance(self, clock: int) -> None:
        """The publisher has absorbed the step to this clock."""
        self.watch.advance(clock)
        if not self.is_exact(self._clock):
            self._take()
        self._clock = clock
        if self._lifetime.hold_us == self._full.hold_us and self.is_exact(clock):
            self._edge = START_OF_TIME

    def is_exact(self, clock: int) -> bool:
        """Whether the window holds its whole range from the clock on, as things are."""
        edge = int(self._edges(np.array([clock]))[0])
        return edge <= clock - self.watch.range_us and not self._lifetime.turn_growth_us

    def answers(self) -> pa.Table:
        """Every answer since the last call: at, level, error_bound, then the select list."""
        self._take()
        given = pa.concat_tables([self._empty, *self._given.since(self._next)])
        self._let_go(self._given.end)
        return given

    def result(self) -> pa.Table:
        """The answer at the clock."""
        table = self._publisher.result()
        if self._fill is None or not table.num_rows or self.is_exact(self._clock):
            return self._inner.visible(table)
        at = np.full(table.num_rows, self._clock)
        return self._fill.filled(table, at, self._edges(at))[0]

    def changes(self, limit: int | None = None) -> pa.Table:
        """Rows that came and went since the last call."""
        changes = self._publisher.changes(limit)
        net = net_changes(self._inner, changes)
        return net.replace_schema_metadata(changes.schema.metadata)

    @property
    def plan(self) -> QueryPlan:
        """The plan that the publisher has."""
        return self._inner.plan

    @property
    def nbytes(self) -> int:
        """Bytes of what is known about arrivals, and of answers that nobody has read."""
        return self.watch.nbytes + self._given.nbytes

    @property
    def unread_bytes(self) -> int:
        """Bytes of answers that nobody has read."""
        return self._given.nbytes

    @property
    def lifetime(self) -> Lifetime:
        """How long rows stay now."""
        return self._lifetime

    def snapshot(self) -> tuple[bytes, bytes]:
        """Everything that the next step needs but the publisher: answers, and what bounds them."""
        header = {
            "lifetimes": lifetimes_to_json({0: self._lifetime}),
            "edge": self._edge,
            "clock": self._clock,
            "rows_lost": self.rows_lost,
        }
        given = self._given.since(self._next)
        tables = {str(number): table for number, table in enumerate(given)}
        return pack("judged", header, tables), self.watch.snapshot()

    @classmethod
    def restore(
        cls, inner: InnerPlan, publisher: Publisher, saved: tuple[bytes, bytes]
    ) -> BoundedAnswers:
        """What snapshot() saved, for the publisher that was saved with it."""
        header, tables = unpack("judged", saved[0])
        bounded = cls(inner, publisher)
        bounded._lifetime = lifetimes_from_json(header["lifetimes"])[0]
        bounded._edge, bounded._clock = header["edge"], header["clock"]
        bounded.rows_lost = header["rows_lost"]
        for table in tables.values():
            bounded._given.append(table)
        bounded.watch.load(saved[1])
        return bounded

    def restored(self, publisher: Publisher, saved: Sequence[bytes]) -> BoundedAnswers:
        """Another one as snapshot() saved it, with the limits and the history of this one."""
        made = BoundedAnswers.restore(self._inner, publisher, (saved[0], saved[1]))
        made.unread_limit = self.unread_limit
        if made._given.parts:
            made._empty = made._given.parts[0].schema.empty_table()
        made._fill = self._fill
        return made

    def _edges(self, instants: NDArray[np.int64]) -> NDArray[np.int64]:
        edges: NDArray[np.int64] = np.maximum(self._lifetime.edge(instants), self._edge)
        return edges

    def _take(self) -> None:
        table = self._publisher.answers()
        if table.num_rows or self._empty is None:
            bounded = self._with_bounds(table)
            self._empty = bounded.schema.empty_table()
            self._given.append(bounded)
        self._lose(self._given.end - self._next - ANSWERS_LIMIT)
        self.shrink(self.unread_limit)

    def shrink(self, limit_bytes: int) -> None:
        """Let go of the older half of the answers until they take no more bytes than that."""
        while self._given.nbytes > limit_bytes and self._next < self._given.end:
            self._lose((self._given.end - self._next + 1) // 2)

    def _lose(self, count: int) -> None:
        if count > 0:
            self.rows_lost += count
            self._let_go(self._next + count)

    def _let_go(self, number: int) -> None:
        self._next = number
        self._given.drop_before(number)

    def _with_bounds(self, table: pa.Table) -> pa.Table:
        at = table.column("at").cast(pa.int64()).to_numpy()
        edges = self._edges(at)
        short = edges > at - self.watch.range_us
        shown = self._inner.visible(table)
        in_turns = bool(self._lifetime.turn_growth_us)
        if not short.any() and not in_turns:
            return shown
        bounds = np.zeros(at.size)
        places = np.flatnonzero(short)
        if places.size:
            rows = table.take(pa.array(places))
            bounds[places] = self.watch.bounds(rows, at[places], edges[places])
            if self._fill is not None:
                shown = self._filled(shown, rows, places, at, edges, bounds)
        # At the end of a turn the window may have its whole range: still it had to be waited for.
        level = np.where(short | in_turns, "C" if in_turns else "B", "A")
        columns = {
            "level": pa.array(level, pa.string()),
            "error_bound": pa.array(bounds, mask=~short & (not in_turns)),
        }
        for name, column in columns.items():
            shown = shown.set_column(shown.schema.get_field_index(name), name, column)
        return shown

    def _filled(
        self,
        shown: pa.Table,
        rows: pa.Table,
        places: NDArray[np.int64],
        at: NDArray[np.int64],
        edges: NDArray[np.int64],
        bounds: NDArray[np.float64],
    ) -> pa.Table:
        """The answers with what the history adds to them, where that is surer; so are `bounds`."""
        assert self._fill is not None
        filled, surer = self._fill.filled(rows, at[places], edges[places])
        better = surer <= bounds[places]
        bounds[places[better]] = surer[better]
        source = np.arange(at.size)
        source[places[better]] = at.size + np.flatnonzero(better)
        columns = list(shown.columns)
        for name in self._inner.shown:
            index = shown.schema.get_field_index(name)
            kind = shown.schema.field(name).type
            both = pa.concat_arrays(
                [_one(shown.column(name)), _one(filled.column(name)).cast(kind)]
            )
            columns[index] = both.take(pa.array(source))
        return pa.Table.from_arrays(columns, schema=shown.schema)


def _one(column: pa.ChunkedArray) -> pa.Array:
    return column.combine_chunks()
