"""Answers of a join with ERROR: from its rows while windows are whole, else from cells.

What the cells say of an instant they can say once the clock is there and no later row is counted.
So the instants of a step are gone through one by one where windows are narrower than asked.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from windrow.event_time import START_OF_TIME
from windrow.governor.bounded.answers import BoundedMark
from windrow.governor.bounded.given_answers import GivenAnswers
from windrow.governor.bounded.shown_values import shown_value
from windrow.governor.coarse.join_cells import BYTES_LIMIT, JoinCells, JoinedTruths
from windrow.governor.governed_input import KeptTail
from windrow.history.history import History
from windrow.output.feed_columns import timestamps
from windrow.output.known_groups import KnownGroups
from windrow.output.publish import Publisher
from windrow.plan.expressions import AggregateRef, Expr, GroupRef
from windrow.plan.model import QueryPlan
from windrow.rows.evaluate import evaluate_checked
from windrow.windows.lifetime import Lifetime
from windrow.windows.marks import DeepMark, Mark

__all__ = ["JoinedAnswers"]

Instants = NDArray[np.int64]


class JoinedAnswers:
    """Stands between the publisher of a join and its reader."""

    def __init__(self, plan: QueryPlan, publisher: Publisher) -> None:
        self._plan, self._publisher = plan, publisher
        self.cells = JoinCells(plan)
        self._full = [each.full for each in self.cells.inputs]
        self._lifetimes = list(self._full)
        self._edges = [START_OF_TIME] * len(self._full)  # rows that entered before are gone
        self._clock = START_OF_TIME
        self._given = GivenAnswers()

    def mark(self) -> BoundedMark:
        """How it is now, for a step that may fail; the publisher has a mark of its own."""
        return BoundedMark(Mark(self, *self._given.parts), DeepMark(self.cells))

    def rewind(self, mark: BoundedMark) -> None:
        """Be as at the mark."""
        mark.own.rewind()
        mark.watch.rewind()

    def take(self, input_index: int, batch: pa.RecordBatch) -> None:
        """Rows of the stream of an input, in order of arrival, all later than the clock."""
        self.cells.take(input_index, batch)

    def next_stop(self, until: int) -> int:
        """How far the clock may go at once."""
        return self.cells.next_stop(until)

    def change_lifetime(self, lifetime: Lifetime, clock: int, input_index: int = 0) -> None:
        """A window lets rows go by another lifetime after the answers up to the clock."""
        self._take(clock, is_last=True)
        gone = self._edge(input_index, clock)
        self._lifetimes[input_index] = lifetime
        now = int(lifetime.edge(np.array([clock]))[0])
        self._edges[input_index] = max(self._edges[input_index], gone, now)

    def lose_before(self, edge: int, input_index: int = 0) -> None:
        """Rows that entered before the edge leave now, after the answers up to the clock."""
        self._take(self._clock, is_last=True)
        self._edges[input_index] = max(self._edges[input_index], edge)

    def fill_from(self, history: History, known_from_us: int) -> str | None:
        """A history of one stream knows nothing of joined rows."""
        del history, known_from_us
        return "it is of one stream, and joined rows are of several"

    def advance(self, clock: int) -> None:
        """The publisher has absorbed the step to this clock."""
        self._take(clock)
        self.cells.advance(clock)
        self._clock = clock
        for number, full in enumerate(self._full):
            if self._lifetimes[number].hold_us == full.hold_us and self._is_whole(number, clock):
                self._edges[number] = START_OF_TIME

    def is_exact(self, clock: int) -> bool:
        """Whether all windows hold their whole ranges at the clock, as things are."""
        return all(self._is_whole(number, clock) for number in range(len(self._full)))

    def _is_whole(self, number: int, at_us: int) -> bool:
        return self._edge(number, at_us) <= int(self._full[number].edge(np.array([at_us]))[0])

    def _edge(self, number: int, at_us: int) -> int:
        edge = int(self._lifetimes[number].edge(np.array([at_us]))[0])
        return max(edge, self._edges[number])

    def answers(self) -> pa.Table:
        """Every answer since the last call: at, level, error_bound, then the select list."""
        self._take(self._clock, is_last=True)
        return self._given.take()

    def result(self) -> pa.Table:
        """The answer at the clock."""
        if self.is_exact(self._clock):
            return self._publisher.result()
        return self._rows_at(self._clock).select([each.name for each in self._plan.select])

    def changes(self, limit: int | None = None) -> pa.Table:
        """Rows that came and went since the last call, by the rows held alone."""
        return self._publisher.changes(limit)

    def _take(self, until: int, *, is_last: bool = False) -> None:
        """Take the answers up to an instant from the publisher, those that lack rows from cells.

        is_last: windows change now, so that later nobody could tell how good these are.
        """
        instants = self._publisher.due_instants()
        short = np.array([not self.is_exact(at) for at in instants.tolist()], np.bool_)
        if not short.any() and not is_last:
            return  # the publisher can keep them
        table = self._publisher.answers()
        exact = np.isin(table.column("at").cast(pa.int64()).to_numpy(), instants[~short])
        parts = [table.filter(pa.array(exact))]
        for at in instants[short].tolist():
            self.cells.advance(at)
            parts.append(self._rows_at(at).cast(table.schema))
        self.cells.advance(max(until, self._clock))
        joined = pa.concat_tables(parts)
        order = np.argsort(joined.column("at").cast(pa.int64()).to_numpy(), kind="stable")
        self._given.add(joined.take(pa.array(order)))
        self._given.trim()

    def _rows_at(self, at: int) -> pa.Table:
        """The rows of the answer at an instant, from cells."""
        found = self.cells.truths(at)
        values, bound = self._values(found)
        bound[~found.is_sure] = np.inf
        columns, order = [], self._order(found)
        for item in self._plan.select:
            shown, faults = evaluate_checked(item.expression, values.__getitem__, found.size)
            if faults is not None:
                bound[faults] = np.inf
            columns.append(shown)
        level = pa.repeat("B", found.size)
        head = [timestamps(np.full(found.size, at)), level, pa.array(bound)]
        names = ["at", "level", "error_bound", *(each.name for each in self._plan.select)]
        return pa.Table.from_arrays([*head, *columns], names=names).take(pa.array(order))

    def _values(self, found: JoinedTruths) -> tuple[dict[Expr, pa.Array], NDArray[np.float64]]:
        bound = np.zeros(found.size)
        values: dict[Expr, pa.Array] = {}
        for number, (aggregate, truth) in enumerate(
            zip(self._plan.aggregates, found.truths, strict=True)
        ):
            kind = aggregate.type.arrow
            shown, error, known = shown_value(truth.interval, kind)
            error = np.where(truth.is_null, 0.0, np.where(known, error, np.inf))
            nothing = pa.scalar(None, kind)
            shown = pc.if_else(pa.array(truth.is_null), nothing, shown)
            values[AggregateRef(number, aggregate.type)] = shown
            bound = np.maximum(bound, error)
        named = self.cells.group_values(found)
        for number, part in enumerate(self._plan.group_by):
            if number in named:
                values[GroupRef(number, part.type)] = named[number]
            else:
                constant, _ = evaluate_checked(part, values.__getitem__, found.size)
                values[GroupRef(number, part.type)] = constant
        return values, bound

    def _order(self, found: JoinedTruths) -> NDArray[np.int64]:
        """Groups in the order of their values, as in every feed."""
        named = list(self.cells.group_values(found).values())
        if not named:
            return np.arange(found.size)
        groups = KnownGroups([each.type for each in named])
        rank = groups.rank(groups.codes_of(named, found.size))
        return np.argsort(rank, kind="stable")

    def tolerated_span_us(self, input_index: int, percent: float, clock_us: int) -> int:
        """How much narrower a window may be for all aggregates to stay within the error."""
        return self.cells.tolerated_span_us(input_index, percent, clock_us)

    def limit(self, most_bytes: int) -> None:
        """Let cells take no more than that from now on, unless their widest panes do."""
        self.cells.bytes_limit = min(BYTES_LIMIT, most_bytes)

    def tail(self, input_index: int) -> KeptTail:
        """The cells of an input."""
        panes = self.cells.inputs[input_index].panes
        return KeptTail(panes.cell_count, panes.pane_us, panes.pane_count, panes.nbytes)

    @property
    def pane_us(self) -> int:
        """Rows held do not matter to what cells say: any width will do."""
        return 1

    @property
    def shortest_range_us(self) -> int:
        """The shortest range of its windows."""
        return min(each.range_us for each in self.cells.inputs)

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

    def shrink(self, limit_bytes: int) -> None:
        """Let go of the older half of the answers until they take no more bytes than that."""
        self._given.shrink(limit_bytes)

    @property
    def unread_bytes(self) -> int:
        """Bytes of answers that nobody has read."""
        return self._given.nbytes

    @property
    def state_bytes(self) -> int:
        """Bytes of cells."""
        return self.cells.nbytes
