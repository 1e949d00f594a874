"""One batch in one bucket of a history: packets in, state read and written, one output.

Nothing here knows Spark: state comes in as an argument, so a step can be tested on a dictionary.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from windrow.plan.history_schema import HistorySchema
from windrow.spark.shuffle.far_ahead import far_ahead, is_in
from windrow.spark.shuffle.history_control import HistoryArrivals, gather_rows
from windrow.spark.worker.history_header import HistoryHeader, HistorySegment
from windrow.spark.worker.history_live import HistoryShelf, LiveHistory
from windrow.spark.worker.history_output import HistoryOutput
from windrow.spark.worker.history_segments import HistorySegments, rows_of_segment
from windrow.spark.worker.shard_state import ShardState

__all__ = ["HistoryStep"]


@dataclass
class HistoryStep:
    """The work of one bucket in every batch."""

    schema: HistorySchema
    fingerprint: str
    owner: str  # whose history: the checkpoint
    bucket: int
    shelf: HistoryShelf
    archive: str | None = None  # the directory of this bucket

    def run_batch(self, packets: Iterable[bytes], state: ShardState) -> HistoryOutput:
        """Applies the packets of one batch, then answers its questions."""
        header = self._header(state)
        segments = HistorySegments(header, state)
        live, was_rebuilt = self._live(header, segments)
        arrivals = gather_rows(packets, self.schema)
        self._set_far_ahead_aside(arrivals, header)
        rows = self._timely(arrivals, header)
        header.move_clock(arrivals.came, self.schema.stream.lateness_us)
        live.apply(rows, header.clock_us)
        if header.is_finished:
            live.finish()
        self._settle_ledger(header, arrivals, rows, live)
        nonce = uuid.uuid4().hex[:16]
        segments.append(rows, nonce)
        if segments.is_loose:
            segments.replace_all(live.snapshot())
        replies = [live.answer(question) for question in arrivals.questions]
        state.write_header(header.to_bytes())
        self.shelf.put(self.owner, self.bucket, nonce, live)
        return HistoryOutput(
            bucket=self.bucket,
            clock_us=header.clock_us,
            is_finished=header.is_finished,
            ledger=header.ledger,
            live_bytes=live.nbytes,
            state_bytes=segments.nbytes,
            segments=len(header.segments),
            was_rebuilt=was_rebuilt,
            replies=replies,
        )

    def _header(self, state: ShardState) -> HistoryHeader:
        data = state.read_header()
        if data is None:
            return HistoryHeader(self.fingerprint, self.bucket)
        return HistoryHeader.from_bytes(data, self.fingerprint, self.bucket)

    def _live(self, header: HistoryHeader, segments: HistorySegments) -> tuple[LiveHistory, bool]:
        """The live history as the header says it is, and whether it was built from the start.

        Spark gives a bucket to whichever worker process is free. One that had it before has fallen
        behind by some batches, and only takes what they brought.
        """
        nonce, live = self.shelf.take(self.owner, self.bucket) or ("", None)
        missing = segments.since(nonce)
        was_rebuilt = live is None or missing is None
        if live is None or missing is None:
            live, missing = LiveHistory(self.schema, self.archive), list(header.segments)
        for segment in missing:
            live = self._with_segment(live, segment, segments.read(segment))
        if header.is_finished:
            live.finish()
        return live, was_rebuilt and bool(header.segments)

    def _with_segment(
        self, live: LiveHistory, segment: HistorySegment, data: bytes | None
    ) -> LiveHistory:
        if segment.is_snapshot:
            assert data is not None
            return LiveHistory.restore(self.schema, self.archive, data)
        live.apply(None if data is None else rows_of_segment(data), segment.clock_us)
        return live

    def _set_far_ahead_aside(self, arrivals: HistoryArrivals, header: HistoryHeader) -> None:
        """Takes rows out that are too far ahead; each bucket counts its own."""
        came, ahead_us = arrivals.came, self.schema.stream.most_ahead_of_rows_us
        if ahead_us is None:
            return
        verdict = far_ahead(came.clusters, header.newest_us, came.now_us, header.suspect, ahead_us)
        header.suspect, came.newest_us = verdict.suspect, verdict.newest_us
        if verdict.aside and arrivals.rows is not None:
            times_us = arrivals.rows.column(0).cast(pa.int64()).to_numpy()
            aside = is_in(times_us, verdict.aside)
            came.bad_time += int(np.count_nonzero(aside))
            arrivals.rows = arrivals.rows.filter(pa.array(~aside))

    def _timely(self, arrivals: HistoryArrivals, header: HistoryHeader) -> pa.Table | None:
        """The rows above the completeness with which the batch began; None where there are none."""
        if arrivals.rows is None:
            return None
        times_us = arrivals.rows.column(0).cast(pa.int64()).to_numpy()
        timely = times_us > header.complete_us
        if timely.all():
            return arrivals.rows
        return arrivals.rows.filter(pa.array(timely)) if np.any(timely) else None

    def _settle_ledger(
        self,
        header: HistoryHeader,
        arrivals: HistoryArrivals,
        rows: pa.Table | None,
        live: LiveHistory,
    ) -> None:
        ledger, came = header.ledger, arrivals.came
        timely = 0 if rows is None else rows.num_rows
        ledger.rows_in += came.rows_in
        ledger.bad_time += came.bad_time
        ledger.bad_value += came.bad_value
        ledger.late += came.rows_in - came.bad_time - came.bad_value - timely
        ledger.applied = live.rows
        aside = ledger.late + ledger.bad_time + ledger.bad_value
        ledger.waiting = ledger.rows_in - aside - ledger.applied
