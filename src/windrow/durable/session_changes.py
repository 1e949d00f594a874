"""Changes of what runs in a durable session: queries that take over from others, views that go."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from windrow.durable.asked import Asked, printed
from windrow.durable.session_jobs import JobSession
from windrow.embedded.one_at_a_time import one_at_a_time
from windrow.embedded.query import EmbeddedQuery
from windrow.plan.relations.planner import plan_view

__all__ = ["ChangingSession"]


class ChangingSession(JobSession):
    """A session in which others can be declared and registered than the run before had."""

    declared: list[dict[str, Any]]  # as records have it, in order
    _asked: dict[str, Asked]
    _handed_out: set[str]
    _has_dropped = False  # whether a view was dropped: others that read it wait for another

    @one_at_a_time
    def replace(self, name: str, text: str, *, begin_anew: bool = False) -> EmbeddedQuery:
        """Change a query: the new one takes over the rows of its windows, the old one ends.

        With begin_anew it begins with empty windows where these do not agree.
        """
        self.journal.check()
        self.plan_of(text)  # raises before anything is written
        self._flush()
        with self.journal.applying("replace", query=name, text=text, anew=begin_anew):
            made = self.replaced(name, text, begin_anew=begin_anew)
        self._handed_out.add(name)
        return made

    def replaced(self, name: str, text: str, *, begin_anew: bool) -> EmbeddedQuery:
        """The same, of a log."""
        made = super().replace(name, text, begin_anew=begin_anew)
        self._asked[name] = replace(self._asked[name], text=text, printed=printed(text))
        return made

    def has_changed(self, name: str, text: str) -> bool:
        """Whether a query of that name runs that has another text."""
        running = self._queries_by_name()
        return name in running and self._asked[name].printed != printed(text)

    def has_named(self, name: str) -> bool:
        """Whether a query runs that somebody has given that name."""
        return name in self._queries_by_name() and self._asked[name].has_name

    def declared_views(self) -> dict[str, str]:
        """The texts of all views, those first that read others."""
        return {view.name: view.text for view in reversed(self._catalog.views)}

    def readers_of(self, view: str) -> list[EmbeddedQuery]:
        """The running queries that read a view, themselves or in other views."""
        return [each for each in self._queries.values() if _reads(each, view)]

    def drop_view(self, name: str) -> None:
        """Declare a view no longer; no query reads it."""
        self._flush()
        with self.journal.applying("drop view", name=name):
            self.dropped_view(name)

    def dropped_view(self, name: str) -> None:
        """The same, of a log."""
        self._catalog = self._catalog.without_view(name)
        self.declared[:] = [each for each in self.declared if not _is_view(each, name)]
        self._has_dropped = True

    def _note_declared(self, told: dict[str, Any]) -> None:
        """Keep what was declared in an order in which all of it can be declared again."""
        self.declared.append(told)
        if self._has_dropped and told["kind"] == "view":
            views = [each for each in self.declared if each["kind"] == "view"]
            late = [each for each in views if self._reads_view(each["name"], told["name"])]
            self.declared[:] = [each for each in self.declared if each not in late] + late

    def _reads_view(self, name: str, other: str) -> bool:
        """Whether a view reads another one, itself or in others."""
        view = self._catalog.view(name)
        if view is None:
            return False
        with self._knowing_functions():
            read: tuple[str, ...] = plan_view(view, self._catalog).views
        return any(each == other or self._reads_view(each, other) for each in read)


def _is_view(told: dict[str, Any], name: str) -> bool:
    return bool(told["kind"] == "view" and told["name"] == name)


def _reads(query: EmbeddedQuery, view: str) -> bool:
    return any(each.name == view or _reads(each, view) for each in query.views)
