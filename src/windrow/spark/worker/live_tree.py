"""A live tree: the tree of a bucket in memory, with the times that wait of the rows it counts.

It is only ever a cache of what the state store holds. Where the rows in its windows say all, it is
built again from those; otherwise it is run again, batch by batch, from a snapshot on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.operators.partial import Partial
from windrow.operators.relations.operator import StepTooLargeError
from windrow.plan.relations.exchange_algebra import Sent
from windrow.plan.relations.tree_plan import TreePlan
from windrow.rows.life import ALWAYS, life_of
from windrow.rows.prepare import Preparer
from windrow.rows.set_aside import NOTED_IN, QueryLedger
from windrow.runtime.pace import Pace
from windrow.runtime.trees.sending_shard import SendingShard
from windrow.runtime.trees.tree_shard import TreeShard
from windrow.runtime.trees.union_shard import UnionShard
from windrow.spark.shuffle.exchange import changes_of
from windrow.spark.worker.bucket_header import BucketHeader, SegmentEntry
from windrow.spark.worker.bucket_tables import BucketTables
from windrow.spark.worker.clock import NEVER
from windrow.spark.worker.live_shard import StepInput, StepResult, all_rows
from windrow.spark.worker.pieces import PIECE_UPDATES
from windrow.spark.worker.segments import Segment
from windrow.spark.worker.sent_output import SentOutput
from windrow.spark.worker.tree_nodes import nodes_of
from windrow.spark.worker.tree_output import CLOSED, WHOLE, TreeOutput
from windrow.spark.worker.waiting_times import WaitingTimes
from windrow.spark.worker.window_report import WindowReport, window_reports
from windrow.table_schema import TableSchema

__all__ = ["LiveTree", "tree_instants"]

Instants = NDArray[np.int64]


class LiveTree:
    """The tree of one bucket, and the times that wait of the rows that it counts."""

    def __init__(self, plan: TreePlan, shard: TreeShard, tables: BucketTables) -> None:
        self._plan, self._shard, self._tables = plan, shard, tables
        self._pace = Pace(PIECE_UPDATES)
        self._times = WaitingTimes(tree_instants(plan))
        self._has_ended = False
        numbers = {node: number for number, node in enumerate(nodes_of(plan))}
        self._nodes = len(numbers)
        self._numbers = [numbers.get(node) for node, _ in shard.sizes()]

    @classmethod
    def rebuild(
        cls,
        plan: TreePlan,
        segments: Iterable[tuple[Segment, SegmentEntry]],
        header: BucketHeader,
        schemas: Sequence[TableSchema] = (),
    ) -> LiveTree:
        """The live tree that the stored segments and the header describe."""
        stored, tables = list(segments), BucketTables(plan, schemas)
        known = life_of(plan, header.first_us)
        life = known or NEVER
        if known is not None and known != ALWAYS and header.clock_us >= known[1]:
            live = cls(plan, _new(plan, tables), tables)
            live._end(header.clock_us)
        else:
            with _noting(QueryLedger(())):  # what is set aside now was counted before
                live = cls(plan, _shard_of(plan, stored, header, tables), tables)
        for segment, entry in stored if not plan.received else ():
            is_known = entry.sequence >= header.life_sequence
            for stream, times in segment.times.items():
                live._times.add(stream, times, life if is_known else NEVER)
            if segment.instants is not None:
                live._times.add_instants(segment.instants)
        live._times.release(header.clock_us, header.reached_us)
        return live

    def advance(self, step: StepInput) -> StepResult:
        """Takes the rows of one batch and moves the clock."""
        noted = QueryLedger([entry.alias for entry in self._plan.inputs])
        with _noting(noted):
            output = self._run(step)
        if step.is_last:
            self._end(step.until_us)
        for stream, added in step.times.items() if not self._plan.received else ():
            self._times.add(stream, added, step.life)
        applied, due = self._times.release(step.until_us, step.reached_us)
        waiting = {stream: self._times.waiting(stream) for stream in applied}
        instants = np.unique(np.concatenate([due, *output.instants]))
        newest = self._times.newest_instant_us
        parts, windows = output.to_parts(noted), self._windows()
        return StepResult(parts, instants, applied, waiting, newest, windows, self._running())

    def _run(self, step: StepInput) -> TreeOutput:
        shard = self._shard
        output = SentOutput() if isinstance(shard, SendingShard) else TreeOutput()
        until = max(step.until_us, shard.clock)
        if not self._has_ended:
            _give(shard, self._tables, step.rows, step.times)
        # Rows are later than the clock: where that stays, nothing changes.
        if self._has_ended or (shard.has_run and until == shard.clock):
            _tell(output, shard, until, shard.nothing())
            return output
        self._tables.move_to(until)
        output.instants += self._tables.instants(shard.clock, until)
        stop: int | None = None
        while stop is None or stop < until:
            stop = self._pace.next_stop(shard, until)
            found = self._stepped(stop)
            if found is None:
                stop = None
                continue
            _tell(output, shard, stop, found)
            output.instants.append(shard.entered)
            if shard.closed is not None:
                output.closed_at.append(shard.closed.instants)
        self._tables.trim(shard)
        return output

    def _stepped(self, stop: int) -> Partial | None:
        """What a step gives; None where it was too large, and is undone."""
        shard, pace = self._shard, self._pace
        mark = shard.mark()
        try:
            partial = pace.step(shard, stop)
        except StepTooLargeError as large:
            shard.rewind(mark)
            shard.keep(mark)
            pace.note_failure(large.events, large.changes)
            return None
        shard.keep(mark)
        return partial

    def _end(self, clock_us: int) -> None:
        """Nothing moves any more: no row is needed."""
        self._shard.close()
        self._tables.clear()
        self._shard = _new(self._plan, self._tables)
        self._shard.clock = clock_us
        self._has_ended = True

    def _running(self) -> dict[str, Any]:
        """The bytes of each node, and by which algorithm blocks run, for EXPLAIN."""
        sizes = [0] * self._nodes
        for number, (_, size) in zip(self._numbers, self._shard.sizes(), strict=True):
            if number is not None:
                sizes[number] += size
        algorithms = self._shard.algorithms()
        blocks = [algorithms.get(block) for block in self._plan.blocks]
        tables = self._tables.report()
        return {"algorithm": "tree", "sizes": sizes, "blocks": blocks, "tables": tables}

    def _windows(self) -> tuple[WindowReport, ...]:
        """Of each window what it takes; the first one has the bytes of tables, too.

        A stage without windows holds what it was sent: to the first window of all with that.
        """
        if self._plan.received:
            return (WindowReport(0, bytes=self._shard.nbytes),)
        first, *others = window_reports(self._shard)
        return (replace(first, bytes=first.bytes + self._tables.nbytes), *others)

    def snapshot(self) -> Segment:
        """Everything that it holds, as one segment."""
        times, instants = self._times.held()
        if self._plan.follows_from_rows:
            return Segment(self._rows(), times, instants=instants)
        saved = self._shard.snapshot()
        if self._plan.own_tables:
            saved = self._tables.snapshot(saved)
        return Segment(times=times, snapshot=saved, instants=instants)

    def _rows(self) -> dict[int, pa.RecordBatch]:
        places = enumerate(self._plan.places)
        rows = {number: self._shard.input_rows(plan, own) for number, (plan, own) in places}
        return {number: batch for number, batch in rows.items() if batch.num_rows}


def tree_instants(plan: TreePlan) -> dict[str, Callable[[Instants], Instants]]:
    """Per stream, the instants at which rows of these times ask for an answer."""
    preparers: dict[str, list[Preparer]] = {stream: [] for stream in plan.streams}
    for number, (own_plan, own) in enumerate(plan.places):
        if plan.answering[number]:
            preparers[plan.inputs[number].stream.name].append(Preparer(own_plan, own))
    is_first_only = plan.every_us is not None

    def of_stream(own: list[Preparer]) -> Callable[[Instants], Instants]:
        def instants(times_us: Instants) -> Instants:
            times_us = times_us[:1] if is_first_only else times_us
            found = [preparer.instants(times_us) for preparer in own]
            return np.concatenate([np.empty(0, np.int64), *found])

        return instants

    return {stream: of_stream(own) for stream, own in preparers.items()}


def _shard_of(
    plan: TreePlan,
    segments: list[tuple[Segment, SegmentEntry]],
    header: BucketHeader,
    tables: BucketTables,
) -> TreeShard:
    if plan.follows_from_rows and header.nonce:
        rows = all_rows([each for each, _ in segments])
        return _kind(plan).rebuild(plan, rows, header.clock_us)
    shard = _new(plan, tables)
    for segment, entry in segments:
        if segment.snapshot is not None:
            shard = _restored(plan, segment.snapshot, tables)
            continue
        rows = {number: _one_batch(table) for number, table in segment.rows.items()}
        _give(shard, tables, rows, segment.times)
        _run_to(shard, entry.clock_us, tables)
    if header.nonce:
        _run_to(shard, header.clock_us, tables)
    return shard


def _restored(plan: TreePlan, saved: bytes | memoryview, tables: BucketTables) -> TreeShard:
    if plan.own_tables:
        saved = tables.restore(saved)
    return _kind(plan).restore(plan, bytes(saved), tables.stores)


def _run_to(shard: TreeShard, clock_us: int, tables: BucketTables) -> None:
    """Run to the clock, unless it is there: a step to where it stands is none."""
    if not shard.has_run or clock_us > shard.clock:
        tables.move_to(clock_us)
        shard.advance({}, clock_us)
        tables.trim(shard)


def _give(
    shard: TreeShard,
    tables: BucketTables,
    rows: Mapping[int, pa.RecordBatch],
    times: Mapping[str, Instants],
) -> None:
    """What has come: rows of inputs and tables, or changes and times of first rows below them."""
    if shard.plan.received:
        firsts = {int(number): int(found.min()) for number, found in times.items()}
        shard.receive({number: changes_of(each) for number, each in rows.items()}, firsts)
    else:
        own = tables.append(rows).items()
        shard.append({number: shard.prepared(number, _one_batch(each)) for number, each in own})


def _tell(output: TreeOutput, shard: TreeShard, until: int, partial: Partial) -> None:
    """What a step gives: for the driver, or for the next stage."""
    if isinstance(shard, SendingShard):
        assert isinstance(output, SentOutput)
        output.send(shard.sent)
        output.below = {**output.below, **shard.new_firsts()}
    else:
        output.add(until, partial, _others(shard, partial))


def _kind(plan: TreePlan) -> type[TreeShard]:
    if isinstance(plan.relation, Sent):
        return SendingShard
    return TreeShard if plan.combined is None else UnionShard


def _new(plan: TreePlan, tables: BucketTables) -> TreeShard:
    return _kind(plan)(plan, tables=tables.stores)


def _others(shard: TreeShard, partial: Partial) -> dict[str, Partial]:
    """What is told beside the result."""
    found = {f"part{number}": each for number, each in enumerate(partial.also, 1)}
    if shard.closed is not None:
        found[CLOSED] = shard.closed.partial
    if shard.whole is not None:
        found[WHOLE] = shard.whole
    return found


def _one_batch(table: pa.Table | pa.RecordBatch) -> pa.RecordBatch:
    if isinstance(table, pa.RecordBatch):
        return table
    batches = table.to_batches()
    return pa.concat_batches(batches) if batches else pa.RecordBatch.from_pylist([], table.schema)


@contextmanager
def _noting(ledger: QueryLedger) -> Iterator[None]:
    token = NOTED_IN.set(ledger)
    try:
        yield
    finally:
        NOTED_IN.reset(token)
