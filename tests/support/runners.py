"""Drives the engine with scenarios, and keeps beside it the slow account of what must come out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pytest

from support.closing_windows import CLOSING, last_end_with
from support.oracle import Oracle, Row, SumOverflowError, assert_same_rows, rows_of
from support.streams import STREAMS, Action, Heartbeat, batch_of
from windrow.errors import DataError
from windrow.operators.partial import Partial
from windrow.output.publish import Publisher
from windrow.plan.model import QueryPlan, WindowSpec
from windrow.rows.prepare import Preparer, bucket_of
from windrow.rows.prepared_rows import PreparedRows
from windrow.runtime.shard import Shard
from windrow.schema import StreamSchema

BEGINNING = -(2**61)


@dataclass
class StreamModel:
    """One stream, judged row by row: which rows count, which are late, how far it is complete."""

    schema: StreamSchema
    through: int = BEGINNING
    newest: int = BEGINNING
    applied: list[pa.RecordBatch] = field(default_factory=list)
    late: list[pa.RecordBatch] = field(default_factory=list)
    rows_in: int = 0

    def push(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The rows of the batch that count."""
        kept = []
        for time_us in batch.column(self.schema.time).cast(pa.int64()).to_pylist():
            kept.append(time_us > self.through)
            self.through = max(self.through, time_us - self.schema.lateness_us - 1)
            self.newest = max(self.newest, time_us)
        self.rows_in += batch.num_rows
        self.late.append(batch.filter(pa.array([not each for each in kept], pa.bool_())))
        self.applied.append(batch.filter(pa.array(kept, pa.bool_())))
        return self.applied[-1]

    def heartbeat(self, to_us: int) -> None:
        """Complete through an instant."""
        self.through, self.newest = max(self.through, to_us), max(self.newest, to_us)

    def rows(self) -> pa.Table:
        """All rows that count, in order of arrival."""
        return pa.Table.from_batches(self.applied, self.schema.arrow)


class Model:
    """All streams."""

    def __init__(self) -> None:
        self.streams = {name: StreamModel(schema) for name, schema in STREAMS.items()}

    def take(self, action: Action) -> dict[str, pa.RecordBatch]:
        """Apply an action; the rows of it that count."""
        stream = self.streams[action.stream]
        if isinstance(action, Heartbeat):
            stream.heartbeat(action.to_us)
            return {}
        return {action.stream: stream.push(batch_of(action.stream, action.rows))}

    def clock(self, plan: QueryPlan) -> int:
        """Through where all streams of the query are complete."""
        return min(self.streams[name].through for name in plan.streams)

    def last(self, plan: QueryPlan) -> int:
        """The clock when all streams have ended, and all windows have closed that have begun."""
        newest = {name: self.streams[name].newest for name in plan.streams}
        ends = [_last_end(each.window, newest[each.stream.name]) for each in plan.inputs]
        return max(*newest.values(), *ends)

    def rows(self) -> dict[str, pa.Table]:
        """All rows that count, by stream."""
        return {name: stream.rows() for name, stream in self.streams.items()}

    def rows_as_batches(self) -> dict[str, pa.RecordBatch]:
        """All rows that count, as if they had come at once."""
        return {
            name: pa.concat_batches(stream.applied) if stream.applied else batch_of(name, ())
            for name, stream in self.streams.items()
        }


def _last_end(window: WindowSpec, newest: int) -> int:
    if newest == BEGINNING:
        return newest
    if window.kind == "session":
        return newest + window.length_us
    if window.kind not in CLOSING:
        return newest
    return last_end_with(window, newest)


