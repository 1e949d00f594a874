"""The output of a continuous question on Spark: its sink, and what the driver knows of it.

The bucket tells what is due, exactly once for each batch however often Spark runs it. So nothing is
put together here: what is saved says which batch the sink was given, and where the question stands.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, cast

import pyarrow as pa

from windrow.connectors.contract import HeldFeeds, Writer, question_not_written
from windrow.errors import UnsupportedError
from windrow.history.questions.feed import feed_schemas
from windrow.output.change_limit import check_limit
from windrow.plan.history_plan import HistoryPlan
from windrow.rows.frames import read_frame, table_bytes, table_of, write_frame
from windrow.runtime.ledger import Ledger
from windrow.sinks import Memory, sink_of
from windrow.spark.checkpoint.question_checkpoint import QuestionCheckpoint
from windrow.spark.worker.history_output import HistoryOutput

if TYPE_CHECKING:
    from windrow.plan.model import QueryPlan

__all__ = ["QuestionOutlet", "QuestionStatus"]

BATCHES_KEPT = 3


@dataclass(frozen=True)
class QuestionStatus:
    """How a question stands after its last batch."""

    batch_id: int = -1
    clock_us: int | None = None
    answers: int = 0  # rows given so far
    ledger: Ledger = field(default_factory=Ledger)
    live_bytes: int = 0
    state_bytes: int = 0
    segments: int = 0


class QuestionOutlet:
    """Gives each batch to the sink, and saves that it has."""

    def __init__(self, name: str, plan: HistoryPlan, checkpoint: QuestionCheckpoint) -> None:
        self._name, self._plan, self._checkpoint = name, plan, checkpoint
        self._saved = checkpoint.publish
        self._schemas = feed_schemas(plan)
        self._writer: Writer | None = None
        # Exchanged as a whole: a reader sees one batch.
        self._state = (QuestionStatus(), self._schemas["result"].empty_table())

    def open(self, sink: object) -> None:
        """Goes on with a sink from what was saved."""
        given = sink_of(sink)
        if not given.takes_questions:
            raise question_not_written(self._name, given)
        is_held = self._writer is not None and self._writer.held is not None and given == Memory()
        if not is_held:
            self.end()
            # These sinks read no more of a plan than its columns.
            plan = cast("QueryPlan", self._plan)
            self._writer = given.open_on_spark(plan, self._checkpoint)
        self._load()

    def begin(self, last_batch: int) -> None:
        """The query is about to run; last_batch: the newest that was begun before."""
        self._opened.begin(last_batch, self._checkpoint.publish.location)

    @property
    def last_saved(self) -> int:
        """The newest batch that was given and saved; -1 before the first."""
        names = self._saved.names()
        return int(names[-1].partition(".")[0]) if names else -1

    def write(self, output: HistoryOutput, batch_id: int) -> None:
        """Gives a batch to the sink."""
        writer, status = self._opened, self._before(batch_id)
        tables = {feed: output.told[feed] for feed in writer.feeds}
        writer.write(tables, batch_id)
        status = QuestionStatus(
            batch_id,
            output.clock_us,
            status.answers + sum(map(len, tables.values())),
            output.ledger,
            output.live_bytes,
            output.state_bytes,
            output.segments,
        )
        self._state = (status, output.told["result"])
        self._save()

    def pass_over(self, batch_id: int) -> None:
        """A batch gave nothing at all."""
        self._state = (replace(self._state[0], batch_id=batch_id), self._state[1])
        self._save()

    def end(self) -> None:
        """The query has stopped: connections of its sink are closed."""
        if self._writer is not None:
            self._writer.close()

    def taken(self, feed: str, limit: int | None = None) -> pa.Table:
        """Answers or changes since the last call; the sink must be 'memory'."""
        check_limit(limit)
        return self._memory().take(feed, self._schemas[feed].empty_table(), limit)

    def result(self) -> pa.Table:
        """The answer at the last tick; the sink must be 'memory'."""
        self._memory()
        return self._state[1]

    @property
    def status(self) -> QuestionStatus:
        """How the question stands."""
        return self._state[0]

    @property
    def _opened(self) -> Writer:
        assert self._writer is not None
        return self._writer

    def _memory(self) -> HeldFeeds:
        held = None if self._writer is None else self._writer.held
        if held is None:
            raise UnsupportedError(
                "WU411",
                f"query {self._name!r} does not hold its answers in memory",
                hint=f"start it with the sink {Memory()} or 'memory'",
            )
        return held

    def _before(self, batch_id: int) -> QuestionStatus:
        """How it stood before a batch: one that comes again after a crash counts once."""
        if self.status.batch_id >= batch_id:
            self._load(batch_id - 1)
        return self.status

    def _save(self) -> None:
        status, result = self._state
        header = {**asdict(status), "ledger": asdict(status.ledger)}
        data = write_frame("question", header, [table_bytes(result)])
        self._saved.write(_name(status.batch_id), data)
        for name in self._saved.names():
            if name < _name(status.batch_id - BATCHES_KEPT + 1):
                self._saved.remove(name)

    def _load(self, at_most: int | None = None) -> None:
        limit = None if at_most is None else _name(at_most)
        names = [name for name in self._saved.names() if limit is None or name <= limit]
        if not names:
            self._state = (QuestionStatus(), self._schemas["result"].empty_table())
            return
        data = self._saved.read(names[-1]) or b""
        header, sections = read_frame("question", data, f"publication {names[-1]}")
        status = QuestionStatus(**{**header, "ledger": Ledger(**header["ledger"])})
        self._state = (status, table_of(sections[0]))


def _name(batch_id: int) -> str:
    return f"{batch_id:012d}.batch"
