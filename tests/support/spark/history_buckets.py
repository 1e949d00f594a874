"""A history in buckets on dictionaries instead of Spark's state store."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa

from support.spark.driven_job import DictionaryState
from windrow.event_time import END_OF_TIME
from windrow.history.questions.ask import ask, ask_progressively
from windrow.plan.catalog import Catalog
from windrow.plan.history_binder import bind_history
from windrow.plan.history_schema import declared_history
from windrow.schema import StreamSchema
from windrow.spark.checkpoint.history_declaration import (
    history_fingerprint,
    history_of_text,
    history_text,
)
from windrow.spark.driver.gathered_history import GatheredHistory
from windrow.spark.shuffle.control import order_advance, order_question, packet_of_line
from windrow.spark.shuffle.history_packer import HistoryPacker
from windrow.spark.shuffle.history_question import BucketReply, Drawing, HistoryQuestion
from windrow.spark.worker.history_output import HistoryOutput
from windrow.spark.worker.history_step import HistoryStep
from windrow.spark.worker.live_cache import LiveShelf
from windrow.spark.worker.live_history import LiveHistory
from windrow.sql import parse_query
from windrow.storage import Storage


class Buckets:
    """All buckets of one history, run batch by batch."""

    def __init__(
        self, stream: StreamSchema, count: int, archive: str | None = None, **declaration: Any
    ) -> None:
        parts = {"measures": (), "by": (), **declaration}
        self.schema = declared_history(stream, **parts)
        self.states = [DictionaryState() for _ in range(count)]
        self.archive = archive
        self.shelf: LiveShelf[LiveHistory] = LiveShelf()
        # A run in a worker begins with the schema as text.
        self._read = history_of_text(history_text(self.schema))

    def restart(self) -> None:
        """The worker processes are others from now on."""
        self.shelf = LiveShelf()

    def push(self, *tables: pa.Table | pa.RecordBatch) -> list[HistoryOutput]:
        """A batch of the stream, of one task for each table."""
        packets: list[list[bytes]] = [[] for _ in self.states]
        for task, table in enumerate(tables):
            packer = HistoryPacker(self._read, tuple(range(len(self.states))), task)
            for batch in table.to_batches() if isinstance(table, pa.Table) else [table]:
                packer.add(batch)
            for held, packet in zip(
                packets, packer.take().column("packet").to_pylist(), strict=True
            ):
                held.append(packet)
        return self.run(packets)

    def advance(self, to_us: int) -> list[HistoryOutput]:
        """A heartbeat."""
        name = self.schema.stream.name
        return self.order(_line(lambda control: order_advance(control, name, to_us)))

    def finish(self) -> list[HistoryOutput]:
        """The end of the stream."""
        return self.advance(END_OF_TIME)

    def order(self, line: str) -> list[HistoryOutput]:
        """A batch with nothing but a line of the control stream."""
        return self.run([[packet_of_line(line).to_bytes()] for _ in self.states])

    def run(self, packets: Sequence[list[bytes]]) -> list[HistoryOutput]:
        """One batch."""
        return [
            HistoryOutput.from_bytes(self.step(bucket).run_batch(each, state).to_bytes())
            for bucket, (each, state) in enumerate(zip(packets, self.states, strict=True))
        ]

    def step(self, bucket: int) -> HistoryStep:
        """The work of one bucket."""
        folder = None if self.archive is None else f"{self.archive}/{bucket}"
        fingerprint = history_fingerprint(self._read)
        return HistoryStep(fingerprint, "owner", bucket, self._read, self.shelf, folder)

    def ask(self, text: str) -> pa.Table:
        """A question, as a session asks it."""
        return self._asked(text, lambda plan: (plan.at_us,), ask)

    def ask_progressively(self, text: str) -> list[pa.Table]:
        """All answers, coarse first."""
        levels = (*self.schema.granularities_us, None)
        return list(self._asked(text, lambda _: levels, ask_progressively))

    def _asked(self, text: str, levels: Callable[..., Any], answer: Callable[..., Any]) -> Any:
        catalog = Catalog(self.schema.stream)
        plan = bind_history(parse_query(text), catalog, {self.schema.stream.name: self.schema})
        replies = self._replies(HistoryQuestion.of_plan("q", plan, levels(plan)))
        return answer(GatheredHistory(self.schema, replies), plan)

    def drawn(self, drawing: Drawing, since_us: int = 0, until_us: int = 0) -> list[BucketReply]:
        """What all buckets give to be drawn."""
        return self._replies(HistoryQuestion("d", since_us, until_us, drawing=drawing))

    def _replies(self, question: HistoryQuestion) -> list[BucketReply]:
        outputs = self.order(_line(lambda control: order_question(control, question.to_json())))
        return [each.replies[0] for each in outputs]


def _line(order: Callable[[Storage], None]) -> str:
    """The line that an order writes."""
    with tempfile.TemporaryDirectory() as folder:
        control = Storage(folder)
        order(control)
        (name,) = control.names()
        return (control.read(name) or b"").decode().rstrip("\n")
