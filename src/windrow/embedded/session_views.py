"""The views of one session at work: begun with their first reader, admitted, and forgotten."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from windrow.deferred import deferred
from windrow.embedded.ingest import Ingest
from windrow.embedded.kept_for import fill, keeps_for
from windrow.embedded.live_question import answer_now, check_question, running_views
from windrow.embedded.query import EmbeddedQuery
from windrow.embedded.tables import Tables
from windrow.embedded.view_registry import ViewRegistry
from windrow.embedded.view_run import ViewRun
from windrow.errors import BindingError
from windrow.governor.measured_window import RateOf
from windrow.plan.catalog import Catalog, View
from windrow.plan.relations.planner import plan_view, tree_plan
from windrow.sql import parse_query
from windrow.sql.statements import QueryText

if TYPE_CHECKING:
    from windrow.plan.relations.tree_plan import RunnablePlan, TreePlan
else:
    TreePlan = deferred("windrow.plan.relations.tree_plan", "TreePlan")

__all__ = ["SessionViews", "name_taken"]

_TABLE = pa.schema(
    [
        ("view", pa.string()),
        ("text", pa.string()),
        ("readers", pa.list_(pa.string())),
        ("rows", pa.int64()),
        ("bytes", pa.int64()),
    ]
)


class SessionViews:
    """catalog: gives that of the session now. running: what runs, views before their readers."""

    def __init__(
        self,
        ingest: Ingest,
        catalog: Callable[[], Catalog],
        running: Callable[[], list[EmbeddedQuery]],
        rate_of: RateOf,
        tables: Tables,
    ) -> None:
        self._ingest, self._catalog = ingest, catalog
        self._running, self._rate_of, self._tables = running, rate_of, tables
        self.registry = ViewRegistry(self._plan_of, self._begin)
        self._admitted: tuple[ViewRun, ...] = ()
        self.plans: Mapping[str, TreePlan] = {}  # by which views begin, whatever would be planned

    def declared(self, name: str, text: str, queries: Iterable[str]) -> Catalog:
        """The catalog with one view more; its errors are told now, before anything reads it."""
        view = View(name, parse_query(text), text)
        if any(each.lower() == name.lower() for each in queries):
            raise name_taken(name, "query")
        catalog = self._catalog().with_view(view)
        plan_view(view, catalog)
        return catalog

    def runs(self) -> list[ViewRun]:
        """The views that run."""
        return self.registry.runs()

    def table(self) -> pa.Table:
        """How each view of the catalog stands; those that nobody reads hold nothing."""
        rows = [self._standing(view) for view in self._catalog().views]
        return pa.Table.from_pylist(rows, _TABLE)

    def _standing(self, view: View) -> dict[str, object]:
        named = {"view": view.name, "text": view.text}
        run = self.registry.get(view.name)
        if run is None or not run.is_running:
            return {**named, "readers": [], "rows": 0, "bytes": 0}
        readers = [query.name for query in self._running() if run in query.views]
        return {**named, "readers": readers, "rows": run.row_count, "bytes": run.nbytes}

    def runs_for(self, plan: RunnablePlan, clock: int) -> list[ViewRun]:
        """The views that a query reads from that clock on; those that lack begin."""
        if not isinstance(plan, TreePlan) or not plan.views:
            return []
        return list(self.registry.runs_for(plan.views, clock).values())

    def before(self, queries: Sequence[EmbeddedQuery]) -> list[EmbeddedQuery]:
        """The views that queries need, then the queries."""
        return self.registry.before(queries) if self.registry.running else list(queries)

    def admit(self) -> None:
        """Room for views that begin with a query is asked for before its own."""
        governing = self._ingest.governing
        for run in self.registry.runs():
            if run not in self._admitted:
                governing.admit(run, self._rate_of)
                governing.started(run, self._rate_of)
                self._admitted = (*self._admitted, run)

    def forget(self) -> None:
        """Views that nobody reads any more have ended."""
        self._running()
        running = self.registry.runs()
        for run in self._admitted:
            if run not in running:
                run.drop()
                self._ingest.governing.ended(run)
        self._admitted = tuple(run for run in self._admitted if run in running)

    def ask(self, query: QueryText, *, is_progressive: bool) -> pa.Table:
        """The answer to a question about now."""
        shares_views = not self._ingest.is_by_arrival
        plan = tree_plan(query, self._catalog(), shares_views=shares_views)
        check_question(plan, is_progressive=is_progressive)
        self._ingest.flush()
        clock = self._ingest.clock_for(plan)
        tables = {each.name: each for each in self._tables.read_by(plan)}
        views = running_views(plan, self.registry)
        kept = {name: stream.kept for name, stream in self._ingest.streams.items()}
        return answer_now(plan, self._running(), views, tables, clock, kept)

    def _plan_of(self, name: str) -> TreePlan:
        known = self.plans.get(name.lower())
        if known is not None:
            return known
        catalog = self._catalog()
        view = catalog.view(name)
        assert view is not None
        return plan_view(view, catalog)

    def _begin(self, name: str, inner: Mapping[str, ViewRun], clock: int) -> ViewRun:
        plan, ingest = self._plan_of(name), self._ingest
        clock = max(clock, ingest.clock_for(plan))
        beside = (ingest.flush, ingest.lock, ingest.pool, None, None)
        begins_full = keeps_for(ingest.streams, plan)
        tables = self._tables.read_by(plan)
        run = ViewRun(name, plan, clock, *beside, inner.values(), tables, begins_full=begins_full)
        if begins_full:
            fill(ingest.streams, run, clock)
        return run


def name_taken(name: str, kind: str) -> BindingError:
    """Queries and views of a session have different names."""
    return BindingError("WB104", f"a {kind} named {name!r} exists already", hint="choose another")
