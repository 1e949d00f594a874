"""A live history: that of one bucket in memory, fed and asked.

It is only ever a cache of what the state store holds: it can be dropped and rebuilt.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pyarrow as pa

from windrow.event_time import END_OF_TIME
from windrow.history.answers.merge import table_of_partial
from windrow.history.operator import HistoryOperator, spec_of
from windrow.history.parquet_archive import ParquetArchive
from windrow.history.past import Archive
from windrow.history.questions.lookup import look_up
from windrow.history.questions.series import (
    group_keys,
    held_interval,
    points_of,
    shape_table,
)
from windrow.history.saved_state import SavedHistory, restore_history, save_history
from windrow.plan.history_schema import HistorySchema
from windrow.rows.frames import read_frame, table_bytes, table_of, write_frame
from windrow.spark.shuffle.history_question import BucketReply, Drawing, HistoryQuestion
from windrow.spark.worker.segments import Segment

__all__ = ["LiveHistory"]


class LiveHistory:
    """The history of one bucket, and rows that wait until they are complete."""

    def __init__(self, schema: HistorySchema, archive: str | None = None) -> None:
        self._archive = None if archive is None else ParquetArchive(archive, spec_of(schema))
        self._operator = HistoryOperator(schema, self._archive)

    def apply(self, batches: Iterable[pa.RecordBatch], clock_us: int) -> None:
        """Takes rows that are not late, and moves on to the clock."""
        operator = self._operator
        for batch in batches:
            operator.append(batch)
        due = operator.drain_due(clock_us)
        operator.insert(due, 0, due.times.size)
        operator.history.advance(clock_us)

    def finish(self) -> None:
        """No further row will come."""
        self._operator.finish()

    def told(self) -> dict[str, pa.Table]:
        """What it has to tell of itself after a batch: nothing, but where it is asked."""
        return {}

    @property
    def rows(self) -> int:
        """Rows that are in the history; others wait."""
        return self._operator.rows

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self._operator.nbytes

    def answer(self, question: HistoryQuestion) -> BucketReply:
        """What this bucket knows of an interval, and of the moment."""
        operator, history = self._operator, self._operator.history
        plan = question.plan(operator.schema)
        reach = operator.reach(question.since_us, question.until_us)
        answers = {}
        for at_us in question.levels:
            found = look_up(operator, plan, reach.known, at_us)
            # All buckets are asked the same, whatever each of them has forgotten.
            answer = replace(
                found.answer,
                asked=reach.known,
                inside=found.inside,
                outside=found.outside or found.answer.outside,
            )
            answers[at_us] = table_of_partial(answer)
        kinds = zip(history.sketches.kinds, history.sketches.forgotten, strict=True)
        return BucketReply(
            question.name,
            history.now_us,
            operator.known_to_us >= END_OF_TIME,
            tuple(history.storage.regions.horizons_us),
            (history.past.whole, history.past.real),
            tuple(kind.to_bytes(sketch) for kind, sketch in kinds),
            answers,
            [] if question.drawing is None else self._drawn(question, question.drawing),
        )

    def _drawn(self, question: HistoryQuestion, drawing: Drawing) -> list[pa.Table]:
        operator, history = self._operator, self._operator.history
        keys = group_keys(operator.schema, drawing.group)
        if drawing.shows == "extent":
            since_us, until_us = held_interval(history)
            return [pa.table({"since_us": [since_us], "until_us": [until_us]})]
        if drawing.shows == "tree":
            return [shape_table(operator, keys)]
        interval = (question.since_us, question.until_us or 0)
        found = points_of(history, *interval, drawing.points, keys)
        return [table_of_partial(answer) for answer in found]

    def snapshot(self) -> Segment:
        """Everything that it holds, as one segment."""
        operator = self._operator
        saved = save_history(operator.history)
        waiting = operator.drain_due(END_OF_TIME).batch
        if waiting is not None:
            operator.append(waiting)
        header = {
            "history": saved.header,
            "tables": list(saved.tables),
            "rows": operator.rows,
            "waiting": waiting is not None,
        }
        sections = [*map(table_bytes, saved.tables.values())]
        if waiting is not None:
            sections.append(table_bytes(waiting))
        return Segment(snapshot=write_frame("history", header, sections))

    @classmethod
    def restore(
        cls, schema: HistorySchema, archive: str | None, snapshot: bytes | memoryview
    ) -> LiveHistory:
        """The history that a snapshot was taken of."""
        header, sections = read_frame("history", snapshot, "snapshot of a history")
        tables = [table_of(section) for section in sections]
        live = cls(schema, archive)
        saved = SavedHistory(header["history"], dict(zip(header["tables"], tables, strict=False)))
        kept: Archive | None = live._archive
        live._operator.history = restore_history(spec_of(schema), saved, kept)
        live._operator.rows = header["rows"]
        for batch in tables[-1].to_batches() if header["waiting"] else ():
            live._operator.append(batch)
        return live