class ShardRunner:
    """A query in shards; every partial result crosses as bytes, or none does."""

    def __init__(
        self,
        plan: QueryPlan,
        buckets: int = 1,
        grid_us: int = 1,
        *,
        crosses: bool = True,
        step_events: int | None = None,
    ) -> None:
        self.plan = plan
        self.crosses = crosses
        self.step_events = step_events
        self.buckets = buckets
        self.grid_us = grid_us
        self.shards = [Shard(plan, grid_us) for _ in range(buckets)]
        self.publisher = Publisher(plan)
        self.preparers = [Preparer(plan, input_index) for input_index in range(len(plan.inputs))]
        self._waiting = np.empty(0, np.int64)

    def step(self, batches: dict[str, pa.RecordBatch], clock: int) -> list[Partial]:
        """Give rows of streams and run to the clock."""
        prepared = {}
        for input_index, entry in enumerate(self.plan.inputs):
            batch = batches.get(entry.stream.name)
            if batch is None:
                continue
            times = batch.column(entry.stream.time).cast(pa.int64()).to_numpy(zero_copy_only=False)
            entered = self.preparers[input_index].instants(times)
            self._waiting = np.concatenate([self._waiting, entered])
            prepared[input_index] = self.preparers[input_index].prepare(batch)
        for bucket, shard in enumerate(self.shards):
            shard.append(self._dealt(prepared, bucket))
        while True:
            stop = clock
            if self.step_events is not None:
                stop = min(shard.next_stop(clock, self.step_events) for shard in self.shards)
            partials = self._run_to(stop)
            if stop >= clock:
                return partials

    def _run_to(self, clock: int) -> list[Partial]:
        partials = [shard.advance({}, clock) for shard in self.shards]
        if self.crosses:
            partials = [Partial.from_parts(*partial.to_parts()) for partial in partials]
        reached = self._waiting <= clock
        self.publisher.absorb(list(enumerate(partials)), self._waiting[reached], clock)
        self._waiting = self._waiting[~reached]
        return partials

    def _dealt(self, prepared: dict[int, PreparedRows], bucket: int) -> dict[int, PreparedRows]:
        if self.buckets == 1:
            return prepared
        return {
            input_index: rows.filtered(
                bucket_of(self.plan, input_index, rows.batch, self.buckets) == bucket
            )
            for input_index, rows in prepared.items()
        }

    def restart(self) -> None:
        """Save shards and publisher as bytes and go on from the bytes alone."""
        self.shards = [
            Shard.restore(self.plan, shard.snapshot(), self.grid_us) for shard in self.shards
        ]
        self.publisher = Publisher.restore(self.plan, self.publisher.snapshot())

    def change_algorithm(self, name: str) -> None:
        """Go on by another algorithm."""
        for shard in self.shards:
            shard.change_algorithm(name)


def play(plan: QueryPlan, actions: Sequence[Action], buckets: int = 1) -> tuple[ShardRunner, Model]:
    """Run a scenario to its end."""
    runner, model = ShardRunner(plan, buckets), Model()
    for action in actions:
        batches = model.take(action)
        runner.step(batches, model.clock(plan))
    runner.step({}, model.last(plan))
    return runner, model


REFUSED = [["refused"]]


def outcome(
    plan: QueryPlan,
    actions: list[Action],
    *,
    buckets: int = 1,
    restarts: frozenset[int] = frozenset(),
    reads: frozenset[int] = frozenset(),
    switches: Mapping[int, str] | None = None,
    grid_us: int = 1,
    crosses: bool = True,
    step_events: int | None = None,
) -> list[list[str]]:
    """All that a query gave, exactly: answers, changes and the last result.

    restarts, reads and switches (to another algorithm) come after the actions of these numbers.
    """
    runner = ShardRunner(plan, buckets, grid_us, crosses=crosses, step_events=step_events)
    model = Model()
    answers, changes = [], []
    try:
        for number, action in enumerate([*actions, None]):
            batches = {} if action is None else model.take(action)
            clock = model.last(plan) if action is None else model.clock(plan)
            runner.step(batches, clock)
            if number in restarts:
                runner.restart()
            if switches and number in switches:
                runner.change_algorithm(switches[number])
            if number in reads or action is None:
                answers += exactly(runner.publisher.answers())
                changes += exactly(runner.publisher.changes())
        return [answers, changes, exactly(runner.publisher.result())]
    except DataError as refused:
        if refused.code not in ("WD302", "WD304"):
            raise
        return REFUSED


