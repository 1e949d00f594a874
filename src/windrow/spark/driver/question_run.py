"""The run of one continuous question about the past, in an operator of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pyspark.sql import DataFrame, SparkSession

from windrow.plan.history_plan import HistoryPlan
from windrow.spark.checkpoint.history_declaration import history_text
from windrow.spark.checkpoint.question_checkpoint import QuestionCheckpoint
from windrow.spark.checkpoint.spark_part import check_spark_part, last_offsets
from windrow.spark.driver.pipeline import question_outputs
from windrow.spark.driver.question_outlet import QuestionOutlet
from windrow.spark.driver.streaming_run import Batch, StreamingRun
from windrow.spark.worker.history_output import HistoryOutput
from windrow.spark.worker.question_step import question_text

__all__ = ["QuestionRun"]


class QuestionRun(StreamingRun):
    """It reads the stream from the start of its source, as every query does.

    text: of the question as workers bind it, and the session's time zone.
    """

    def __init__(
        self,
        spark: SparkSession,
        plan: HistoryPlan,
        outlet: QuestionOutlet,
        source: DataFrame,
        checkpoint: QuestionCheckpoint,
        text: tuple[str, str],
        after_batch: Callable[[], None],
    ) -> None:
        super().__init__(spark, checkpoint, f"query {checkpoint.query!r}", 1)
        self._plan, self._outlet, self._source = plan, outlet, source
        self._checkpoint, self._after_batch = checkpoint, after_batch
        self._text = question_text(history_text(plan.history), *text)

    def start(self, sink: object, trigger: str | None) -> None:
        """Opens the sink and sets Spark to work."""
        self._outlet.open(sink)
        self.launch(trigger)

    @property
    def operator(self) -> str:
        """As Spark calls it."""
        return self._checkpoint.query

    def _sources(self) -> Mapping[str, DataFrame]:
        return {self._plan.streams[0]: self._source}

    def _claim(self, buckets: int) -> None:
        assert buckets == 1
        self._checkpoint.claim_for(self._plan)

    def _open(self) -> None:
        spark = self._checkpoint.spark_part
        check_spark_part(spark, self._outlet.last_saved)
        self._outlet.begin(last_offsets(spark))

    def _outputs(self, buckets: tuple[int, ...]) -> DataFrame:
        place = (self._source, self._checkpoint, buckets)
        return question_outputs(self._spark, self._plan.history, self._text, *place)

    def _take(self, batch: Batch) -> None:
        self._lease.check()
        if not batch.outputs:
            self._outlet.pass_over(batch.number)
            return
        (given,) = batch.outputs
        self._outlet.write(HistoryOutput.from_bytes(given), batch.number)
        self._after_batch()

    @property
    def clock_us(self) -> int | None:
        """The instant through which its last batch has answered."""
        return self._outlet.status.clock_us

    def _ended(self) -> None:
        self._outlet.end()
