"""Replies of all buckets as one history of one moment, which is asked as one in this process is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from windrow.event_time import END_OF_TIME
from windrow.history.answers.answer import Answer, Interval
from windrow.history.answers.merge import partial_of_table
from windrow.history.history import History
from windrow.history.nodes.kernels import add_up
from windrow.history.operator import HistoryOperator
from windrow.history.questions.lookup import merged
from windrow.history.spec import HistorySpec
from windrow.history.state_kernels import START
from windrow.plan.history_schema import HistorySchema
from windrow.spark.shuffle.history_question import BucketReply

__all__ = ["GatheredHistory"]


class GatheredHistory(HistoryOperator):
    """What all buckets know of one question's interval.

    Buckets have looked beyond the interval's end where no rows are, as far as each could: nothing
    is left to be done about it here.
    """

    def __init__(self, schema: HistorySchema, replies: Sequence[BucketReply]) -> None:
        super().__init__(schema)
        self.history = _GatheredHistory(self.history.spec, replies)
        if replies[0].is_finished:
            self.finish()

    def uncut(self, interval: Interval) -> Interval:
        """The interval."""
        return interval


class _GatheredHistory(History):
    """Nothing of its own but what was forgotten; snapshots are those of the buckets, added up."""

    def __init__(self, spec: HistorySpec, replies: Sequence[BucketReply]) -> None:
        super().__init__(spec)
        self._replies = replies
        self.now_us = replies[0].now_us
        self.storage.regions.horizons_us[:] = replies[0].horizons_us
        for reply in replies:
            whole, real = reply.forgotten
            add_up(np.zeros(1, np.int64), whole, real, self.past.whole, self.past.real)
            first_us = min(self.past.whole[START, 0], whole[START, 0])
            self.past.whole[START, 0] = first_us
        self.sketches.forgotten = [
            kind.merged([kind.from_bytes(reply.sketches[place]) for reply in replies])
            for place, kind in enumerate(self.sketches.kinds)
        ]

    def snapshot(
        self, since_us: int, until_us: int, *, at_us: int | None = None,
        keys: pa.Table | None = None, total: bool = False,
    ) -> Answer:  # fmt: skip
        """The answer to the question that was asked; of the end of time there is nothing."""
        if since_us >= END_OF_TIME:
            return super().snapshot(since_us, until_us, at_us=at_us, keys=keys, total=total)
        answers = [partial_of_table(self.spec, reply.answers[at_us]) for reply in self._replies]
        # What a bucket has forgotten is not in its answer, but its exact interval knows of it.
        return replace(merged(answers), inside=_common([answer.inside for answer in answers]))


def _common(intervals: Sequence[Interval | None]) -> Interval | None:
    """The part of time that all intervals have."""
    known = [interval for interval in intervals if interval is not None]
    since_us = max((interval.since_us for interval in known), default=0)
    until_us = min((interval.until_us for interval in known), default=0)
    is_common = len(known) == len(intervals) and since_us < until_us
    return Interval(since_us, until_us) if is_common else None
