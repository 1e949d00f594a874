"""Carries what a query of a job says to its sink, in this process: a watcher, or files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeAlias

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
    from windrow.embedded.alert_run import AlertRun
    from windrow.embedded.history_query import EmbeddedHistoryQuery
    from windrow.plan.relations.tree_plan import TreePlan
else:
    TreePlan = deferred("windrow.plan.relations.tree_plan", "TreePlan")

__all__ = ["Outlet", "Running", "check_sink", "standings"]


Running: TypeAlias = "EmbeddedQuery | EmbeddedHistoryQuery"


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
        running: Running,
        answered: Callable[[str, pa.Table], None],
        alert: AlertRun | None = None,
        before: Outlet | None = None,
    ) -> None:
        check_sink(query)
        self.query = query
        self.running = running
        self._alert = alert  # its events, and no answers, are what goes to the sink
        self._pending: dict[str, pa.Table] | None = None  # read, and not written yet
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
        if self._alert is not None:
            shape = self._alert.bound.shape
            return ProcessRun(self.query.name, shape, place=self.query.place)
        plan = self.query.plan
        shown = plan.published if isinstance(plan, TreePlan) else plan
        return ProcessRun(self.query.name, shown, place=self.query.place)

    def close(self) -> None:
        """The run has ended: connections are closed."""
        if self._writer is not None:
            self._writer.close()

    def drain(self) -> None:
        """Hands on what is new."""
        if self._writer is not None:
            self._give(self._writer)  # what it has refused before
        given = self._read()
        answers = given["answers"]
        self.answers += answers.num_rows
        if self._writer is not None and given[self._writer.feeds[0]].num_rows:
            if "result" in self._writer.feeds:
                given["result"] = self.running.result()
            self._pending = {feed: given[feed] for feed in self._writer.feeds}
            self._give(self._writer)
        if self.observer is not None:
            self.observer(given.get("told", answers), given["changes"])
        if answers.num_rows:
            self._answered(self.query.name, answers)

    def _read(self) -> dict[str, pa.Table]:
        if self._alert is not None:
            events, told, changes = self._alert.read()
            return {"answers": events, "changes": changes, "told": told}
        return {"answers": self.running.answers(), "changes": self.running.changes()}

    def _give(self, writer: Writer) -> None:
        """Gives the batch that is pending to the writer."""
        if self._pending is not None:
            with self._written():
                writer.write(self._pending, self._batches)
            self._batches, self._pending = self._batches + 1, None

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
