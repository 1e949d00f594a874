"""The run of one history on Spark, which runs until it is stopped.

It is asked through its control stream: the batch that carries a question brings the answer.
"""

from __future__ import annotations

import threading
import uuid
from collections.abc import Mapping
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from windrow.errors import BindingError
from windrow.plan.history_plan import HistoryPlan
from windrow.plan.history_schema import HistorySchema
from windrow.runtime.ledger import Ledger, total_ledger
from windrow.spark.checkpoint.history_checkpoint import HistoryCheckpoint
from windrow.spark.driver.gathered_history import GatheredHistory
from windrow.spark.driver.pipeline import history_outputs
from windrow.spark.driver.streaming_run import Batch, StreamingRun
from windrow.spark.driver.triggers import interval_options
from windrow.spark.shuffle.control import order_question
from windrow.spark.shuffle.history_question import BucketReply, Drawing, HistoryQuestion
from windrow.spark.worker.history_output import HistoryOutput

__all__ = ["HistoryRun"]

# How often it is looked whether the stream still runs while an answer is awaited.
POLL_S = 0.1


class HistoryRun(StreamingRun):
    """The history of one stream; archive: where what leaves memory is kept, if anywhere."""

    def __init__(
        self,
        spark: SparkSession,
        schema: HistorySchema,
        source: DataFrame,
        checkpoint: HistoryCheckpoint,
        buckets: int | None,
        archive: str | None,
    ) -> None:
        super().__init__(spark, checkpoint, f"the history of {schema.stream.name!r}", buckets)
        self.schema = schema
        self._source = source
        self._checkpoint = checkpoint
        self._archive = archive
        self._given: list[HistoryOutput] = []
        self._awaited: set[str] = set()
        self._replies: dict[str, list[BucketReply]] = {}
        self._changed = threading.Condition()

    @property
    def name(self) -> str:
        """As people read it."""
        return f"HISTORY({self.schema.stream.name})"

    @property
    def operator(self) -> str:
        """As Spark calls it."""
        return self._checkpoint.operator

    def _sources(self) -> Mapping[str, DataFrame]:
        return {self.schema.stream.name: self._source}

    def _trigger_options(self, trigger: str | None) -> Mapping[str, Any]:
        return interval_options(trigger)

    def _claim(self, buckets: int) -> None:
        self._checkpoint.claim(self.schema, buckets, self._archive)

    def _outputs(self, buckets: tuple[int, ...]) -> DataFrame:
        place = (self._source, self._checkpoint, buckets, self._archive)
        return history_outputs(self._spark, self.schema, *place)

    def _take(self, batch: Batch) -> None:
        """A repeated batch returns the same."""
        self._lease.check()
        outputs = [HistoryOutput.from_bytes(given) for given in batch.outputs]
        outputs.sort(key=lambda output: output.bucket)
        replies: dict[str, list[BucketReply]] = {}
        for output in outputs:
            for reply in output.replies:
                replies.setdefault(reply.name, []).append(reply)
        with self._changed:
            self._given = outputs or self._given
            awaited = {name: each for name, each in replies.items() if name in self._awaited}
            self._replies.update(awaited)
            self._changed.notify_all()

    def ask(self, plan: HistoryPlan, levels: tuple[int | None, ...]) -> GatheredHistory:
        """What all buckets know of a question, once all that is there has been taken."""
        self.catch_up()
        question = HistoryQuestion.of_plan(uuid.uuid4().hex, plan, levels)
        return GatheredHistory(self.schema, self._answered(question))

    def drawn(self, drawing: Drawing, since_us: int = 0, until_us: int = 0) -> list[BucketReply]:
        """What all buckets give to be drawn, once all that is there has been taken."""
        self.catch_up()
        name = uuid.uuid4().hex
        return self._answered(HistoryQuestion(name, since_us, until_us, drawing=drawing))

    def _answered(self, question: HistoryQuestion) -> list[BucketReply]:
        stream: StreamingQuery | None = self._started()
        with self._changed:
            self._awaited.add(question.name)
            try:
                order_question(self._control, question.to_json())
                while question.name not in self._replies:
                    stream = self._check(stream)
                    self._changed.wait(POLL_S)
                return self._replies.pop(question.name)
            finally:
                self._awaited.discard(question.name)

    def catch_up(self) -> None:
        """Waits until all that is there has been taken."""
        stream = self._started()
        super().catch_up()
        self._check(stream)

    def outputs(self) -> list[HistoryOutput]:
        """The state of the buckets; a history that resumes from a checkpoint is queried first."""
        if not self._given and self.is_running:
            self._answered(HistoryQuestion(uuid.uuid4().hex))
        return self._given

    @property
    def latest(self) -> list[HistoryOutput]:
        """What the buckets gave in the last batch of this session; nothing is asked for it."""
        return self._given

    @property
    def clock_us(self) -> int | None:
        """The instant through which it is complete, after its last batch."""
        return self._given[0].clock_us if self._given else None

    @property
    def ledger(self) -> Ledger:
        """Where the rows went, as of the last batch."""
        return total_ledger(output.ledger for output in self._given)

    def _started(self) -> StreamingQuery:
        """The stream at work: a history has none when it was stopped."""
        found = self.stream if self.is_active else self._check(self.stream)
        if found is None or not found.isActive:
            raise BindingError(
                "WB430",
                f"{self.what} is not kept any more: it was stopped",
                hint="open another session on the same checkpoint and declare it again",
            )
        return found

    def _check(self, stream: StreamingQuery | None) -> StreamingQuery | None:
        """The stream that is at work; raises what it failed with."""
        problem = None if stream is None or stream.isActive else stream.exception()
        if problem is None:
            return stream
        if self._again(stream, problem):
            return self.stream
        raise self._error(problem) from problem
