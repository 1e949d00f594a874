"""One batch in one bucket of a history: packets in, state read and written, one output.

Nothing here knows Spark: state comes in as an argument, so a step can be tested on a dictionary.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.plan.history_schema import HistorySchema
from windrow.spark.checkpoint.history_declaration import (
    history_fingerprint,
    history_of_text,
    rows_schema,
)
from windrow.spark.shuffle.arrivals import Arrivals, gather
from windrow.spark.shuffle.far_ahead import far_ahead, is_in
from windrow.spark.shuffle.history_question import HistoryQuestion
from windrow.spark.worker.bucket_header import HISTORY, BucketHeader, SegmentEntry
from windrow.spark.worker.bucket_state import BucketState
from windrow.spark.worker.bucket_step import BucketStep, count_arrivals
from windrow.spark.worker.clock import move_clock
from windrow.spark.worker.history_output import HistoryOutput
from windrow.spark.worker.history_segments import HistorySegments
from windrow.spark.worker.live_cache import LiveShelf
from windrow.spark.worker.live_history import LiveHistory

__all__ = ["HistoryStep", "step_of"]

# One shelf for all operators of this process: Spark makes a new operator for every task.
_SHELF: LiveShelf[LiveHistory] = LiveShelf()


def step_of(text: str, owner: str, archive: str | None, bucket: int) -> HistoryStep:
    """The step of a bucket, as the operator carries it."""
    schema = history_of_text(text)
    folder = None if archive is None else f"{archive}/bucket-{bucket:04d}"
    return HistoryStep(history_fingerprint(schema), owner, bucket, schema, _SHELF, folder)


@dataclass
class HistoryStep(BucketStep):
    """The work of one bucket in every batch."""

    schema: HistorySchema
    shelf: LiveShelf[Any]
    archive: str | None = None  # the directory of this bucket

    @property
    def stream(self) -> str:
        """The name of the stream."""
        return self.schema.stream.name

    def run_batch(self, packets: Iterable[bytes], state: BucketState) -> HistoryOutput:
        """Applies the packets of one batch, then answers its questions."""
        header = self._read_header(state, [self.stream], HISTORY)
        segments = HistorySegments(header, state)
        live, was_rebuilt = self._live(header, segments)
        arrivals = gather(packets, [self.stream], {0: rows_schema(self.schema)})
        self._set_far_ahead_aside(arrivals, header)
        rows = self._timely(arrivals, header)
        if not header.is_finished:
            move_clock(header, {self.stream: self.schema.stream.lateness_us}, arrivals.streams)
        if header.is_finished:
            live.finish()  # before anybody looks: the time to come is known
        live.apply([] if rows is None else [rows], header.clock_us)
        self._count_rows(header, arrivals, rows, live)
        told = live.told()
        nonce = uuid.uuid4().hex[:16]
        segments.append(rows, nonce)
        if segments.is_loose:
            segments.replace_all(live.snapshot())
        questions = map(HistoryQuestion.from_json, arrivals.questions)
        replies = [live.answer(question) for question in questions]
        state.write_header(header.to_bytes())
        self.shelf.put(self.owner, self.bucket, nonce, live)
        return HistoryOutput(
            bucket=self.bucket,
            clock_us=header.clock_us,
            is_finished=header.is_finished,
            ledger=header.ledgers[self.stream],
            live_bytes=live.nbytes,
            state_bytes=segments.stored_bytes,
            segments=len(header.segments),
            was_rebuilt=was_rebuilt,
            replies=replies,
            told=told,
        )

    def _live(self, header: BucketHeader, segments: HistorySegments) -> tuple[LiveHistory, bool]:
        """The live history as the header says it is, and whether it was built from the start.

        Spark gives a bucket to whichever worker process is free. One that had it before has fallen
        behind by some batches, and only takes what they brought.
        """
        nonce, live = self.shelf.take_any(self.owner, self.bucket)
        missing = segments.since(nonce)
        was_rebuilt = live is None or missing is None
        if live is None or missing is None:
            live, missing = self._new(), list(header.segments)
        for entry in missing:
            live = self._with_segment(live, entry, segments)
        if header.is_finished:
            live.finish()
        live.told()  # the batches before have told it
        return live, was_rebuilt and bool(header.segments)

    def _new(self) -> LiveHistory:
        return LiveHistory(self.schema, self.archive)

    def _restored(self, snapshot: bytes | memoryview) -> LiveHistory:
        return LiveHistory.restore(self.schema, self.archive, snapshot)

    def _with_segment(
        self, live: LiveHistory, entry: SegmentEntry, segments: HistorySegments
    ) -> LiveHistory:
        segment = segments.read(entry)
        if segment.snapshot is not None:
            return self._restored(segment.snapshot)
        batches = [batch for rows in segment.rows.values() for batch in rows.to_batches()]
        live.apply(batches, entry.clock_us)
        return live

    def _set_far_ahead_aside(self, arrivals: Arrivals, header: BucketHeader) -> None:
        """Takes rows out that are too far ahead; each bucket counts its own."""
        came, ahead_us = arrivals.streams[self.stream], self.schema.stream.most_ahead_of_rows_us
        if ahead_us is None:
            return
        known = (header.newest_us[self.stream], came.now_us, header.suspects.get(self.stream))
        verdict = far_ahead(came.clusters, *known, ahead_us)
        header.suspects = {self.stream: verdict.suspect}
        came.newest_us = verdict.newest_us
        if verdict.aside and 0 in arrivals.rows:
            aside = is_in(self._times_us(arrivals.rows[0]), verdict.aside)
            came.bad_time += int(np.count_nonzero(aside))
            arrivals.rows[0] = arrivals.rows[0].filter(pa.array(~aside))

    def _timely(self, arrivals: Arrivals, header: BucketHeader) -> pa.RecordBatch | None:
        """The rows above the completeness with which the batch began; None where there are none."""
        rows = arrivals.rows.get(0)
        if rows is None:
            return None
        timely = self._times_us(rows) > header.complete_us[self.stream]
        if timely.all():
            return rows
        return rows.filter(pa.array(timely)) if np.any(timely) else None

    @staticmethod
    def _times_us(rows: pa.RecordBatch) -> NDArray[np.int64]:
        times: NDArray[np.int64] = rows.column(0).cast(pa.int64()).to_numpy(zero_copy_only=False)
        return times

    def _count_rows(
        self,
        header: BucketHeader,
        arrivals: Arrivals,
        rows: pa.RecordBatch | None,
        live: LiveHistory,
    ) -> None:
        ledger = header.ledgers[self.stream]
        timely = 0 if rows is None else rows.num_rows
        count_arrivals(ledger, arrivals.streams[self.stream], timely)
        ledger.applied = live.rows
        aside = ledger.late + ledger.bad_time + ledger.bad_value
        ledger.waiting = ledger.rows_in - aside - ledger.applied
