"""The views of a session that run: those that a running query reads, each once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from windrow.embedded.query import EmbeddedQuery
from windrow.embedded.query_parts import QueryStep
from windrow.embedded.query_run import QueryRun
from windrow.embedded.view_run import ViewRun
from windrow.event_time import END_OF_TIME, START_OF_TIME

if TYPE_CHECKING:
    from windrow.plan.relations.tree_plan import RunnablePlan, TreePlan

__all__ = ["ViewRegistry", "clocks_of", "trim_views"]

# Begins the run of a view: its name, the views that it reads, and the clock of who asks for it.
Begin = Callable[[str, Mapping[str, ViewRun], int], ViewRun]


class ViewRegistry:
    """Runs of views, those that others read before them.

    plan_of: the plan of a view. begin: begins its run. running: by name in lower case.
    """

    def __init__(self, plan_of: Callable[[str], TreePlan], begin: Begin) -> None:
        self._plan_of, self._begin = plan_of, begin
        self.running: dict[str, ViewRun] = {}

    def get(self, name: str) -> ViewRun | None:
        """The run of a view, if it runs."""
        return self.running.get(name.lower())

    def runs(self) -> list[ViewRun]:
        """Those that run."""
        return list(self.running.values())

    def runs_for(self, names: Sequence[str], clock: int) -> dict[str, ViewRun]:
        """The runs of views for who reads them from that clock on; those that lack begin."""
        return {name: self._run_of(name, clock) for name in names}

    def _run_of(self, name: str, clock: int) -> ViewRun:
        known = self.get(name)
        if known is None or not known.is_running:
            inner = self.runs_for(self._plan_of(name).views, clock)
            self.running.pop(name.lower(), None)
            known = self.running[name.lower()] = self._begin(name, inner, clock)
            return known
        self.runs_for([view.name for view in known.views], clock)
        if known.clock < clock:
            # All its streams have ended, and a reader has others whose last row is later.
            known.apply(QueryStep(0, clock))
        return known

    def before(self, queries: Sequence[EmbeddedQuery]) -> list[EmbeddedQuery]:
        """The runs that queries need, in an order in which they can be run, then the queries.

        Others are forgotten: they would miss the rows that come.
        """
        needed = {id(view) for query in queries for view in query.views}
        runs: dict[str, ViewRun] = {}
        for name, run in reversed(self.running.items()):
            if id(run) in needed:
                needed |= {id(view) for view in run.views}
                runs[name] = run
        if len(runs) < len(self.running):
            self.running = dict(reversed(runs.items()))
        return [*self.running.values(), *queries]


def clocks_of(
    queries: Sequence[EmbeddedQuery],
    clock_for: Callable[[RunnablePlan, Sequence[RunnablePlan]], int],
) -> dict[int, int]:
    """How far each query goes, by its id; a view as far as the farthest that reads it.

    Only where all streams have ended is that farther than its own streams say: until the last
    window closes, of the query itself or of a view that it reads.
    """
    clocks: dict[int, int] = {}
    for query in reversed(queries):
        own = clock_for(query.plan, _plans_of(query)[1:])
        clock = max(own, clocks.get(id(query), START_OF_TIME))
        clocks[id(query)] = clock
        for view in query.views:
            clocks[id(view)] = max(clock, clocks.get(id(view), START_OF_TIME))
    return clocks


def _plans_of(query: QueryRun) -> list[RunnablePlan]:
    """Its plan, and those of the views that it reads, directly or not."""
    return [query.plan, *(plan for view in query.views for plan in _plans_of(view))]


def trim_views(queries: Sequence[EmbeddedQuery]) -> None:
    """Drop from the logs of views what all queries have read for good."""
    read: dict[int, int] = {}
    views: dict[int, ViewRun] = {}
    for query in queries:
        if not query.reading.is_running:
            continue
        for view, until in query.read_until():
            views[id(view)] = view
            read[id(view)] = min(until, read.get(id(view), END_OF_TIME))
    for number, view in views.items():
        view.log.trim(read[number])
