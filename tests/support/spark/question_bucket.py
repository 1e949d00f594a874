"""A continuous question of the past in its bucket, on a dictionary for a state store."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from support.spark.history_buckets import Buckets
from windrow.schema import StreamSchema
from windrow.spark.checkpoint.history_declaration import history_fingerprint, history_text
from windrow.spark.worker.history_output import HistoryOutput
from windrow.spark.worker.question_step import (
    QuestionStep,
    question_of,
    question_text,
)


class QuestionBucket(Buckets):
    """Gathers what the question tells, batch by batch."""

    def __init__(self, stream: StreamSchema, text: str, **declaration: Any) -> None:
        super().__init__(stream, 1, **declaration)
        self._plan = question_of(question_text(history_text(self.schema), text, "UTC"))
        self.told: dict[str, list[pa.Table]] = {"answers": [], "changes": [], "result": []}

    def run(self, packets: Any) -> list[HistoryOutput]:
        outputs = super().run(packets)
        for feed, table in outputs[0].told.items():
            self.told[feed].append(table)
        return outputs

    def step(self, bucket: int) -> QuestionStep:
        place = (history_fingerprint(self._read), "owner", bucket, self._read, self.shelf)
        return QuestionStep(*place, plan=self._plan)

    def all_of(self, feed: str) -> pa.Table:
        """What was told so far."""
        return pa.concat_tables(self.told[feed])
