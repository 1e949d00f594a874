"""Answers of a query with ERROR: each with its level and, where it is not exact, its error bound.

How good an answer is depends on what the window held at its instant. So answers are taken from the
publisher while that is known: after every step of the clock that was less than exact, and before
the width changes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.event_time import START_OF_TIME
from windrow.governor.bounded.arrival_watch import ArrivalWatch
from windrow.governor.bounded.completion import can_complete, completed_rows, with_lost_groups
from windrow.governor.bounded.fill_in import FillIn, reason_against_filling
from windrow.governor.bounded.given_answers import GivenAnswers
from windrow.governor.bounded.inner_plan import InnerPlan, net_changes
from windrow.governor.governed_input import KeptTail
from windrow.history.history import History
from windrow.output.feed_columns import timestamps
from windrow.output.publish import Publisher
from windrow.plan.model import QueryPlan
from windrow.rows.frames import pack, unpack
from windrow.rows.prepare import lifetime_of
from windrow.windows.instants import NO_INSTANTS
from windrow.windows.lifetime import Lifetime, lifetimes_from_json, lifetimes_to_json
from windrow.windows.marks import DeepMark, Mark

__all__ = ["BoundedAnswers", "BoundedMark"]


class BoundedMark(NamedTuple):
    """How bounded answers were before a step."""

    own: Mark
    watch: DeepMark


class BoundedAnswers:
    """Stands between a publisher of an inner plan and its reader.

    completes: answers are made of the rows held and of panes, where that can be.
    """

    def __init__(self, inner: InnerPlan, publisher: Publisher, *, completes: bool = False) -> None:
        self._inner, self._publisher = inner, publisher
        self._may_complete = completes
        self._completes = completes and can_complete(inner)
        self.watch = ArrivalWatch(inner, completes=self._completes)
        self._lifetime = lifetime_of(inner.plan.inputs[0].window)
        self._full = self._lifetime
        self._edge = START_OF_TIME  # rows that entered before are gone
        self._clock = START_OF_TIME
        self._given = GivenAnswers()
        self._fill: FillIn | None = None

    def mark(self) -> BoundedMark:
        """How it is now, for a step that may fail; the publisher has a mark of its own."""
        return BoundedMark(Mark(self, *self._given.parts), DeepMark(self.watch))

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

    def change_lifetime(self, lifetime: Lifetime, clock: int, input_index: int = 0) -> None:
        """The window lets rows go by another lifetime after the answers up to the clock."""
        assert input_index == 0, "one window"
        self._take()
        self._edge = max(self._edge, int(self._edges(np.array([clock]))[0]))
        self._lifetime = lifetime
        self._edge = max(self._edge, int(lifetime.edge(np.array([clock]))[0]))

    def lose_before(self, edge: int, input_index: int = 0) -> None:
        """Rows that entered before the edge leave now, after the answers up to the clock."""
        assert input_index == 0, "one window"
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
        return self._given.take()

    def result(self) -> pa.Table:
        """The answer at the clock."""
        table = self._publisher.result()
        if self.is_exact(self._clock):
            return self._inner.visible(table)
        at = timestamps(np.full(table.num_rows, self._clock))
        given = self._with_bounds(table.add_column(0, "at", at), np.array([self._clock]))
        return given.select(list(self._inner.shown))

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
            "rows_lost": self._given.rows_lost,
        }
        tables = {str(number): table for number, table in enumerate(self._given.unread())}
        return pack("judged", header, tables), self.watch.snapshot()

    @classmethod
    def restore(
        cls,
        inner: InnerPlan,
        publisher: Publisher,
        saved: tuple[bytes, bytes],
        *,
        completes: bool = False,
    ) -> BoundedAnswers:
        """What snapshot() saved, for the publisher that was saved with it."""
        header, tables = unpack("judged", saved[0])
        bounded = cls(inner, publisher, completes=completes)
        bounded._lifetime = lifetimes_from_json(header["lifetimes"])[0]
        bounded._edge, bounded._clock = header["edge"], header["clock"]
        bounded._given.rows_lost = header["rows_lost"]
        for table in tables.values():
            bounded._given.add(table)
        bounded.watch.load(saved[1])
        return bounded

    def restored(self, publisher: Publisher, saved: Sequence[bytes]) -> BoundedAnswers:
        """Another one as snapshot() saved it, with the limits and the history of this one."""
        made = BoundedAnswers.restore(
            self._inner, publisher, (saved[0], saved[1]), completes=self._may_complete
        )
        made.unread_limit = self.unread_limit
        made.limit(self.watch.profile.bytes_limit)
        made._fill = self._fill
        return made

    def _edges(self, instants: NDArray[np.int64]) -> NDArray[np.int64]:
        edges: NDArray[np.int64] = np.maximum(self._lifetime.edge(instants), self._edge)
        return edges

    def _take(self) -> None:
        instants = self._publisher.due_instants() if self._inner.groups else NO_INSTANTS
        table = self._publisher.answers()
        if table.num_rows or instants.size or self._given.is_new:
            self._given.add(self._with_bounds(table, instants))
        self._given.trim()

    def shrink(self, limit_bytes: int) -> None:
        """Let go of the older half of the answers until they take no more bytes than that."""
        self._given.shrink(limit_bytes)

    @property
    def rows_lost(self) -> int:
        """Rows of answers that were dropped because nobody read them."""
        return self._given.rows_lost

    @property
    def unread_limit(self) -> int:
        """Bytes for answers that nobody has read."""
        return self._given.unread_limit

    @unread_limit.setter
    def unread_limit(self, limit_bytes: int) -> None:
        self._given.unread_limit = limit_bytes

    def take(self, input_index: int, batch: pa.RecordBatch) -> None:
        """Rows of the stream, in order of arrival, all later than the clock."""
        assert input_index == 0, "one window"
        self.watch.take(batch)

    def next_stop(self, until: int) -> int:
        """How far the clock may go at once for every answer to be aggregate."""
        return self.watch.next_stop(until)

    def tolerated_span_us(self, input_index: int, percent: float, clock_us: int) -> int:
        """How much narrower the window may be for all aggregates to stay within the error."""
        assert input_index == 0, "one window"
        return self.watch.tolerated_span_us(percent, clock_us)

    @property
    def state_bytes(self) -> int:
        """Bytes of what is known about arrivals."""
        return self.watch.nbytes

    def limit(self, most_bytes: int) -> None:
        """Let the profile take no more than that from now on."""
        self.watch.profile.limit(most_bytes)

    def tail(self, input_index: int) -> KeptTail:
        """The cells of the arrival profile."""
        assert input_index == 0, "one window"
        profile = self.watch.profile
        return KeptTail(profile.cell_count, profile.pane_us, profile.pane_count, self.watch.nbytes)

    @property
    def pane_us(self) -> int:
        """A window as wide as a number of panes is cut at the border of one, at ticks of EVERY."""
        return self.watch.profile.pane_us if self._completes else 1

    @property
    def shortest_range_us(self) -> int:
        """The range of the window."""
        return self.watch.range_us

    def _with_bounds(self, table: pa.Table, instants: NDArray[np.int64]) -> pa.Table:
        """Answers as they are given out; instants: all of them, as groups may have none."""
        if self._completes and self._inner.groups:
            edges = self._edges(instants)
            short = edges > instants - self.watch.range_us
            lacking = (instants[short], edges[short])
            table = with_lost_groups(self._inner, self.watch, table, *lacking)
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
            for filled, surer in self._completed(rows, at[places], edges[places]):
                shown = self._filled(shown, filled, surer, places, bounds)
        # At the end of a turn the window may have its whole range: still it had to be waited for.
        level = np.where(short | in_turns, "C" if in_turns else "B", "A")
        columns = {
            "level": pa.array(level, pa.string()),
            "error_bound": pa.array(bounds, mask=~short & (not in_turns)),
        }
        for name, column in columns.items():
            if name in shown.schema.names:
                shown = shown.set_column(shown.schema.get_field_index(name), name, column)
        return shown

    def _completed(
        self, rows: pa.Table, at: NDArray[np.int64], edges: NDArray[np.int64]
    ) -> Iterator[tuple[pa.Table, NDArray[np.float64]]]:
        """The answers with what panes add to them, and with what a history does; their bounds."""
        if self._completes:
            yield completed_rows(self._inner, self.watch, rows, at, edges)
        if self._fill is not None:
            yield self._fill.filled(rows, at, edges)

    def _filled(
        self,
        shown: pa.Table,
        filled: pa.Table,
        surer: NDArray[np.float64],
        places: NDArray[np.int64],
        bounds: NDArray[np.float64],
    ) -> pa.Table:
        """The answers, the completed ones where they are surer; so are `bounds`."""
        better = surer <= bounds[places]
        bounds[places[better]] = surer[better]
        source = np.arange(shown.num_rows)
        source[places[better]] = shown.num_rows + np.flatnonzero(better)
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
