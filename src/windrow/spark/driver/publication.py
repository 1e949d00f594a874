"""Publication: the partial answers of all buckets become answers on the driver, exactly once.

What the driver knows after batch n is saved under n before Spark commits the batch. When Spark
gives batch n again, the driver goes back to what it knew after n - 1 and gets the same answers.

Whatever breaks off inside a batch leaves a publisher that stands at no batch: it is never read nor
gone on with, but restored from what was saved.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from windrow.carryover.carryover import RESULT, Carryover
from windrow.errors import CheckpointError
from windrow.governor.bounded.answers import BoundedAnswers
from windrow.governor.bounded.counted_arrivals import CountedArrivals
from windrow.governor.bounded.inner_plan import inner_plan
from windrow.governor.measured_rates import measured_rate
from windrow.output.publish import Publisher
from windrow.plan.model import one_block
from windrow.plan.relations.tree_plan import RunnablePlan, TreePlan
from windrow.rows.frames import read_frame, write_frame
from windrow.rows.set_aside import NOTED_IN
from windrow.spark.driver.clock_steps import clock_steps
from windrow.spark.driver.passing_publisher import PassingPublisher
from windrow.spark.driver.stage_outputs import told_by
from windrow.spark.driver.tree_publisher import TreePublisher
from windrow.spark.monitoring.query_account import account_after, new_ledger
from windrow.spark.monitoring.status import QueryStatus
from windrow.spark.worker.shard_output import ShardOutput
from windrow.storage import Storage

__all__ = ["BATCHES_KEPT", "Publication"]

BATCHES_KEPT = 3
_AnyPublisher = Publisher | TreePublisher | PassingPublisher
_NOWHERE = -2  # the batch of a publisher that is being changed, or was left in the middle of it


class Publication:
    """The publisher of one query, and the batch that it stands at.

    Answers of a query with ERROR are judged on their way out, by what its shards say has arrived.
    begun: where it goes on from another run, what was saved of it before the first batch. passes:
    whether its rows pass, and no result is kept.
    """

    def __init__(
        self,
        plan: RunnablePlan,
        storage: Storage,
        begun: bytes | None = None,
        *,
        passes: bool = False,
    ) -> None:
        self._plan, self._begun, self._passes = plan, begun, passes
        is_exact = plan.error_percent is None
        self._inner = None if is_exact else inner_plan(one_block(plan))
        self._run: RunnablePlan = plan if self._inner is None else self._inner.plan
        self._storage = storage
        self._lock = threading.Lock()
        self._publisher = self._new_publisher(self._run)
        self._bounded = self._new_bounded()
        self.status = self._last_status()
        self._batch_id = _NOWHERE
        if self.status.batch_id < 0:
            self._forget()

    def absorb(
        self, batch_id: int, outputs: Sequence[ShardOutput], feeds: Sequence[str]
    ) -> dict[str, pa.Table]:
        """What a batch produces, for the feeds that are wanted; the others are dropped."""
        with self._lock:
            # What a first batch saved before a crash must not count twice when it comes again.
            if self._batch_id != batch_id - 1 or batch_id <= self.status.batch_id:
                self._load(batch_id - 1)
            self._batch_id = _NOWHERE
            noted = new_ledger(self._plan)
            token = NOTED_IN.set(noted)
            try:
                tables = self._published(outputs, feeds)
            finally:
                NOTED_IN.reset(token)
            status = replace(self.status)
            status.account = account_after(self._plan, self.status.account, outputs, noted)
            status.absorb(batch_id, outputs, sum(map(len, tables.values())))
            if "result" in feeds:
                tables["result"] = self._source.result()
            # Nothing can come between the two: a reader sees one batch.
            self.status, self._batch_id = status, batch_id
            return tables

    def begin(self, batch_id: int, clock_us: int) -> None:
        """The query begins with this batch and at this clock, though others ran before."""
        with self._lock:
            self._forget()
            begun = replace(self.status, first_batch=batch_id, began_us=clock_us)
            self.status, self._batch_id = begun, batch_id - 1

    def pass_over(self, batch_id: int) -> None:
        """A batch produced nothing at all, not even a clock; the next one continues from it."""
        with self._lock:
            if self._batch_id != batch_id - 1:
                self._load(batch_id - 1)
            self._batch_id = self.status.batch_id = batch_id

    @property
    def last_saved(self) -> int:
        """The newest batch that was saved; -1 before the first."""
        names = self._storage.names()
        return int(names[-1].partition(".")[0]) if names else -1

    @property
    def _source(self) -> _AnyPublisher | BoundedAnswers:
        return self._bounded or self._publisher

    def _published(
        self, outputs: Sequence[ShardOutput], feeds: Sequence[str]
    ) -> dict[str, pa.Table]:
        publisher = self._publisher
        if isinstance(publisher, TreePublisher):
            return publisher.published(told_by(outputs), feeds)
        if isinstance(publisher, PassingPublisher):
            return publisher.published(outputs, feeds)
        taken: dict[str, list[pa.Table]] = {feed: [] for feed in feeds if feed != "result"}
        next_stop = None
        if self._bounded is not None:
            self._hear(self._bounded, publisher, outputs)
            next_stop = self._bounded.watch.next_stop
        for partials, instants, until_us in clock_steps(outputs, next_stop):
            publisher.absorb(partials, instants, until_us)
            if "answers" not in taken:
                publisher.drop_answers()
            if self._bounded is not None:
                self._bounded.advance(until_us)
            source = self._bounded or publisher
            if "answers" in taken:
                taken["answers"].append(source.answers())
            if "changes" in taken:
                taken["changes"].append(source.changes())
            else:
                publisher.drop_changes()
        return {feed: pa.concat_tables(tables) for feed, tables in taken.items()}

    def _hear(
        self, bounded: BoundedAnswers, publisher: Publisher, outputs: Sequence[ShardOutput]
    ) -> None:
        """Read what shards report in addition to answers: changed widths, arrived rows."""
        first = outputs[0]
        if first.has_order:
            lifetime = first.limits.lifetime(self._run, 0)
            publisher.answer_at_turns(lifetime.turn_ends)
            bounded.change_lifetime(lifetime, first.began_us)
        for output in outputs:
            if output.arrivals is not None:
                bounded.watch.take_counted(CountedArrivals.from_parts(*output.arrivals))

    def tolerated_span_us(self) -> int:
        """How much narrower the window may be for answers within the tolerated error."""
        with self._lock:
            self._catch_up()
            clock_us = self.status.clock_us
            if self._bounded is None or self._plan.error_percent is None or clock_us is None:
                return 0
            return self._bounded.watch.tolerated_span_us(self._plan.error_percent, clock_us)

    def rows_per_second(self, span_us: int) -> float:
        """Rows of a query with ERROR that came within a span, held by a window or not."""
        with self._lock:
            self._catch_up()
            clock_us = self.status.clock_us
            if self._bounded is None or clock_us is None:
                return 0.0
            profile = self._bounded.watch.profile
            return measured_rate(*profile.arrivals_within(clock_us, span_us), profile.range_us)

    def save(self) -> None:
        """Saves what the driver knows after the last batch; a few earlier ones stay."""
        with self._lock:
            self._storage.write(_name(self._batch_id), self._saved())
            for name in self._storage.names():
                if name < _name(self._batch_id - BATCHES_KEPT + 1):
                    self._storage.remove(name)

    def _saved(self) -> bytes:
        sections = [self._publisher.snapshot()]
        if self._bounded is not None:
            sections += self._bounded.snapshot()
        header = {"batch": self._batch_id, "status": self.status.to_dict()}
        return write_frame("publication", header, sections)

    def beginning(
        self, carried: Carryover, outputs: Sequence[ShardOutput], status: QueryStatus
    ) -> bytes:
        """What is saved of it before the first batch, where it goes on from another run.

        outputs: what the rows that are handed over give once more; they were answered there.
        """
        with self._lock:
            assert not isinstance(self._publisher, PassingPublisher), "it has what was kept"
            if carried.publishers:
                # What was not read there is read there.
                self._publisher = _publisher_from(self._run, carried.publishers)
                self._publisher.drop_answers()
                self._publisher.drop_changes()
            else:
                self._publisher.stand_at(carried.clock_us, carried.answered_us)
                self._published(outputs, ())
            self.status = status
            return self._saved()

    def handed_over(self, batch_id: int) -> tuple[QueryStatus, dict[str, bytes], int]:
        """After a batch: how the query stood, what its publishers saved, and its first instant."""
        with self._lock:
            self._load(batch_id)
            publisher = self._publisher
            assert not isinstance(publisher, PassingPublisher), "refused before"
            if isinstance(publisher, TreePublisher):
                saved = {name or RESULT: each for name, each in publisher.saved().items()}
            else:
                saved = {RESULT: publisher.snapshot()}
            return self.status, saved, publisher.first_instant

    def result(self) -> pa.Table:
        """The answer at the clock, after the last batch that was absorbed whole."""
        with self._lock:
            self._catch_up()
            return self._source.result()

    def _catch_up(self) -> None:
        """Goes back to what was saved, where a batch broke off or none has come yet."""
        if self._batch_id == _NOWHERE:
            self._load(self.last_saved)

    def empty(self, feed: str) -> pa.Table:
        """A table without rows that has the columns of the feed."""
        publisher = self._new_publisher(self._plan)  # the inner plan has more columns
        if isinstance(publisher, TreePublisher):
            return publisher.empty(feed)
        if isinstance(publisher, PassingPublisher):
            return publisher.empty()
        table = publisher.changes() if feed == "changes" else publisher.answers()
        return table.slice(0, 0)

    def _last_status(self) -> QueryStatus:
        names = self._storage.names()
        if not names:
            return QueryStatus.new(self._plan)
        header, _ = self._read(names[-1])
        return QueryStatus.from_dict(self._plan, header["status"])

    def _load(self, batch_id: int) -> None:
        if batch_id < 0:
            self._forget()
            return
        header, sections = self._read(_name(batch_id))
        if header["batch"] != batch_id:
            raise CheckpointError(
                "WC221",
                f"the file of batch {batch_id} holds batch {header['batch']}",
                hint="restore the checkpoint from a copy, or start from a new one",
            )
        self._batch_id = _NOWHERE
        self._restore(header, sections)
        self._batch_id = batch_id

    def _restore(self, header: dict[str, Any], sections: Sequence[memoryview]) -> None:
        publisher, *bounded = map(bytes, sections)
        if isinstance(self._run, TreePlan):
            self._publisher = TreePublisher.restore(self._run, publisher)
        elif self._passes:
            self._publisher = PassingPublisher.restore(self._run, publisher)
        else:
            restored = self._publisher = Publisher.restore(self._run, publisher)
            if self._inner is not None:
                saved = (bounded[0], bounded[1])
                self._bounded = BoundedAnswers.restore(self._inner, restored, saved)
        self.status = QueryStatus.from_dict(self._plan, header["status"])

    def _forget(self) -> None:
        """Stands where a new query stands, or one that goes on from another run."""
        self._batch_id = _NOWHERE
        if self._begun is not None:
            self._restore(*read_frame("publication", self._begun, "beginning of the publication"))
            self._batch_id = -1
            return
        self._publisher = self._new_publisher(self._run)
        self._bounded = self._new_bounded()
        status = QueryStatus.new(self._plan)
        self.status, self._batch_id = status, -1

    def _new_publisher(self, plan: RunnablePlan) -> _AnyPublisher:
        if isinstance(plan, TreePlan):
            return TreePublisher(plan)
        return PassingPublisher(plan) if self._passes else Publisher(plan)

    def _new_bounded(self) -> BoundedAnswers | None:
        if self._inner is None:
            return None
        assert isinstance(self._publisher, Publisher)
        return BoundedAnswers(self._inner, self._publisher)

    def _read(self, name: str) -> tuple[dict[str, Any], list[memoryview]]:
        data = self._storage.read(name)
        if data is None:
            raise CheckpointError(
                "WC220",
                f"the checkpoint lacks {self._storage.location}/{name}, which records what was "
                "answered",
                hint="restore the checkpoint directory from a copy, or start with a new one",
            )
        return read_frame("publication", data, f"publication {name}")


def _publisher_from(plan: RunnablePlan, saved: Mapping[str, bytes]) -> Publisher | TreePublisher:
    """The publisher of which each part saved this, in process or on Spark."""
    if isinstance(plan, TreePlan):
        named = {"" if name == RESULT else name: each for name, each in saved.items()}
        return TreePublisher.of(plan, named)
    return Publisher.restore(plan, saved[RESULT])


def _name(batch_id: int) -> str:
    return f"{batch_id:012d}.batch"
