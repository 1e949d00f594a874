"""The histories of a session on Spark: declared, asked, finished and stopped."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from windrow.errors import BindingError, UnsupportedError, WindrowError
from windrow.event_time import END_OF_TIME, START_OF_TIME
from windrow.history.declared_histories import HistoryRow, archive_folder, history_table
from windrow.history.operator import spec_of
from windrow.history.questions.ask import ask, ask_progressively
from windrow.plan.history_plan import HistoryPlan
from windrow.plan.history_schema import HistorySchema
from windrow.runtime.ledger import Ledger
from windrow.spark.checkpoint.history_checkpoint import HistoryCheckpoint
from windrow.spark.driver.batch_gate import STOP_TIMEOUT_S
from windrow.spark.driver.drawn_history import drawn_series, drawn_tree
from windrow.spark.driver.history import HistoryRun
from windrow.storage import Storage

__all__ = ["HistoryRegistry"]

Folder = str | os.PathLike[str]
Interval = tuple[int | None, int | None]  # None: from the start, to where it is complete


class HistoryRegistry:
    """At most one history for each stream."""

    def __init__(self, spark: SparkSession, root: Storage, buckets: int | None) -> None:
        self._spark = spark
        self._root = root
        self._buckets = buckets
        self._histories: dict[str, HistoryRun] = {}

    @property
    def schemas(self) -> dict[str, HistorySchema]:
        """What is kept, by stream."""
        return {name: history.schema for name, history in self._histories.items()}

    def declare(
        self, schema: HistorySchema, source: DataFrame, archive: Folder | None, trigger: str | None
    ) -> None:
        """Keeps the history of a stream from now on, or resumes that of the checkpoint."""
        name = schema.stream.name
        if name in self._histories:
            raise BindingError(
                "WB320",
                f"stream {name!r} already has a history",
                hint="declare one history with all measures and keys that you need",
            )
        spec_of(schema)
        checkpoint = HistoryCheckpoint(self._root, name)
        folder = None if archive is None else _archive(archive, is_new=checkpoint.is_new)
        place = (checkpoint, self._buckets, folder)
        history = HistoryRun(self._spark, schema, source, *place)
        # Before it runs: whoever hears of its start asks whose it is.
        self._histories[name] = history
        try:
            history.launch(trigger)
        except WindrowError:
            del self._histories[name]
            raise

    def ask(self, plan: HistoryPlan) -> pa.Table:
        """The answer to a question."""
        history = self._histories[plan.streams[0]]
        return ask(history.ask(plan, (plan.at_us,)), plan)

    def ask_progressively(self, plan: HistoryPlan) -> Iterator[pa.Table]:
        """Answers to a question, coarse first; all are of the moment when the first is taken."""
        history = self._histories[plan.streams[0]]
        levels = (*history.schema.granularities_us, None)
        yield from ask_progressively(history.ask(plan, levels), plan)

    def series(
        self, stream: str, measure: str | None, interval: Interval, points: int, group: list[str]
    ) -> pa.Table:
        """Points of a chart, of one group or of all; at most MOST_POINTS."""
        return drawn_series(self._named(stream), measure, *interval, points, group)

    def tree(self, stream: str, group: list[str]) -> pa.Table:
        """The nodes of a history, of one group or of all."""
        return drawn_tree(self._named(stream), group)

    def _named(self, stream: str) -> HistoryRun:
        history = self._histories.get(stream)
        if history is None:
            known = ", ".join(self._histories) or "none"
            raise BindingError(
                "WB327",
                f"stream {stream!r} has no history",
                hint=f"declare one with session.history(); the streams with a history are: {known}",
            )
        return history

    def advance(self, stream: str, instant_us: int) -> None:
        """Event time moves on without rows."""
        history = self._histories.get(stream)
        if history is not None:
            history.advance(stream, instant_us)

    def finish(self) -> None:
        """Completes the streams of all histories that run."""
        for history in self._histories.values():
            if history.is_running:
                history.finish()

    def stop(self, timeout: float = STOP_TIMEOUT_S) -> None:
        """Stops all histories."""
        for history in self._histories.values():
            history.stop(timeout)

    @property
    def runs(self) -> dict[str, HistoryRun]:
        """What keeps them on Spark, by the name that people read."""
        return {history.name: history for history in self._histories.values()}

    def ledgers(self) -> dict[str, Ledger]:
        """By stream, where the rows of its history went."""
        return {name: history.ledger for name, history in self._histories.items()}

    def table(self) -> pa.Table:
        """One row per history: what it keeps, what it knows, and its bytes."""
        return history_table(map(_row, self._histories.values()))


def _row(history: HistoryRun) -> HistoryRow:
    outputs = history.outputs()
    clock_us = outputs[0].clock_us if outputs else START_OF_TIME
    known_to_us = clock_us + 1 if clock_us > START_OF_TIME else START_OF_TIME
    if outputs and outputs[0].is_finished:
        known_to_us = END_OF_TIME
    rows, size = history.ledger.applied, sum(each.live_bytes for each in outputs)
    return HistoryRow(history.schema, START_OF_TIME, known_to_us, rows, size)


def _archive(folder: Folder, *, is_new: bool) -> str:
    """The directory for nodes that leave memory, which all workers see."""
    text = str(folder) if isinstance(folder, (str, os.PathLike)) else ""
    if "://" in text:
        raise UnsupportedError(
            "WU421",
            f"the archive {text!r} is not a directory that files can be written to directly",
            hint="give a path that the driver and all workers see, such as a mounted one",
        )
    return str(archive_folder(folder, is_new=is_new).absolute())
