"""A live shard: a bucket's shard in memory, with the times that wait when it keeps the ledger.

It is only ever a cache of what the state store holds: it can be thrown away and built again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.engine.pace import Pace
from windrow.engine.prepare import Preparer
from windrow.engine.shard import Shard
from windrow.event_time import START_OF_TIME
from windrow.plan.model import QueryPlan
from windrow.spark.panes import Pane
from windrow.spark.pieces import PIECE_TOUCHES, run_in_pieces
from windrow.spark.waiting_times import WaitingTimes

__all__ = ["LiveShard", "StepResult"]

Instants = NDArray[np.int64]


@dataclass(frozen=True)
class StepResult:
    """What one step of a live shard gives, as values that can cross a process border."""

    partial: bytes  # spark.pieces
    instants: Instants
    applied: Mapping[str, int] = field(default_factory=dict)
    waiting: Mapping[str, int] = field(default_factory=dict)
    newest_instant_us: int = START_OF_TIME  # the last instant that is still to come
    windows: tuple[tuple[int, int, int], ...] = ()  # position, rows, bytes
    running: Mapping[str, Any] = field(default_factory=dict)  # algorithm and figures, for EXPLAIN

    @property
    def live_rows(self) -> int:
        """Rows that the shard holds, over all windows."""
        return sum(rows for _, rows, _ in self.windows)


class LiveShard:
    """The shard of one bucket and, in the ledger bucket, the times that wait."""

    def __init__(self, plan: QueryPlan, shard: Shard, keeps_ledger: bool) -> None:
        self._shard = shard
        self._pace = Pace(PIECE_TOUCHES)
        self._times = WaitingTimes(_instants_of(plan)) if keeps_ledger else None

    @classmethod
    def rebuild(
        cls,
        plan: QueryPlan,
        panes: Iterable[tuple[Pane, int]],
        clock_us: int,
        keeps_ledger: bool,
        grid_us: int,
    ) -> LiveShard:
        """The live shard that the stored panes describe; each comes with the clock after it."""
        stored = list(panes)
        live = cls(plan, _shard_of(plan, stored, clock_us, grid_us), keeps_ledger)
        if live._times is not None:
            for pane, _ in stored:
                for stream, times in pane.times.items():
                    live._times.add(stream, times)
                if pane.instants is not None:
                    live._times.add_instants(pane.instants)
            live._times.release(clock_us)
        return live

    def advance(
        self,
        rows: Mapping[int, pa.RecordBatch],
        times: Mapping[str, Instants],
        until_us: int,
    ) -> StepResult:
        """Takes the rows of one batch and moves the clock."""
        partial = run_in_pieces(self._shard, rows, until_us, self._pace)
        windows = tuple(self._shard.window_statistics())
        running = {"algorithm": self._shard.algorithm, "figures": asdict(self._shard.figures())}
        if self._times is None:
            return StepResult(partial, np.empty(0, np.int64), windows=windows, running=running)
        for stream, added in times.items():
            self._times.add(stream, added)
        applied, instants = self._times.release(until_us)
        waiting = {stream: self._times.waiting(stream) for stream in applied}
        newest = self._times.newest_instant_us
        return StepResult(partial, instants, applied, waiting, newest, windows, running)

    def snapshot(self) -> Pane:
        """Everything that it holds, as one pane."""
        if self._times is None:
            return Pane(snapshot=self._shard.snapshot())
        times, instants = self._times.held()
        return Pane(times=times, snapshot=self._shard.snapshot(), instants=instants)


def _shard_of(plan: QueryPlan, panes: list[tuple[Pane, int]], clock_us: int, grid_us: int) -> Shard:
    if not panes or panes[0][0].snapshot is None:
        return Shard.rebuild(plan, _all_rows([pane for pane, _ in panes]), clock_us, grid_us)
    # A snapshot and the panes after it: run on from it, then build it once more, because only a
    # shard that is built at the clock knows that every group is to be reported on the grid.
    shard = Shard.restore(plan, bytes(panes[0][0].snapshot), grid_us)
    for pane, pane_clock_us in panes[1:]:
        rows = {position: _one_batch(table) for position, table in pane.rows.items()}
        shard.advance(rows, pane_clock_us)
    shard.advance({}, clock_us)
    return Shard.restore(plan, shard.snapshot(), grid_us) if grid_us > 1 else shard


def _all_rows(panes: list[Pane]) -> dict[int, pa.Table]:
    rows: dict[int, list[pa.Table]] = {}
    for pane in panes:
        for position, table in pane.rows.items():
            rows.setdefault(position, []).append(table)
    return {position: pa.concat_tables(tables) for position, tables in rows.items()}


def _one_batch(table: pa.Table) -> pa.RecordBatch:
    batches = table.to_batches()
    return pa.concat_batches(batches) if batches else pa.RecordBatch.from_pylist([], table.schema)


def _instants_of(plan: QueryPlan) -> dict[str, Callable[[Instants], Instants]]:
    """Per stream, the instants at which rows of these times ask for an answer."""
    if plan.every_us is not None:
        return dict.fromkeys(plan.streams, _no_instants)
    preparers: dict[str, list[Preparer]] = {}
    for position, entry in enumerate(plan.inputs):
        preparers.setdefault(entry.stream.name, []).append(Preparer(plan, position))
    return {stream: _joined_instants(each) for stream, each in preparers.items()}


def _no_instants(_times_us: Instants) -> Instants:
    return np.empty(0, dtype=np.int64)


def _joined_instants(preparers: list[Preparer]) -> Callable[[Instants], Instants]:
    def instants(times_us: Instants) -> Instants:
        return np.concatenate([preparer.instants(times_us) for preparer in preparers])

    return instants
