"""Runs a job in this process whose state is kept: begun again, it goes on where it was.

A batch of rows and how far the files are read by it are one record. What a query has said is noted
as read once its sink has it: a run that ends in between gives the sink the same batch again, under
the same number.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from windrow.clocks import COMPLETE
from windrow.durable.changed_job import ChangedJob
from windrow.durable.errors import files_have_changed, read_otherwise
from windrow.durable.opening import open_session
from windrow.durable.session import DurableSession
from windrow.embedded.job import JobRun, declare_tables
from windrow.embedded.outlet import Running
from windrow.embedded.session import EmbeddedSession
from windrow.embedded.side_by_side import SideBySide
from windrow.embedded.table_sources import ChangelogLines, give_changes
from windrow.interruption import Interruption
from windrow.jobs.job import Job, JobQuery
from windrow.jobs.watcher import JobWatcher
from windrow.memory_size import DEFAULT_MEMORY
from windrow.rows.file_rows import FileRows

__all__ = ["durable_run", "run_durable"]


def run_durable(job: Job, watcher: JobWatcher, path: str | os.PathLike[str]) -> None:
    """Runs the job; what it has read and answered is in that folder."""
    run = durable_run(job, watcher, path)
    try:
        run.run()
    finally:
        run.session.stop()


def durable_run(
    job: Job, watcher: JobWatcher, path: str | os.PathLike[str], memory: int | None = None
) -> JobRun:
    """A run of the job in the session whose state is there; memory: instead of the script's."""
    settings = job.settings
    budget = memory or settings.memory or DEFAULT_MEMORY
    said = (budget, settings.clock or COMPLETE, settings.time_zone)
    return _DurableJobRun(open_session(path, *said, "text", "interval"), job, watcher)


class _DurableJobRun(JobRun):
    """One run of a job, from where the one before it has come."""

    session: DurableSession

    def __init__(self, session: DurableSession, job: Job, watcher: JobWatcher) -> None:
        super().__init__(session, job, watcher)
        self.changed = ChangedJob(session, job)

    def _declare_tables(self) -> None:
        """They are read once: what they were then is in the state."""
        if self.session.job_progress.has_read_tables:
            for table in self.job.tables.values():
                self.session.declare_table(table.schema)
        else:
            declare_tables(self.session, self.job.tables.values(), self._give)
            self.session.note_tables()

    def _give(
        self, session: EmbeddedSession, table: str, pieces: Iterable[FileRows | ChangelogLines]
    ) -> None:
        """What the run before has given is not given again."""
        given = self.session.job_progress.pieces.get(table, 0)
        for number, piece in enumerate(pieces, 1):
            if number > given:
                with self.session.giving_piece(number):
                    give_changes(session, table, piece)

    def _declare_views(self, streams: Iterable[str]) -> None:
        """Those of the script; queries that it no longer has, or that read others, have ended."""
        self.changed.let_go()
        super()._declare_views(streams)
        self.changed.begin_others()

    def _begun(self, query: JobQuery) -> Running:
        return self.changed.begun(query)

    def _read(self, files: SideBySide, interruption: Interruption) -> None:
        progress = self.session.job_progress
        # A snapshot of an earlier version knows no streams: batches came in the order of time.
        counted = progress.batches - sum(progress.read.values())
        are_there = all(files.next_batch() is not None for _ in range(counted))
        if not are_there or not files.skip(progress.read):
            raise files_have_changed(self.session.path)
        for outlet in self.outlets:
            outlet.drain()  # what the run before has not, under the number that it had then
        super()._read(files, interruption)

    def before_following(self) -> None:
        """What the run before has answered and not written, under the number that it had then."""
        if self.session.job_progress.batches:
            raise read_otherwise(self.session.path)
        for outlet in self.outlets:
            outlet.drain()

    def _push(self, stream: str, rows: FileRows) -> None:
        self.session.push_read(stream, rows)

    def _finish(self) -> None:
        if not self.session.has_finished:
            super()._finish()
