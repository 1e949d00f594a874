"""One batch in one bucket: packets in, state read and written, one output for the driver.

Nothing here knows Spark: state comes in as an argument, so a step can be tested on a dictionary.
"""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.engine.prepare import Preparer
from windrow.plan.model import QueryPlan
from windrow.spark.arrivals import Arrivals, StreamArrivals, gather
from windrow.spark.clock import clock_of, completeness_after, newest_after
from windrow.spark.lending import BorrowedShard, LentShardLostError
from windrow.spark.live_cache import LiveCache
from windrow.spark.live_shard import LiveShard, StepResult
from windrow.spark.pane_store import PaneStore
from windrow.spark.panes import Pane
from windrow.spark.shard_header import ShardHeader
from windrow.spark.shard_output import ShardOutput
from windrow.spark.shard_state import ShardState

__all__ = ["ShardStep"]

Instants = NDArray[np.int64]


@dataclass
class ShardStep:
    """The work of one bucket in every batch; bucket 0 keeps the ledger."""

    plan: QueryPlan
    fingerprint: str
    owner: str  # whose shard: the query's checkpoint
    bucket: int
    cache: LiveCache
    grid_us: int = 1  # answers are wanted at its multiples only

    @property
    def keeps_ledger(self) -> bool:
        """Whether this bucket counts rows and reports instants."""
        return self.bucket == 0

    def run_batch(self, packets: Iterable[bytes], state: ShardState) -> ShardOutput:
        """Applies the packets of one batch."""
        header = self._header(state)
        arrivals = gather(packets, self.plan.streams, self._schemas())
        store = PaneStore(self.plan, header, state)
        late = self._late_rows(arrivals, header)
        pane = self._timely(arrivals, header)
        before_us = header.clock_us
        self._move_clock(header, arrivals)
        live, result, was_rebuilt = self._advance(header, store, pane, before_us)
        self._settle_ledgers(header, arrivals, pane, result)
        self._store(store, pane, live, result)
        header.nonce, header.holder = uuid.uuid4().hex, self.cache.holder_of(live)
        state.write_header(header.to_bytes())
        self.cache.put(self.owner, self.bucket, header.nonce, live)
        output = self._output(header, result, store)
        output.was_rebuilt = was_rebuilt
        output.late = late
        output.unplaced = _joined(
            {stream: came.unplaced for stream, came in arrivals.streams.items()}
        )
        return output

    def _advance(
        self, header: ShardHeader, store: PaneStore, pane: Pane, before_us: int
    ) -> tuple[LiveShard | BorrowedShard, StepResult, bool]:
        """The live shard after the batch, what it gave, and whether it had to be built again."""
        kept = self.cache.take(self.owner, self.bucket, header.nonce, header.holder)
        if kept is not None:
            with contextlib.suppress(LentShardLostError):
                return kept, kept.advance(pane.rows, pane.times, header.clock_us), False
        live = LiveShard.rebuild(
            self.plan, store.stored(), before_us, self.keeps_ledger, self.grid_us
        )
        result = live.advance(pane.rows, pane.times, header.clock_us)
        return live, result, header.nonce != ""

    def _header(self, state: ShardState) -> ShardHeader:
        data = state.read_header()
        if data is None:
            return ShardHeader.new(self.fingerprint, self.bucket, self.plan.streams)
        return ShardHeader.from_bytes(data, self.fingerprint, self.bucket)

    def _schemas(self) -> dict[int, pa.Schema]:
        return {i: Preparer(self.plan, i).schema for i in range(len(self.plan.inputs))}

    def _timely(self, arrivals: Arrivals, header: ShardHeader) -> Pane:
        """The rows and times that are above the completeness with which the batch began."""
        rows = {}
        for position, batch in arrivals.rows.items():
            limit = header.complete_us[self.plan.inputs[position].stream.name]
            timely = batch.column("ts").to_numpy(zero_copy_only=False) > limit
            kept = batch if timely.all() else batch.filter(pa.array(timely))
            if kept.num_rows:
                rows[position] = kept
        times = {}
        for stream, came in arrivals.streams.items():
            if came.times:
                times[stream] = _above(came, header.complete_us[stream])
        return Pane(rows, times)

    def _late_rows(self, arrivals: Arrivals, header: ShardHeader) -> dict[str, pa.Table]:
        late = {}
        schemas = {entry.stream.name: entry.stream for entry in self.plan.inputs}
        for stream, came in arrivals.streams.items():
            if came.oldest:
                rows = pa.concat_tables(came.oldest)
                times = rows.column(schemas[stream].time).cast(pa.int64()).to_numpy()
                late[stream] = rows.filter(pa.array(times <= header.complete_us[stream]))
        return {stream: rows for stream, rows in late.items() if rows.num_rows}

    def _move_clock(self, header: ShardHeader, arrivals: Arrivals) -> None:
        header.newest_us = newest_after(header.newest_us, arrivals.streams)
        header.complete_us = completeness_after(self.plan, header.complete_us, arrivals.streams)
        header.clock_us = clock_of(header.complete_us, header.newest_us, header.clock_us)

    def _settle_ledgers(
        self, header: ShardHeader, arrivals: Arrivals, pane: Pane, result: StepResult
    ) -> None:
        for stream, applied in result.applied.items():
            came, ledger = arrivals.streams[stream], header.ledgers[stream]
            timely = len(pane.times.get(stream, ()))
            ledger.rows_in += came.rows_in
            ledger.bad_time += came.bad_time
            ledger.late += came.rows_in - came.bad_time - timely
            ledger.applied += applied
            ledger.waiting = result.waiting[stream]

    def _store(
        self, store: PaneStore, pane: Pane, live: LiveShard | BorrowedShard, result: StepResult
    ) -> None:
        store.append(pane, result.newest_instant_us)
        store.remove_expired()
        if store.is_loose(result.live_rows):
            store.replace_all(live.snapshot())

    def _output(self, header: ShardHeader, result: StepResult, store: PaneStore) -> ShardOutput:
        return ShardOutput(
            bucket=self.bucket,
            clock_us=header.clock_us,
            complete_us=header.complete_us,
            partial=result.partial,
            instants=result.instants,
            windows=list(result.windows),
            running=result.running,
            state_bytes=store.stored_bytes,
            pane_count=len(header.panes),
            was_rebuilt=False,
            ledgers=header.ledgers if self.keeps_ledger else {},
        )


def _above(came: StreamArrivals, limit_us: int) -> Instants:
    times = np.concatenate(came.times)
    if len(came.times) > 1:
        times.sort()
    return times[np.searchsorted(times, limit_us, side="right") :]


def _joined(rows: dict[str, list[pa.Table]]) -> dict[str, pa.Table]:
    return {stream: pa.concat_tables(tables) for stream, tables in rows.items() if tables}
