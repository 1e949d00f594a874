"""The output of a query on Spark: its publication, its sink, and the rows that it set aside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa

from windrow.connectors.contract import HeldFeeds, Writer
from windrow.errors import UnsupportedError
from windrow.output.change_limit import check_limit
from windrow.plan.explain import explain
from windrow.plan.figures import Figures
from windrow.plan.relations.explain_stages import explain_on_spark
from windrow.plan.relations.tree_plan import RunnablePlan, TreePlan
from windrow.plan.update_pattern import only_adds_rows
from windrow.rows.bad_rows import BadRow, BadRows
from windrow.sinks import Memory, sink_of
from windrow.spark.checkpoint.beginning import PUBLICATION, read_beginning
from windrow.spark.checkpoint.query_checkpoint import QueryCheckpoint
from windrow.spark.driver.kept_rows import KeptRows
from windrow.spark.driver.publication import Publication
from windrow.spark.monitoring.status import QueryStatus
from windrow.spark.shuffle.columns import schema_read
from windrow.spark.worker.shard_output import ShardOutput
from windrow.spark.worker.tree_nodes import measured_nodes

__all__ = ["QueryOutlet"]

Kept = dict[str, KeptRows]  # by stream

_PASSED_ON = "  on Spark    rows are passed on and not kept: the sink takes changes only"


class QueryOutlet:
    """Takes what shards give in each batch, however the query is run; it is opened with a sink."""

    def __init__(self, name: str, plan: RunnablePlan) -> None:
        self.name = name
        self.plan = plan
        self._publication: Publication | None = None
        self.passes = False  # whether its rows pass: neither they nor a result are kept
        self._place = ""  # where it is saved
        self._first_batch = 0  # as what its sink counts batch 0
        self._writer: Writer | None = None
        schemas = {stream: schema_read(plan, stream) for stream in plan.streams}
        nothing = {stream: KeptRows(schema) for stream, schema in schemas.items()}
        bad = {stream: BadRows() for stream in plan.streams}
        # The newest batch whose rows that were set aside are kept, those that were late, those
        # without a time and bad ones: one value, so that no batch is ever kept in part.
        self._kept = (-1, nothing, nothing, bad)

    def open(self, sink: object, checkpoint: QueryCheckpoint, *, may_pass: bool = False) -> None:
        """Goes on with a sink from what the checkpoint has published.

        may_pass: whether rows may pass, where the query and its sink need no result.
        """
        given, place = sink_of(sink), checkpoint.publish.location
        self._first_batch = checkpoint.first_batch
        goes_on = self._publication is not None and self._place == place
        # Answers in memory that nobody has taken stay, and those of a batch that comes again are
        # known there.
        is_held = self._writer is not None and self._writer.held is not None and given == Memory()
        if not (goes_on and is_held):
            self.end()
            plan = self.plan
            shown = plan.published if isinstance(plan, TreePlan) else plan
            self._writer = given.open_on_spark(shown, checkpoint)
        passes = may_pass and self._can_pass(checkpoint)
        if not goes_on or passes != self.passes:
            begins = checkpoint.begins
            begun = None if begins is None else read_beginning(begins, PUBLICATION)
            self._publication = Publication(self.plan, checkpoint.publish, begun, passes=passes)
            self.passes = passes
            self._place, self._kept = place, (-1, *self._kept[1:])

    def _can_pass(self, checkpoint: QueryCheckpoint) -> bool:
        """Whether nobody needs more than changes, and the checkpoint has not begun with more."""
        assert self._writer is not None
        is_enough = only_adds_rows(self.plan) and set(self._writer.feeds) <= {"changes"}
        owner = checkpoint.owner() if is_enough else None
        return is_enough and (owner is None or owner.passes_rows)

    @property
    def publication(self) -> Publication | None:
        """What was published; None before the query was started."""
        return self._publication

    @property
    def grid_us(self) -> int:
        """Shards report only what answers at ticks need, unless the sink takes every change.

        Windows that take turns answer between ticks.
        """
        if self.plan.error_percent is not None or isinstance(self.plan, TreePlan):
            return 1
        return 1 if "changes" in self._opened[1].feeds else self.plan.every_us or 1

    @property
    def last_saved(self) -> int:
        """The newest batch that was published and saved; -1 before the first."""
        return self._opened[0].last_saved

    def begin(self, last_batch: int) -> None:
        """The query is about to run; last_batch: the newest that was begun before."""
        began = last_batch + self._first_batch if last_batch >= 0 else last_batch
        self._opened[1].begin(began, self._place)

    def begin_at(self, batch_id: int, clock_us: int) -> None:
        """The query begins with this batch, at this clock; others may have run before."""
        self._opened[0].begin(batch_id, clock_us)

    def absorb(self, outputs: Sequence[ShardOutput], batch_id: int) -> dict[str, pa.Table]:
        """What a batch writes to the sink, by feed."""
        publication, writer = self._opened
        return publication.absorb(batch_id, outputs, writer.feeds)

    def write(
        self, tables: dict[str, pa.Table], outputs: Sequence[ShardOutput], batch_id: int
    ) -> None:
        """Gives a batch to the sink, and keeps the rows that its shards set aside."""
        self._opened[1].write(tables, batch_id + self._first_batch)
        through, late, unplaced, bad = self._kept
        if batch_id > through:
            late = _with_all(late, [output.late for output in outputs])
            unplaced = _with_all(unplaced, [output.unplaced for output in outputs])
            bad = _with_bad(bad, [output.bad for output in outputs])
            self._kept = (batch_id, late, unplaced, bad)

    def take_first(self, outputs: Sequence[ShardOutput]) -> None:
        """Takes what shards give that have just put their state into the store: no answers."""
        publication = self._opened[0]
        (answers,) = publication.absorb(0, outputs, ("answers",)).values()
        assert not answers.num_rows, "the clock has not moved"
        publication.save()

    def pass_over(self, batch_id: int) -> None:
        """A batch gave nothing at all."""
        self._opened[0].pass_over(batch_id)

    def save(self, batch_ms: float | None = None) -> None:
        """Saves what was published, and how long the batch took here."""
        publication = self._opened[0]
        if batch_ms is not None:
            publication.status.batch_ms = batch_ms
        publication.save()

    def end(self) -> None:
        """The query has stopped: connections of its sink are closed."""
        if self._writer is not None:
            self._writer.close()

    def answers(self) -> pa.Table:
        """Every answer since the last call; the sink must be 'memory'."""
        return self._taken("answers")

    def changes(self, limit: int | None = None) -> pa.Table:
        """Every change since the last call; the sink must be 'memory'.

        limit: at most this many rows, the rest at the next call; an instant is split only if it
        alone has more.
        """
        check_limit(limit)
        return self._taken("changes", limit)

    def result(self) -> pa.Table:
        """The answer now; the sink must be 'memory'."""
        self._memory()
        return self._opened[0].result()

    @property
    def status(self) -> QueryStatus:
        """The reports of the last batch, added up."""
        if self._publication is None:
            return QueryStatus.new(self.plan)
        return self._publication.status

    def late(self, stream: str) -> pa.Table:
        """Late rows that this query has kept, of the columns that it reads."""
        return self._kept[1][stream].table()

    def bad_time(self, stream: str) -> pa.Table:
        """Some of the rows whose time was missing or absurd."""
        return self._kept[2][stream].table()

    def bad_rows(self, stream: str) -> pa.Table:
        """Some of the rows that were set aside because of a value, as text."""
        return self._kept[3][stream].table()

    def explain(self) -> str:
        """The plan, the algorithm and what it costs, from what running shards have measured."""
        status, plan = self.status, self.plan
        if isinstance(plan, TreePlan):
            measured = measured_nodes(plan, status.tree)
            return explain_on_spark(plan, *measured, len(status.bucket_rows) or None)
        if self.passes:
            return f"{explain(plan)}\n{_PASSED_ON}"
        if status.figures is None:
            return explain(plan)
        running = " and ".join(status.algorithms)
        return explain(plan, Figures.from_json(status.figures), running)

    @property
    def _opened(self) -> tuple[Publication, Writer]:
        assert self._publication is not None
        assert self._writer is not None
        return self._publication, self._writer

    def _taken(self, feed: str, limit: int | None = None) -> pa.Table:
        return self._memory().take(feed, self._opened[0].empty(feed), limit)

    def _memory(self) -> HeldFeeds:
        held = None if self._writer is None else self._writer.held
        if held is None:
            raise UnsupportedError(
                "WU411",
                f"query {self.name!r} does not hold its answers in memory",
                hint=f"start it with the sink {Memory()} or 'memory'",
            )
        return held


def _with_all(kept: Kept, given: Sequence[Mapping[str, pa.Table]]) -> Kept:
    """What is kept by stream, and the rows that buckets have set aside besides."""
    kept = dict(kept)
    for tables in given:
        for stream, rows in tables.items():
            kept[stream] = kept[stream].with_rows(rows)
    return kept


def _with_bad(
    kept: dict[str, BadRows], given: Sequence[Mapping[str, pa.Table]]
) -> dict[str, BadRows]:
    kept = dict(kept)
    for tables in given:
        for stream, rows in tables.items():
            kept[stream] = kept[stream].with_rows(BadRow(**row) for row in rows.to_pylist())
    return kept
