"""A script in this process, watched: its files are played, and then it stays up for looking."""

from __future__ import annotations

from windrow.apps.console.embedded_runner import EmbeddedRunner
from windrow.apps.console.paced_files import pieces_at_once, pieces_by_time
from windrow.apps.console.registry import Registry
from windrow.embedded.job import (
    declare_functions,
    declare_stream,
    declare_tables,
    declare_views,
)
from windrow.embedded.session import EmbeddedSession
from windrow.jobs.job import Job
from windrow.jobs.player import Player
from windrow.memory_size import DEFAULT_MEMORY

__all__ = ["EmbeddedJob"]

# Rows are pushed this many times a second when they are replayed at a pace.
STEPS_PER_SECOND = 10


class EmbeddedJob:
    """A registry with the job's session in it; start() lets its rows come.

    What sinks the script names is not written: the console shows, `windrow run` writes.
    """

    def __init__(
        self,
        job: Job,
        title: str,
        *,
        pace: float | None = None,
        memory: str | None = None,
        read_only: bool = False,
    ) -> None:
        budget = memory or job.settings.memory or DEFAULT_MEMORY
        clock = job.settings.clock or "complete"
        session = EmbeddedSession(budget, clock, job.settings.time_zone)
        sources = job.sources()
        pieces = pieces_at_once(sources)
        if pace:
            pieces = pieces_by_time(sources, max(1, round(pace * 1e6 / STEPS_PER_SECOND)))
        declare_functions(session, job)
        for schema, _ in sources.values():
            declare_stream(session, schema)
        declare_tables(session, job.tables.values())
        declare_views(session, job, sources)
        for name, history in job.histories.items():
            if name in sources:
                session.history(name, **history.schema.declared())
        self.registry = Registry(EmbeddedRunner(session), title, is_read_only=read_only)
        self.registry.follow_all({query.name: query.text for query in job.queries.values()})
        self._session = session
        note = self.registry.note_problem
        self._player = Player(pieces, session.push, self._finish, note, pace)

    def start(self) -> None:
        """Rows come."""
        self._player.start()

    def close(self) -> None:
        """No more rows come, and all queries end."""
        self._player.stop()
        with self._session.lock:
            self._session.stop()

    def _finish(self) -> None:
        self._session.finish()
        self.registry.note_end()
