"""The newest answer of a query after every event: by a run beside the shard, or from the result.

A run is built from the rows that the shard holds once slow readings have cost about as much as
building it, and dropped whenever something happens that it does not follow.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from windrow.embedded.slow_events import SlowEvents
from windrow.errors import WindrowError
from windrow.event_time import START_OF_TIME
from windrow.events.answer import Answer, answer_of
from windrow.events.event import Event
from windrow.events.event_group import EventGroup
from windrow.events.event_log import EventLog
from windrow.events.event_run import EventRun
from windrow.events.giving_up import GivesUpError
from windrow.events.stream_feed import StreamFeed
from windrow.events.subscriptions import Subscription, Subscriptions
from windrow.followers import Follower
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
        self._is_alone = False  # its run was given up with others: it does not go with them again
        self._slow, self._patience = 0, 1
        self._is_known = isinstance(query.plan, QueryPlan)  # whether runs may do it
        self._batches = 0
        self._subscriptions, self._log = Subscriptions(), EventLog()
        self._reader: SlowEvents | None = None  # reads for those who have subscribed, without a run

    @property
    def is_by_arrival(self) -> bool:
        """Whether the clock moves by arrival."""
        return self._ingest.is_by_arrival

    @property
    def run(self) -> EventRun | None:
        """The run, while it follows."""
        return self._run

    @property
    def may_run(self) -> bool:
        """Whether a run may keep the answer; False once its form was found to be another."""
        return self._is_known

    @property
    def nbytes(self) -> int:
        """About the bytes of the run."""
        return 0 if self._run is None else self._run.nbytes

    def latest(self) -> Answer:
        """The answer now; the lock is held by whoever reads."""
        run, ingest = self._run, self._ingest
        if run is None:
            return self._slow_answer()
        self._batches = 0
        group = run.group
        try:
            if (
                group.news != ingest.news
                and group.steps == ingest.steps
                and not (group.is_torn or ingest.has_batches)
            ):
                follow = run.catch_up if run.listens else group.catch_up
                follow(ingest.arrived_us if ingest.is_by_arrival else None)
                group.news = ingest.news
            if group.news == ingest.news and not group.is_torn:
                answer = run.answer()
                answer.at_us = group.clock
                return answer
        except GivesUpError:
            self._patience *= 2
        self.drop()
        return self._slow_answer()

    def subscribe(
        self,
        call: Callable[[Any], object],
        called: Callable[[], object] | None = None,
        ended: Callable[[Exception | None], object] | None = None,
        *,
        to_changes: bool = False,
    ) -> Subscription:
        """Call the function with every answer from now on, or with every change."""
        subscriptions = self._subscriptions
        if subscriptions.any:  # what was pushed before is not for the one that comes now
            self._note()
            self._log.address(subscriptions)
        else:
            self._listen()
        if to_changes and not subscriptions.to_changes:
            self._begin_changes()
        made = Subscription(call, self._leave, called, ended)
        (subscriptions.to_changes if to_changes else subscriptions.to_answers).append(made)
        return made

    def _listen(self) -> None:
        self._stop_listening()
        follower = self._query.follow()
        self._log.begin(self._query.clock)
        self._reader = SlowEvents(self._query, follower, self._log)
        self._ingest.listening.append(self)

    def _begin_changes(self) -> None:
        """From here on changes are noted."""
        if self._run is not None and self._reader is None:
            self._run.note_changes()
        else:
            rows = self._query.result().to_pylist()
            self._log.note(Event(self._query.clock, [], rows=rows))

    def _leave(self, subscription: Subscription) -> None:
        with self._ingest.lock:
            self._subscriptions.leave(subscription)
            if not self._subscriptions.any:
                self._stop_listening()

    def _stop_listening(self) -> None:
        while self in self._ingest.listening:
            self._ingest.listening.remove(self)
        if self._reader is not None:
            self._reader.close()
            self._reader = None
        self._set_run(None)  # it would note what nobody is told
        self._log.begin(START_OF_TIME)

    @property
    def _listens_by_run(self) -> bool:
        """Whether a run knows when answers are due: not with EVERY or windows that close."""
        plan = self._query.plan
        return isinstance(plan, QueryPlan) and plan.every_us is None and plan.closes is None

    def tell(self, problems: list[Exception]) -> bool:
        """Call those who have subscribed with what has happened; whether anything has."""
        if not self._subscriptions.any:  # broken off while the last one left, or the first came
            self._stop_listening()
            return False
        query, failure = self._query, None
        try:
            self._note()
        except WindrowError as problem:
            failure = problem
        has_told = self._log.tell(self._subscriptions, problems)
        if failure is not None:
            problems.append(failure)
        if not query.is_running or self._ingest.have_ended(query.plan.streams):
            self._subscriptions.end(failure)
        return has_told

    def tell_end(self) -> None:
        """The query has ended: those who have subscribed learn it, after what is left."""
        if self._subscriptions.any:
            self._ingest.tell()

    def _note(self) -> None:
        """Note what has happened since this was last done."""
        self._batches = 0
        if self._ingest.has_batches:
            self.drop()
        if self._run is not None and self._reader is None:
            if self._follows(self._run):
                try:
                    self._run.catch_up(self._ingest.arrived_us)
                except GivesUpError:
                    self._patience *= 2
                else:
                    return
            self.drop()
        self._read_slowly()

    def _read_slowly(self) -> None:
        reader = self._reader
        if reader is None:
            return
        reader.read(with_changes=bool(self._subscriptions.to_changes))
        self._slow += 1
        if self._is_known and self._listens_by_run and self._query.is_running:
            self._build()
            if self._run is not None:
                self._run.listen(self._log, self._query.waiting_instants())
                if self._subscriptions.to_changes:
                    self._run.note_changes()
                reader.close()
                self._reader = None

    def keep_up(self) -> None:
        """Something was applied: whatever the run does not follow is read from here on."""
        if self._reader is None and self._run is not None and not self._follows(self._run):
            self.drop()

    def expect_batch(self) -> None:
        """Something is about to be applied that no run follows: what it brings is read after it."""
        run = self._run
        if run is not None and self._reader is None and self._subscriptions.any:
            is_torn = run.group.is_torn
            self._read_instead_of(
                run, self._query.follow_all() if is_torn else self._query.follow()
            )
            self._set_run(None)

    def drop(self) -> None:
        """Let go of the run; the next readings are slow."""
        run, self._slow = self._run, 0
        if run is not None and self._subscriptions.any and self._reader is None:
            self._read_instead_of(run, self._query.follow_all())
        self._set_run(None)

    def _read_instead_of(self, run: EventRun, follower: Follower) -> None:
        """Read from what the run has noted; broken off, this is begun again."""
        if run.told is not None:
            at_us, _ = self._log.newest_answer
            self._log.note(Event(at_us, [], rows=self._log.rows_after(run.told)))
        self._reader = SlowEvents(self._query, follower, self._log)

    def _set_run(self, run: EventRun | None) -> None:
        """The session knows which queries have runs."""
        listed, old = self._ingest.with_runs, self._run
        if old is None:
            self._run = self._query.run_beside = run
        else:
            group, was_torn = old.group, old.group.is_torn
            self._is_alone = self._is_alone or was_torn
            group.is_torn = True  # broken off from here on, all others are built anew
            self._run = self._query.run_beside = run
            old.leave()
            group.is_torn = was_torn
        if run is None and self in listed:
            listed.remove(self)
        elif run is not None and self not in listed:
            listed.append(self)

    def catch_up(self) -> None:
        """Gathered rows are about to be applied: read them before."""
        run = self._run
        if run is None:
            return
        self._batches += 1
        is_unread = self._batches > BATCHES_UNREAD and not self._subscriptions.any
        if not self._follows(run) or is_unread or not self._has_room(run.nbytes):
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
        if not self._is_plain or run.group.is_torn:
            self.drop()
            return
        for feed in run.group.feeds:
            stream = self._ingest.streams[feed.name]
            if stream.gathered.rows:
                self.drop()
                return
            feed.begin(stream.completeness.through, stream.believed_until_us)
        run.group.steps, run.group.news = self._ingest.steps, -1

    def _follows(self, run: EventRun) -> bool:
        """Whether it is whole, and has followed all that was applied."""
        return run.group.steps == self._ingest.steps and not run.group.is_torn

    def _slow_answer(self) -> Answer:
        query = self._query
        rows = query.result().to_pylist()
        level = INCOMPLETE if query.lacks_rows() else "A"
        answer = answer_of(rows, query.clock, level)
        if self._is_known and self._reader is None:
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
        self._batches = 0
        self._set_run(run)
        self.confirm()
        if not self._is_alone and not self._subscriptions.any:
            run.join(self._groups_beside(run))

    def _groups_beside(self, run: EventRun) -> list[EventGroup]:
        """The groups of other queries, each once."""
        runs = [events.run for events in self._ingest.with_runs]
        groups = {id(each.group): each.group for each in runs if each is not None}
        return [group for group in groups.values() if group is not run.group]

    def _feed(self, name: str) -> StreamFeed:
        stream = self._ingest.streams[name]
        return StreamFeed(name, stream.gathered, stream.time_place, *stream.completeness.margins)

    def _has_room(self, nbytes: int) -> bool:
        return nbytes <= self._ingest.memory // BUDGET_PARTS
