"""The handle of a continuous question about the past on Spark."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from windrow.errors import BindingError, UnsupportedError
from windrow.event_time import show_instant, show_span
from windrow.notebook.plan_text import PlanText
from windrow.plan.history_explain import explain_history
from windrow.plan.history_plan import HistoryPlan
from windrow.plan.planned_query import PlannedQuery
from windrow.query import Query
from windrow.runtime.ledger import Ledger
from windrow.spark.checkpoint.question_checkpoint import QuestionCheckpoint
from windrow.spark.driver.batch_gate import STOP_TIMEOUT_S
from windrow.spark.driver.question_outlet import QuestionOutlet, QuestionStatus
from windrow.spark.driver.question_run import QuestionRun
from windrow.spark.driver.triggers import trigger_options
from windrow.spark.monitoring.question_progress import question_progress
from windrow.spark.shuffle.splitting import Split

__all__ = ["SparkHistoryQuery"]


class SparkHistoryQuery(PlannedQuery, Query):
    """A question FROM HISTORY(s) [FROM ... TO NOW] on Spark; it does nothing until it is started.

    Example::

        text = "SELECT COUNT(*) AS n FROM HISTORY(temp) [FROM '2026-01-01' TO NOW] EVERY (1 MINUTE)"
        query = session.query(text).start("memory", trigger="1 second")
        query.answers()
    """

    plan: HistoryPlan

    def __init__(
        self,
        spark: SparkSession,
        name: str,
        plan: HistoryPlan,
        source: DataFrame,
        checkpoint: QuestionCheckpoint,
        text: tuple[str, str],
        after_batch: Callable[[], None],
    ) -> None:
        super().__init__(name, threading.RLock())
        self.plan = plan
        self._outlet = QuestionOutlet(name, plan, checkpoint)
        self.run = QuestionRun(spark, plan, self._outlet, source, checkpoint, text, after_batch)

    def start(
        self, sink: object, trigger: str | None = None, split: Split | None = None
    ) -> SparkHistoryQuery:
        """Starts the query and returns at once; trigger: as of any query.

        split is refused: all groups are in one bucket.

        Example::

            query.start(windrow.sinks.parquet("totals"), trigger="10 seconds")
        """
        if self.is_running:
            raise BindingError(
                "WB412", f"query {self.name!r} is running already", hint="stop() it first"
            )
        if split:
            raise UnsupportedError(
                "WU461",
                f"query {self.name!r} reads HISTORY and runs in one bucket",
                hint="start it without split",
            )
        trigger_options(trigger)
        self.run.start(sink, trigger)
        return self

    @property
    def is_running(self) -> bool:
        """Whether Spark is at work on it."""
        return self.run.is_running

    def await_end(self, timeout: float | None = None) -> bool:
        """Waits until the query has ended, at most this many seconds; raises what it failed with.

        Example::

            query.await_end(timeout=10)
        """
        return self.run.await_end(timeout)

    def stop(self, timeout: float = STOP_TIMEOUT_S) -> None:
        """Stops the query; it can be restarted and resumes where it stopped.

        Example::

            query.stop()
        """
        self.run.stop(timeout)

    def advance(self, stream: str, instant_us: int) -> None:
        """Orders a heartbeat: the stream is complete through that instant."""
        self.run.advance(stream, instant_us)

    def finish(self) -> None:
        """Works through what is there, then completes the stream; the last answers come out."""
        self.run.finish()

    def _answers(self) -> pa.Table:
        return self._outlet.taken("answers")

    def _result(self) -> pa.Table:
        return self._outlet.result()

    def _changes(self, limit: int | None) -> pa.Table:
        return self._outlet.taken("changes", limit)

    @property
    def status(self) -> QuestionStatus:
        """How it stands after its last batch."""
        return self._outlet.status

    @property
    def ledgers(self) -> dict[str, Ledger]:
        """Where the rows of its stream went."""
        return {self.plan.streams[0]: self.status.ledger}

    def progress(self) -> dict[str, Any]:
        """How the query stands after its last batch.

        Example::

            query.progress()["is_running"]
        """
        return question_progress(self.name, self.is_running, self.run, self.status)

    def explain(self) -> str:
        """The plan, when it answers, and how far it has come.

        Example::

            print(query.explain())
        """
        every = self.plan.every_us
        when = "at every arrival" if every is None else f"every {show_span(every)} of event time"
        lines = [explain_history(self.plan), f"  answers     {when}"]
        return PlanText("\n".join([*lines, f"clock: {self._facts()['clock']}"]))

    def _facts(self) -> dict[str, str]:
        clock_us = self.status.clock_us
        return {"clock": "not begun" if clock_us is None else show_instant(clock_us)}
