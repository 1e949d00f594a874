"""Continuous questions about the past, of a session on Spark.

Each keeps what it needs of the past itself, from the start of the stream's source on: it neither
asks the history that was declared nor holds it up. The declaration says what can be asked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from windrow.plan.catalog import Catalog
from windrow.plan.history_binder import bind_history
from windrow.spark.checkpoint.question_checkpoint import QuestionCheckpoint
from windrow.spark.driver.governing import Governing
from windrow.spark.driver.history_query import SparkHistoryQuery
from windrow.spark.driver.history_registry import HistoryRegistry
from windrow.spark.monitoring.session_metrics import SessionMetrics
from windrow.sql.statements import Select
from windrow.storage import Storage

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

__all__ = ["ContinuousQuestions"]


class ContinuousQuestions:
    """FROM HISTORY(s) [FROM ... TO NOW] as queries."""

    _spark: SparkSession
    _root: Storage
    _temporary: Path | None
    _catalog: Catalog
    _sources: dict[str, DataFrame]
    _governing: Governing
    _histories: HistoryRegistry
    _questions: dict[str, SparkHistoryQuery]
    _metrics: SessionMetrics

    def _follow(self, select: Select, text: str, name: str) -> SparkHistoryQuery:
        schemas = self._histories.schemas
        plan = bind_history(select, self._catalog, schemas, continuous=True)
        checkpoint = QuestionCheckpoint(self._root, name, is_lasting=self._temporary is None)
        source = self._sources[plan.streams[0]]
        asked, after_batch = (text, self._catalog.time_zone), self._governing.after_batch
        given = (plan, source, checkpoint, asked, after_batch)
        query = self._questions[name] = SparkHistoryQuery(self._spark, name, *given)
        self._metrics.follow()
        return query

    def _bytes_of_questions(self) -> int:
        """What those hold that run, for the budget."""
        running = [each for each in self._questions.values() if each.run.is_active]
        return sum(each.status.live_bytes for each in running)

    def _questions_of(self, stream: str) -> list[SparkHistoryQuery]:
        return [each for each in self._questions.values() if stream in each.plan.streams]