def exactly(table: pa.Table) -> list[str]:
    """Rows as texts that differ whenever a bit differs; every NaN is one value."""
    return [repr(row) for row in rows_of(table)]


def replay(changes: pa.Table, held: Counter[Row]) -> list[tuple[int, list[Row]]]:
    """Apply changes in their order to `held`; what is held after each instant."""
    seen: list[tuple[int, list[Row]]] = []
    rows = rows_of(changes)
    for number, (at, change, *values) in enumerate(rows):
        row = tuple("NaN" if value != value else value for value in values)
        held[row] += change
        assert held[row] >= 0, f"{row} went at {at} without having come"
        if number + 1 == len(rows) or rows[number + 1][0] != at:
            seen.append((at, listed(held)))
    return seen


def listed(held: Counter[Row]) -> list[Row]:
    """The rows of a multiset, NaN as itself again."""
    return [
        tuple(float("nan") if value == "NaN" else value for value in row) for row in held.elements()
    ]


class Judge:
    """Compares all that a query gives with the oracle."""

    def __init__(self, plan: QueryPlan) -> None:
        self.plan = plan
        self.oracle = Oracle(plan)
        self.held: Counter[Row] = Counter()

    def check(
        self,
        rows: dict[str, pa.Table],
        since: int,
        clock: int,
        answers: pa.Table,
        changes: pa.Table,
        result: pa.Table,
    ) -> None:
        """`since`: the clock of the last check; answers and changes are those after it."""
        due = [t for t in self.oracle.answer_instants(rows, clock) if t > since]
        moments = [t for t in self.oracle.change_instants(rows, clock) if t > since]
        expected = self.oracle.answers(rows, [*due, *moments, clock])
        final = getattr(self.oracle, "final_answers", None)
        told = expected if final is None else final(rows, due)
        by_instant = grouped(rows_of(answers.drop_columns(["level", "error_bound"])))
        assert set(by_instant) <= set(due), f"answers at {set(by_instant) - set(due)}, due {due}"
        for t in due:
            assert_same_rows(by_instant.get(t, []), told[t], f"answer at {t}")
        self._check_changes(changes, moments, expected)
        assert_same_rows(rows_of(result), expected[clock], f"result at {clock}")
        # Before the first row there is a result (COUNT 0), but nothing has changed yet.
        if self.oracle.change_instants(rows, clock):
            assert_same_rows(rows_of(result), listed(self.held), "changes add up to result()")

    def _check_changes(
        self, changes: pa.Table, moments: Sequence[int], expected: dict[int, list[Row]]
    ) -> None:
        before = listed(self.held)
        after = dict(replay(changes, self.held))
        assert set(after) <= set(moments), f"changes at {set(after) - set(moments)}"
        for t in moments:
            before = after.get(t, before)
            assert_same_rows(before, expected[t], f"changes up to {t}")


def agree(plan: QueryPlan, actions: Sequence[Action]) -> None:
    """All that a query gives, read now and then, is what the oracle says."""
    judge, runner, model = Judge(plan), ShardRunner(plan), Model()
    since = BEGINNING
    try:
        for number, action in enumerate([*actions, None]):
            batches = {} if action is None else model.take(action)
            clock = model.clock(plan) if action is not None else model.last(plan)
            runner.step(batches, clock)
            if number % 4 == 0 or action is None:
                publisher = runner.publisher
                given = (publisher.answers(), publisher.changes(), publisher.result())
                judge.check(model.rows(), since, clock, *given)
                since = clock
    except DataError as refused:
        if refused.code not in ("WD302", "WD304"):
            raise
        if refused.code == "WD304":
            return  # the slow twin has NULL there
        everywhere = judge.oracle.change_instants(model.rows(), clock)
        with pytest.raises(SumOverflowError):
            judge.oracle.answers(model.rows(), everywhere)


def grouped(rows: Iterable[Row]) -> dict[int, list[Row]]:
    """Rows by their first value, an instant."""
    out: dict[int, list[Row]] = {}
    for at, *values in rows:
        out.setdefault(at, []).append(tuple(values))
    return out
