"""A live history that one continuous question looks at, and that keeps what the question needs.

The question folds every complete node of the finest level into its answer. So the history holds the
node that grows, and rows that wait; coarser levels would not be read.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pyarrow as pa

from windrow.event_time import END_OF_TIME
from windrow.history.answers.answer import Interval
from windrow.history.answers.merge import partial_of_table, table_of_partial
from windrow.history.operator import spec_of
from windrow.history.questions.continuous import ContinuousQuestion, move_on
from windrow.history.questions.feed import HistoryFeed
from windrow.history.questions.lookup import LookedUp
from windrow.plan.history_plan import HistoryPlan
from windrow.plan.history_schema import HistorySchema
from windrow.rows.frames import Section, read_frame, table_bytes, table_of, write_frame
from windrow.spark.worker.live_history import LiveHistory
from windrow.spark.worker.segments import Segment

__all__ = ["LiveQuestion", "schema_kept"]


def schema_kept(plan: HistoryPlan) -> HistorySchema:
    """The declaration with its finest level alone, of which only the node that grows is kept.

    An interval that begins within a node cuts it: what is known of the rest depends on all levels.
    """
    (finest_us, _), *_ = plan.history.levels
    if plan.since_us % finest_us:
        return plan.history
    return replace(plan.history, levels=((finest_us, 0),))


class LiveQuestion(LiveHistory):
    """The rows of a stream as one question needs them; it is fed as any live history is."""

    def __init__(self, plan: HistoryPlan) -> None:
        super().__init__(schema_kept(plan))
        self._plan = plan
        # Answers leave with every batch: here nothing is ever dropped.
        self._feed = HistoryFeed(plan, sys.maxsize, sys.maxsize)
        self._question = ContinuousQuestion(plan, self._operator, self._feed)

    def apply(self, batches: Iterable[pa.RecordBatch], clock_us: int) -> None:
        """Takes rows that are not late, and moves on to the clock, where the question looks."""
        for batch in batches:
            self._operator.append(batch)
        if clock_us > self._operator.history.now_us:
            move_on(self._operator, [self._question], clock_us)

    def told(self) -> dict[str, pa.Table]:
        """Answers and changes since the last call, and the result that they lead to.

        With EVERY these are of the last tick: where batches end must not show. When the stream has
        ended no tick follows, and what came after the last one is told, too.
        """
        if self._question.is_behind and self._operator.known_to_us >= END_OF_TIME:
            self._question.show(self._question.clock)
        return {
            "answers": self._feed.answers(),
            "changes": self._feed.changes(),
            "result": self._feed.result,
        }

    @property
    def nbytes(self) -> int:
        """Bytes held, those of what was folded and told too."""
        _, looked = self._question.growth.folded
        answer = looked.answer
        folded: int = answer.keys.nbytes + answer.whole.nbytes + answer.real.nbytes
        return super().nbytes + self._feed.nbytes + folded

    def snapshot(self) -> Segment:
        """Everything that it holds, as one segment; all that was due has been told."""
        edge_us, looked = self._question.growth.folded
        assert looked.forgotten is None
        tables = [table_of_partial(looked.answer), self._feed.result, self._feed.answer_now]
        header = {
            "edge_us": edge_us,
            "inside": _pair(looked.inside),
            "outside": _pair(looked.outside),
            "clock_us": self._question.clock,
            "rows_shown": self._question.rows_shown,
            "has_begun": self._question.has_begun,
        }
        history = super().snapshot().snapshot
        assert history is not None
        sections: list[Section] = [history, *map(table_bytes, tables)]
        return Segment(snapshot=write_frame("question", header, sections))

    @classmethod
    def resumed(cls, plan: HistoryPlan, snapshot: bytes | memoryview) -> LiveQuestion:
        """The live history that a snapshot was taken of."""
        header, sections = read_frame("question", snapshot, "snapshot of a continuous question")
        live = cls(plan)
        schema = schema_kept(plan)
        live._operator = LiveHistory.restore(schema, None, bytes(sections[0]))._operator
        live._question = question = ContinuousQuestion(plan, live._operator, live._feed)
        answer, result, due = map(table_of, sections[1:])
        borders = (_interval(header["inside"]), _interval(header["outside"]))
        looked = LookedUp(partial_of_table(spec_of(schema), answer), *borders)
        question.growth.resume(header["edge_us"], looked)
        live._feed.resume(result, due, is_told=header["has_begun"])
        question.resume(header["clock_us"], header["rows_shown"], has_begun=header["has_begun"])
        return live


def _pair(interval: Interval | None) -> list[int] | None:
    return None if interval is None else [interval.since_us, interval.until_us]


def _interval(pair: Any) -> Interval | None:
    return None if pair is None else Interval(*pair)
