"""A query in this process: one shard and its publisher."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from threading import RLock

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.embedded.one_at_a_time import one_at_a_time
from windrow.engine.change_limit import check_limit
from windrow.engine.inner_plan import inner_plan
from windrow.engine.judged_answers import JudgedAnswers
from windrow.engine.keepers import first_algorithm
from windrow.engine.life import ALWAYS, in_life, life_of
from windrow.engine.pace import Pace
from windrow.engine.partial import Partial
from windrow.engine.prepare import Preparer
from windrow.engine.publish import Publisher
from windrow.engine.shard import Shard
from windrow.engine.shared_rows import RowPool, RowReader, can_share
from windrow.errors import UnsupportedError
from windrow.event_time import END_OF_TIME, START_OF_TIME, show_instant
from windrow.history.history import History
from windrow.memory_size import show_memory
from windrow.notebook.plan_text import PlanText
from windrow.plan.answer_shape import AnswerShape, answer_shape
from windrow.plan.explain import explain
from windrow.plan.model import QueryPlan
from windrow.query import Query
from windrow.windows.instants import WaitingInstants, merged
from windrow.windows.lifetime import Lifetime
from windrow.windows.window import Window

__all__ = ["EmbeddedQuery"]

# What is tolerated holds for an eighth of the range (error_bounds.tolerance): found twice as often.
TOLERANCE_PARTS = 16
# The life of a query while nobody knows when it begins: no row is of that time.
NEVER = (END_OF_TIME, START_OF_TIME)


class EmbeddedQuery(Query):
    """A running query.

    settle: brings rows that were pushed but not yet applied into it. lock: the session's. pool: the
    rows that queries of the session share. first_us: when the first row of its first stream came,
    if one has. stopped: is told when a user stops it.
    """

    def __init__(
        self,
        name: str,
        plan: QueryPlan,
        clock: int,
        settle: Callable[[], None],
        lock: RLock,
        pool: RowPool,
        first_us: int | None = None,
        stopped: Callable[[EmbeddedQuery], None] | None = None,
    ) -> None:
        super().__init__(name, lock)
        self.plan = plan
        self._is_running = True
        self._settle = settle
        self._stopped = stopped
        self._life = life_of(plan, first_us)
        inner = None if plan.error_percent is None else inner_plan(plan)
        run = plan if inner is None else inner.plan
        self._readers = _readers(run, pool, clock)
        self._shard = Shard(run, readers=self._readers)
        self._shard.advance({}, clock)
        self._publisher = Publisher(run)
        self._told_lost = 0  # instants of which a reader knows that their answers were let go
        self._judged = None if inner is None else JudgedAnswers(inner, self._publisher)
        self._tolerated_us, self._tolerated_until_us = 0, START_OF_TIME
        self._pace = Pace()
        self._preparers = [Preparer(run, position) for position in range(len(run.inputs))]
        self._entries = [WaitingInstants() for _ in run.inputs]

    @property
    def text(self) -> str:
        """The query as it was written."""
        return self.plan.text

    @property
    def shape(self) -> AnswerShape:
        """Its groups and values, and how often it answers."""
        return answer_shape(self.plan)

    @property
    def is_running(self) -> bool:
        """Whether it takes rows; what it has answered can be read in any case."""
        return self._is_running

    @one_at_a_time
    def _answers(self) -> pa.Table:
        self._settle()
        self._tell_of_lost()
        return (self._judged or self._publisher).answers()

    @one_at_a_time
    def _result(self) -> pa.Table:
        self._settle()
        return (self._judged or self._publisher).result()

    @one_at_a_time
    def _changes(self, limit: int | None) -> pa.Table:
        check_limit(limit)
        self._settle()
        return (self._judged or self._publisher).changes(limit)

    @one_at_a_time
    def explain(self) -> str:
        """The plan, the algorithm and what it costs, and how the windows stand now.

        >>> import windrow
        >>> session = windrow.connect()
        >>> session.stream("s", "ts timestamp, x int", time="ts")
        >>> text = session.query("SELECT MAX(x) AS x FROM s [1 MINUTE]").explain()
        >>> print(text.splitlines()[0])
        aggregate over one window
        """
        self._settle()
        shard = self._shard
        text = explain(self.plan, shard.figures(), shard.algorithm)
        lines = [text, f"clock: {show_instant(shard.clock)}"]
        for position, rows, size in shard.window_statistics():
            alias = self.plan.inputs[position].alias
            lines.append(f"window {alias}: {rows} rows, {size} bytes")
        return PlanText("\n".join(lines))

    @one_at_a_time
    def _facts(self) -> dict[str, str]:
        held = sum(rows for _, rows, _ in self.window_statistics())
        return {
            "clock": show_instant(self.clock),
            "rows in windows": f"{held:,}",
            "memory": show_memory(self.nbytes),
            "algorithm": self.algorithm,
        }

    @one_at_a_time
    def stop(self) -> None:
        """End the query; what it has answered can still be read.

        >>> import windrow
        >>> session = windrow.connect()
        >>> session.stream("s", "ts timestamp, x int", time="ts")
        >>> query = session.query("SELECT MAX(x) AS x FROM s [1 MINUTE]")
        >>> query.stop()
        >>> query.is_running, query.result().to_pylist()
        (False, [{'x': None}])
        """
        if self.is_running:
            self._settle()
            self._end()
            if self._stopped is not None:
                self._stopped(self)

    def _tell_of_lost(self) -> None:
        """A reader who comes too late would take what is left for all there was."""
        lost = self._publisher.instants_lost - self._told_lost
        if lost:
            self._told_lost += lost
            warnings.warn(
                f"query {self.name!r}: answers at {lost:,} instants were let go: more were due "
                "than are kept unread; push some rows at a time, and call answers() on the way",
                RuntimeWarning,
                stacklevel=2,
            )

    def _end(self) -> None:
        if self.is_running:
            self._is_running = False
            self._shard.close()

    def start(self, *_: object, **__: object) -> EmbeddedQuery:
        """Only queries on Spark have sinks."""
        raise UnsupportedError(
            "WU301",
            "a query in this process runs as soon as it is registered and has no sink",
            hint="read answers(), changes() or result(); "
            "or connect to Spark: windrow.connect(spark)",
        )

    @property
    def algorithm(self) -> str:
        """The algorithm that keeps the answer now."""
        return self._shard.algorithm

    @property
    def clock(self) -> int:
        """The instant through which the query has answered."""
        return self._shard.clock

    @property
    @one_at_a_time
    def nbytes(self) -> int:
        """Bytes of its windows, keys and sums, and of what is known about arrivals."""
        return self._shard.nbytes + (0 if self._judged is None else self._judged.nbytes)

    def growth_bytes(self, rows: int) -> int:
        """Bytes beside the windows that so many rows may need at most, for a moment too."""
        return self._shard.growth_bytes(rows)

    @property
    def windows(self) -> tuple[Window, ...]:
        """The windows of its inputs."""
        return self._shard.windows

    @property
    def readers(self) -> tuple[RowReader, ...]:
        """Where it reads shared rows: for all inputs or, where it has rows of its own, none."""
        is_shared = bool(self._readers) and self._readers[0].is_open
        return self._readers if is_shared else ()

    def lifetime(self, position: int) -> Lifetime:
        """How long rows of an input stay now."""
        return self._shard.lifetime(position)

    def change_lifetime(self, position: int, lifetime: Lifetime) -> None:
        """Let rows go by another lifetime from the clock on; what is too old goes at once.

        A window that takes turns answers at the end of each.
        """
        shard = self._shard
        if self._judged is not None and position == 0:
            self._judged.change_lifetime(lifetime, shard.clock)
            self._publisher.answer_at_turns(lifetime.turn_ends)
        shard.change_lifetimes({position: lifetime})
        if shard.clock > START_OF_TIME:
            self._publish(shard.advance({}, shard.clock), shard.clock)

    def fill_from(self, history: History, known_from_us: int) -> None:
        """Complete answers of a narrowed window from a history, where it can."""
        if self._judged is not None:
            self._judged.fill_from(history, known_from_us)

    def tolerated_span_us(self) -> int:
        """How much narrower the window may be for answers within the tolerated error."""
        if self._judged is None or self.plan.error_percent is None:
            return 0
        watch, clock = self._judged.watch, self.clock
        if clock >= self._tolerated_until_us:
            self._tolerated_us = watch.tolerated_span_us(self.plan.error_percent, clock)
            self._tolerated_until_us = clock + max(1, watch.range_us // TOLERANCE_PARTS)
        return self._tolerated_us

    @property
    def is_exact(self) -> bool:
        """Whether its window holds the whole range."""
        return self._judged is None or self._judged.is_exact(self.clock)

    @one_at_a_time
    def window_statistics(self) -> list[tuple[int, int, int]]:
        """Per input: position, rows held, bytes."""
        return self._shard.window_statistics()

    def begin(self, first_us: int) -> None:
        """The first row of its first stream has come: DURATION may count from there."""
        if self._life is None:
            self._life = life_of(self.plan, first_us)

    @property
    def life(self) -> tuple[int, int] | None:
        """Its first and last instant; None while they are not known."""
        return self._life

    def expect(self) -> None:
        """Say to shared rows which of those to come take part, before they come."""
        for reader in self._readers:
            reader.life = self._life or NEVER

    def apply(self, batches: Mapping[str, pa.RecordBatch], clock: int) -> None:
        """Take rows of streams, in order of arrival, and run to the clock.

        Shared rows have been taken before: this query's part of them is ready.
        """
        first, last = self._life or NEVER
        prepared = self._prepared(batches)
        clock = min(clock, last)
        if prepared or clock > self._shard.clock:
            self._shard.take(prepared)
            is_done = False
            while not is_done:
                is_done = self._step(clock)
        if last <= self._shard.clock and first <= last:
            self._end()

    def _prepared(self, batches: Mapping[str, pa.RecordBatch]) -> dict[int, pa.RecordBatch]:
        prepared = {}
        is_shared = bool(self.readers)
        for position, entry in enumerate(self.plan.inputs):
            batch = batches.get(entry.stream.name)
            if batch is None or batch.num_rows == 0:
                continue
            batch = self._living(batch, entry.stream.time)
            preparer = self._preparers[position]
            times = batch.column(entry.stream.time).cast(pa.int64()).to_numpy()
            self._entries[position].add(preparer.instants(times))
            if self._judged is not None:
                self._judged.watch.take(batch)
            shared = self._readers[position].prepared if is_shared else None
            prepared[position] = preparer.prepare(batch) if shared is None else shared
        return prepared

    def _living(self, batch: pa.RecordBatch, time: str) -> pa.RecordBatch:
        """The rows of the query's life."""
        if self._life == ALWAYS:
            return batch
        times = batch.column(time).cast(pa.int64()).to_numpy()
        return batch.filter(pa.array(in_life(times, self._life or NEVER)))

    def _step(self, clock: int) -> bool:
        """Run towards the clock, as far as a step may go; whether it was reached.

        After silence an hour of results may expire at once. What a step gives is published before
        the next one, so that only a step's worth is ever held beside the result.
        """
        shard, pace = self._shard, self._pace
        stop = shard.next_stop(max(clock, shard.clock), pace.events)
        if self._judged is not None:
            stop = max(shard.clock, self._judged.watch.next_stop(stop))
        before = shard.event_count()
        partial = shard.advance({}, stop)
        pace.note(shard.event_count() - before, partial.size)
        self._publish(partial, stop)
        return stop >= clock

    def _publish(self, partial: Partial, clock: int) -> None:
        self._publisher.absorb([(0, partial)], self._entered(clock), clock)
        if self._judged is not None:
            self._judged.advance(clock)

    def _entered(self, clock: int) -> NDArray[np.int64]:
        entered = [waiting.release(clock) for waiting in self._entries]
        out = entered[0]
        for more in entered[1:]:
            out = merged(out, more)
        return out


def _readers(plan: QueryPlan, pool: RowPool, clock: int) -> tuple[RowReader, ...]:
    """Places to read shared rows, for all inputs or for none."""
    if not can_share(plan, first_algorithm(plan)):
        return ()
    return tuple(pool.reader(plan, position, clock) for position in range(len(plan.inputs)))
