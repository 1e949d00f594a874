"""What a durable session knows of the job that runs in it: how far it has come."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager

from windrow.durable.ingest import DurableIngest
from windrow.durable.journal import Journal
from windrow.durable.progress import Progress
from windrow.embedded.one_at_a_time import one_at_a_time
from windrow.embedded.session import EmbeddedSession
from windrow.rows.file_rows import FileRows

__all__ = ["JobSession"]


class JobSession(EmbeddedSession):
    """A session whose log has what a job has read, and what its sinks have."""

    journal: Journal
    _ingest: DurableIngest
    _reads: list[tuple[str, int | None]] | None = None  # not written yet

    @property
    def job_progress(self) -> Progress:
        """How far a job has come that runs in it."""
        return self._ingest.progress

    @one_at_a_time
    def push_read(self, stream: str, rows: FileRows) -> None:
        """Rows of a file of a job, and that they were read."""
        self.journal.check()
        into = self._ingest.streams[self._ingest.open_stream(stream).schema.name]
        self._ingest.take_read(into, rows)

    @property
    def has_finished(self) -> bool:
        """Whether all its streams have ended."""
        return self._ingest.have_ended([*self._ingest.streams])

    @contextmanager
    def giving_piece(self, number: int) -> Iterator[None]:
        """What changes a table within is the piece of that number of its source."""
        self._ingest.piece = number
        try:
            yield
        finally:
            self._ingest.piece = 0

    def note_tables(self) -> None:
        """The tables of a job were read."""
        self.journal.note("tables read")
        self.job_progress.has_read_tables = True

    @one_at_a_time
    def state_name(self) -> str:
        """By which sinks know this state: it is on the disk before the first of them does."""
        if not self.job_progress.state_name:
            name = uuid.uuid4().hex
            self.journal.note("state name", name=name)
            self.job_progress.state_name = name
            self.journal.sync()
        return self.job_progress.state_name

    @contextmanager
    def reading_later(self) -> Iterator[None]:
        """What is read within is noted as read when note_written() says that it was written."""
        self._reads = []
        try:
            yield
        finally:
            self._reads = None

    def note_written(self, query: str, batches: int) -> None:
        """The sink of a query has so many batches, and what was read meanwhile."""
        reads = self._reads or []
        if reads or self.job_progress.written.get(query) != batches:
            self.journal.note("written", query=query, batches=batches, reads=reads)
            self.job_progress.written[query] = batches
        if self._reads is not None:
            self._reads = []

    def note_read(self, query: str, what: str, limit: int | None) -> None:
        """Answers or changes of a query were read."""
        if self._reads is None:
            self.journal.note("read", query=query, what=what, limit=limit)
        else:
            self._reads.append((what, limit))
