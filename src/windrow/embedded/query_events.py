"""The newest answer of a query after every event: by a run beside the shard, or from the result.

A run is built from the rows that the shard holds once slow readings have cost about as much as
building it, and dropped whenever something happens that it does not follow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from windrow.events.answer import Answer, answer_of
from windrow.events.event_run import EventRun, StreamFeed
from windrow.events.giving_up import GivesUpError
from windrow.plan.model import QueryPlan
from windrow.runtime.shard import Shard
from windrow.service_levels import INCOMPLETE

if TYPE_CHECKING:
    from windrow.embedded.ingest import Ingest
    from windrow.embedded.query import EmbeddedQuery

__all__ = ["QueryEvents"]

# A slow reading takes about as long as building a run takes for so many rows.
ROWS_PER_READING = 300
# A run that nobody has read for so many batches of gathered rows is dropped.
BATCHES_UNREAD = 2
# A run may take this part of the session's budget.
BUDGET_PARTS = 8
# About what a row of a run takes, before it is built.
ROW_BYTES_GUESSED = 400


class QueryEvents:
    """The events of one query."""

    def __init__(self, query: EmbeddedQuery, ingest: Ingest) -> None:
        self._query, self._ingest = query, ingest
        self._run: EventRun | None = None
        self._steps = -1  # the steps of the session that the run has followed
        self._slow, self._patience = 0, 1
        self._is_known = isinstance(query.plan, QueryPlan)  # whether runs may do it
        self._batches = 0

    @property
    def run(self) -> EventRun | None:
        """The run, while it follows."""
        return self._run

    @property
    def nbytes(self) -> int:
        """About the bytes of the run."""
        return 0 if self._run is None else self._run.nbytes

    def latest(self) -> Answer:
        """The answer now; the lock is held by whoever reads."""
        run, ingest = self._run, self._ingest
        if run is not None:
            self._batches = 0
            if self._steps == ingest.steps and not run.is_torn:
                try:
                    run.catch_up(ingest.arrived_us if ingest.is_by_arrival else None)
                    return run.answer()
                except GivesUpError:
                    self._patience *= 2
            self.drop()
        return self._slow_answer()

    def drop(self) -> None:
        """Let go of the run; the next readings are slow."""
        self._run, self._slow = None, 0

    def catch_up(self) -> None:
        """Gathered rows are about to be applied: read them before."""
        run = self._run
        if run is None:
            return
        self._batches += 1
        follows = self._steps == self._ingest.steps and not run.is_torn
        if not follows or self._batches > BATCHES_UNREAD or not self._has_room(run.nbytes):
            self.drop()
            return
        try:
            run.catch_up(self._ingest.arrived_us)
        except GivesUpError:
            self.drop()

    def confirm(self) -> None:
        """Gathered rows were applied, or heartbeats: it follows if it has come as far as these."""
        run = self._run
        if run is None:
            return
        if not self._is_plain or run.is_torn:
            self.drop()
            return
        for feed in run.feeds:
            stream = self._ingest.streams[feed.name]
            if stream.gathered.rows:
                self.drop()
                return
            feed.begin(stream.completeness.through, stream.believed_until_us)
        self._steps = self._ingest.steps

    def _slow_answer(self) -> Answer:
        query = self._query
        rows = query.result().to_pylist()
        level = INCOMPLETE if query.lacks_rows() else "A"
        answer = answer_of(rows, query.clock, level)
        if self._is_known:
            self._slow += 1
            self._build()
        return answer

    @property
    def _is_plain(self) -> bool:
        """Whether the query is as its plan says: nothing narrowed, missing or failed."""
        return self._query.is_plain and self._query.is_running

    def _build(self) -> None:
        """Build a run, where that pays by now and there is room for it."""
        query = self._query
        shard, plan = query.held_shard, query.plan
        assert isinstance(plan, QueryPlan)
        if self._slow < self._patience or not self._is_plain or not isinstance(shard, Shard):
            return
        rows = sum(count for _, count, _ in query.window_statistics())
        if rows > self._slow * ROWS_PER_READING or not self._has_room(rows * ROW_BYTES_GUESSED):
            return
        try:
            run = EventRun(plan, [self._feed(name) for name in plan.streams])
        except GivesUpError:
            self._is_known = False
            return
        try:
            inputs = range(len(plan.inputs))
            run.load({i: shard.input_rows(plan, i) for i in inputs}, shard.clock)
        except GivesUpError:
            self._slow, self._patience = 0, 2 * self._patience
            return
        self._run, self._batches = run, 0
        self.confirm()

    def _feed(self, name: str) -> StreamFeed:
        stream = self._ingest.streams[name]
        return StreamFeed(name, stream.gathered, stream.time_place, *stream.completeness.margins)

    def _has_room(self, nbytes: int) -> bool:
        return nbytes <= self._ingest.memory // BUDGET_PARTS
