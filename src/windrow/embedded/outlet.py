"""Carries what a query of a job says to its sink, in this process: a watcher, or files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pyarrow as pa

from windrow.connectors.contract import Writer, not_written_here
from windrow.connectors.process_run import ProcessRun
from windrow.deferred import deferred
from windrow.embedded.query import EmbeddedQuery
from windrow.embedded.session import EmbeddedSession
from windrow.errors import DataError
from windrow.jobs.job import JobQuery
from windrow.jobs.watcher import Standing

if TYPE_CHECKING:
    from windrow.embedded.history_query import EmbeddedHistoryQuery
    from windrow.plan.relations.tree_plan import TreePlan
else:
    TreePlan = deferred("windrow.plan.relations.tree_plan", "TreePlan")

__all__ = ["Outlet", "check_sink", "standings"]


def check_sink(query: JobQuery) -> None:
    """Refuses a sink that only Spark has."""
    if not query.sink.in_process:
        raise not_written_here(query.name, query.place)


class Outlet:
    """Where one running query drains to; `answered` is called with answers, whatever the sink.

    before: that of the query in whose place it is, whose sink it goes on with if it has the same.
    """

    def __init__(
        self,
        query: JobQuery,
        running: EmbeddedQuery | EmbeddedHistoryQuery,
        answered: Callable[[str, pa.Table], None],
        before: Outlet | None = None,
    ) -> None:
        check_sink(query)
        self.query = query
        self.running = running
        self.answers = 0  # rows so far
        # Who else is shown all that the sink is given, answers and changes.
        self.observer: Callable[[pa.Table, pa.Table], None] | None = None
        self._answered = answered
        self._batches = 0  # that were written
        self._writer: Writer | None = None
        if before is not None and before.query.sink == query.sink:
            self._writer, self._batches = before._writer, before._batches
        elif query.sink.shows is None:
            with self._written():
                self._writer = self._opened()

    def _opened(self) -> Writer:
        return self.query.sink.open_in_process(self._run())

    def _run(self) -> ProcessRun:
        plan = self.query.plan
        shown = plan.published if isinstance(plan, TreePlan) else plan
        return ProcessRun(self.query.name, shown, place=self.query.place)

    def close(self) -> None:
        """The run has ended: connections are closed."""
        if self._writer is not None:
            self._writer.close()

    def drain(self) -> None:
        """Hands on what is new."""
        answers, changes = self.running.answers(), self.running.changes()
        self.answers += answers.num_rows
        if self._writer is not None:
            self._write(self._writer, answers, changes)
        if self.observer is not None:
            self.observer(answers, changes)
        if answers.num_rows:
            self._answered(self.query.name, answers)

    def _write(self, writer: Writer, answers: pa.Table, changes: pa.Table) -> None:
        """Gives a batch to the writer, if the first feed that it asks for has rows."""
        given = {"answers": answers, "changes": changes}
        if given[writer.feeds[0]].num_rows == 0:
            return
        if "result" in writer.feeds:
            given["result"] = self.running.result()
        with self._written():
            writer.write({feed: given[feed] for feed in writer.feeds}, self._batches)
        self._batches += 1

    @contextmanager
    def _written(self) -> Iterator[None]:
        try:
            yield
        except OSError as problem:
            raise DataError(
                "WD511",
                f"the answers of query {self.query.name!r} cannot be written: {problem}",
                hint="name a writable folder, on a disk with free space",
                place=self.query.place,
            ) from None


def standings(session: EmbeddedSession, outlets: Iterable[Outlet]) -> list[Standing]:
    """How each query stands now."""
    served = session.queries().select(["query", "level"]).to_pylist()
    levels = {row["query"]: row["level"] for row in served}
    return [
        Standing(name, each.running.clock, each.running.result(), levels.get(name), each.answers)
        for each in outlets
        for name in [each.query.name]
    ]
