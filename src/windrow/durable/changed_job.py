"""A job that goes on with another script: what has not changed keeps its state.

Queries that the script no longer has end. A changed query takes over the rows of its
windows where these agree; where they do not, and where a view that it reads has changed, it begins
anew, and a warning says so.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from windrow.durable.asked import printed
from windrow.durable.session import DurableSession
from windrow.embedded.query import EmbeddedQuery
from windrow.errors import BindingError, CheckpointError, UnsupportedError, WindrowWarning
from windrow.jobs.job import Job, JobQuery

if TYPE_CHECKING:
    from windrow.embedded.history_query import EmbeddedHistoryQuery

__all__ = ["ChangedJob"]


class ChangedJob:
    """The difference between a job and the session that it goes on in."""

    def __init__(self, session: DurableSession, job: Job) -> None:
        self._session, self._job = session, job
        self._others: dict[str, str] = {}  # of no script, and to begin anew

    def let_go(self) -> None:
        """End what the script no longer has; what others have registered goes on."""
        session, job = self._session, self._job
        for name in session.job_progress.written:
            if name not in job.queries and session.has_named(name):
                session[name].stop()
        texts = {view.name: view.text for view in job.views.values()}
        for name, text in session.declared_views().items():
            if name in texts and printed(texts[name]) != printed(text):
                self._drop(name)

    def _drop(self, view: str) -> None:
        for reader in self._session.readers_of(view):
            why = f"view {view!r}, which it reads, has changed"
            self._tell_of(reader.name, why)
            if reader.name not in self._job.queries:
                self._others[reader.name] = self._session.told_of(reader)["text"]
            reader.stop()
        self._session.drop_view(view)

    def begin_others(self) -> None:
        """Queries of no script read the views that there are now."""
        for name, text in self._others.items():
            self._session.query(text, name)

    def begun(self, query: JobQuery) -> EmbeddedQuery | EmbeddedHistoryQuery:
        """The query of the script, from where one of its name stood, if it can go on there."""
        session = self._session
        if session.has_changed(query.name, query.text):
            try:
                return session.replace(query.name, query.text, begin_anew=True)
            except (BindingError, CheckpointError, UnsupportedError) as problem:
                session.journal.check()  # not one that has ended the session
                self._tell_of(query.name, problem.message)
                session[query.name].stop()
        elif not session.has_named(query.name):
            query.check_begins()
        return session.query(query.text, query.name)

    def _tell_of(self, query: str, why: str) -> None:
        warnings.warn(f"query {query!r} begins anew: {why}", WindrowWarning, stacklevel=2)
