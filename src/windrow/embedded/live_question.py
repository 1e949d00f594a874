"""A question about now, answered once from what running queries and views hold.

Rows of a stream are those that some running window holds, where it surely has all that the
question needs: it is as wide, filters nothing, and has seen the stream for as long.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from windrow.deferred import deferred
from windrow.embedded.kept_rows import KeptRows
from windrow.embedded.query import EmbeddedQuery
from windrow.embedded.view_registry import ViewRegistry
from windrow.embedded.view_run import ViewRun
from windrow.errors import BindingError, UnsupportedError
from windrow.event_time import START_OF_TIME, show_instant, show_span
from windrow.output.ordered_result import in_order
from windrow.plan.expressions import ColumnRef
from windrow.plan.model import PlanInput, QueryPlan, WindowSpec
from windrow.rows.life import ALWAYS
from windrow.rows.prepare import Preparer, lifetime_of, needed_columns, prepared_columns
from windrow.rows.prepared_names import TIME
from windrow.rows.prepared_rows import PreparedRows
from windrow.rows.shape import shape_of
from windrow.runtime.shard import Shard
from windrow.windows.lifetime import Lifetime

if TYPE_CHECKING:
    from windrow.plan.relations.tree_plan import TreePlan
    from windrow.runtime.tables.table_store import TableStore
    from windrow.runtime.trees.tree_shard import TreeShard
else:
    TreeShard = deferred("windrow.runtime.trees.tree_shard", "TreeShard")

__all__ = ["answer_now", "check_question", "running_views"]


def check_question(plan: TreePlan, *, is_progressive: bool) -> None:
    """Refuses what only continuous queries, or questions about the past, can have."""
    if is_progressive:
        raise UnsupportedError(
            "WU247",
            "a question that reads no HISTORY has one answer, and no progressive ones",
            hint="omit progressive=True, or ask FROM HISTORY(stream)",
        )
    if plan.every_us is not None or plan.duration is not None:
        raise UnsupportedError(
            "WU248",
            "EVERY and DURATION are for queries that run: ask() answers once",
            hint="omit them, or register the query: session.query(...)",
        )


def answer_now(
    plan: TreePlan,
    running: Iterable[EmbeddedQuery],
    views: Mapping[str, ViewRun],
    tables: Mapping[str, TableStore],
    clock: int,
    kept: Mapping[str, KeptRows | None],
) -> pa.Table:
    """The answer at the clock; views: those of the plan, which run. kept: rows of streams."""
    held: list[_HeldWindow | _HeldStream] = [
        _HeldStream(name, each) for name, each in kept.items() if each is not None
    ]
    held += [each for query in running for each in _held_by(query)]
    shard = TreeShard(plan, clock, views, tables)
    _check_views(shard, clock)
    shard.append(dict(enumerate(_rows_of(plan, held, clock))))
    shard.advance({}, clock)
    return in_order(shard.rows(), plan)


@dataclass(frozen=True)
class _HeldWindow:
    """A window of a running query that holds rows of a stream as they are."""

    query: EmbeddedQuery
    plan: QueryPlan
    number: int  # of the input in its plan
    lifetime: Lifetime
    shard: Shard | TreeShard

    @property
    def entry(self) -> PlanInput:
        return self.plan.inputs[self.number]

    def columns(self) -> dict[str, str]:
        """The columns of the stream that it has, and what prepared rows call them."""
        shape = shape_of(self.plan).inputs[self.number]
        preparer = Preparer(self.plan, self.number)
        names = preparer.schema.names[1:]
        parts = [*preparer.columns.plain, *shape.values]
        pairs = zip(parts, names, strict=False)
        return {part.column: name for part, name in pairs if isinstance(part, ColumnRef)}

    def has_all(self, asked: PlanInput, needed: Sequence[str], clock: int) -> bool:
        """Whether it surely holds every row and column that is asked for."""
        entry = self.entry
        if entry.stream.name != asked.stream.name or entry.filter is not None or entry.keys:
            return False
        if not {*needed} <= {entry.stream.time, *self.columns()}:
            return False
        return self._covers(asked, clock) and not self.query.lacks_rows()

    def _covers(self, asked: PlanInput, clock: int) -> bool:
        if clock == START_OF_TIME:
            return True  # no row counts yet
        own, wanted = self.entry.window, asked.window
        since_us = self.query.begun_us
        has_seen_all = since_us == START_OF_TIME
        if not wanted.traits.leaves_by_time or not own.traits.leaves_by_time:
            is_wider = own.kind == wanted.kind and own.rows >= wanted.rows
            is_alike = is_wider and _columns(own) == _columns(wanted)
            return is_alike and has_seen_all and self.query.clock <= clock
        full = lifetime_of(wanted)
        # The oldest row that counts is later than this.
        from_us = clock - full.reach_us + 1
        is_seen = has_seen_all or since_us <= from_us
        is_alike = full == self.lifetime and self.query.clock <= clock
        return is_seen and (is_alike or from_us >= self.query.clock - self.lifetime.hold_us)

    def rows(self, asked: PlanInput) -> pa.RecordBatch:
        """Its rows, held and waiting, as columns of the stream."""
        del asked
        batch = self.shard.input_rows(self.plan, self.number)
        rows = prepared_columns(self.plan, self.number).rows(batch).expanded().batch
        stream = self.entry.stream
        named = {**self.columns(), stream.time: TIME}
        arrays = {
            name: rows.column(prepared).cast(stream.column(name).type.arrow)
            for name, prepared in named.items()
        }
        return pa.RecordBatch.from_pydict(arrays)


@dataclass(frozen=True)
class _HeldStream:
    """The rows that a stream keeps, with all their columns."""

    name: str
    kept: KeptRows

    def has_all(self, asked: PlanInput, needed: Sequence[str], clock: int) -> bool:
        """Whether every row that is asked for is among those that are kept."""
        del needed  # all columns are there
        if asked.stream.name != self.name:
            return False
        if self.kept.dropped_us == START_OF_TIME or clock == START_OF_TIME:
            return True
        if not asked.window.traits.leaves_by_time:
            return False
        full = lifetime_of(asked.window)
        return self.kept.dropped_us <= clock - full.hold_us - full.slide_us + 1

    def rows(self, asked: PlanInput) -> pa.RecordBatch:
        """The rows."""
        found = self.kept.batch()
        if found is None:
            return pa.RecordBatch.from_pylist([], asked.stream.arrow)
        return found.batch


def _columns(window: WindowSpec) -> list[str]:
    return [part.column for part in window.partition_by if isinstance(part, ColumnRef)]


def _held_by(query: EmbeddedQuery) -> Iterator[_HeldWindow]:
    """The windows of a running query whose rows are all there."""
    if query.life != ALWAYS or query.plan.error_percent is not None:
        return
    query.repair()
    shard = query.held_shard
    for number, (plan, own) in enumerate(shard.held_inputs()):
        yield _HeldWindow(query, plan, own, query.lifetime(number), shard)


def _rows_of(
    plan: TreePlan, held: Sequence[_HeldWindow | _HeldStream], clock: int
) -> Iterator[PreparedRows]:
    """For each input of the plan the rows that it needs."""
    for own in plan.plans:
        for number, asked in enumerate(own.inputs):
            needed = needed_columns(own, number)
            usable = (each for each in held if each.has_all(asked, needed, clock))
            found = next(usable, None)
            if found is None:
                raise _nothing_held(asked, needed)
            yield Preparer(own, number).prepare(found.rows(asked))


def _nothing_held(asked: PlanInput, needed: Sequence[str]) -> BindingError:
    offset_us, columns = asked.window.offset_us, ", ".join(_columns(asked.window))
    stream, window = (
        asked.stream.name,
        f"[{asked.window.traits.printed}]".format(
            length=f"{show_span(asked.window.length_us).upper()}",
            slide=f"{show_span(asked.window.slide_us).upper()}",
            rows=asked.window.rows,
            columns=columns,
            partition=f" PARTITION BY {columns}" if columns else "",
            offset=f" OFFSET {show_span(offset_us).upper()}" if offset_us else "",
        ),
    )
    read = ", ".join(needed)
    return BindingError(
        "WB277",
        f"no running query or view holds the rows of {stream} {window} with {read}",
        hint=f"declare the stream with keep=, or register a query before the rows come: "
        f"SELECT {read} FROM {stream} {window}",
    )


def running_views(plan: TreePlan, views: ViewRegistry) -> dict[str, ViewRun]:
    """The runs of the views that a question reads."""
    found = {name: views.get(name) for name in plan.views}
    for name, run in found.items():
        if run is None or not run.is_running:
            raise BindingError(
                "WB278",
                f"view {name!r} does not run: no query reads it",
                hint=f"register a query that does, such as SELECT * FROM {name}",
            )
    return {name: run for name, run in found.items() if run is not None}


def _check_views(shard: TreeShard, clock: int) -> None:
    """A view may be ahead of the clock only as far as it still knows how it was then."""
    read = [(f"view {scan.view!r}", leaf) for scan, leaf in shard.view_leaves.items()]
    read += [(f"table {scan.table!r}", leaf) for scan, leaf in shard.table_leaves.items()]
    for name, leaf in read:
        if leaf.cursor > clock:
            raise BindingError(
                "WB278",
                f"{name} is ahead of the other streams of the question, and no longer "
                f"known as it was at {show_instant(clock)}",
                hint="ask for it alone, or register the question as a query",
            )
