"""A job in this process for months: fed by its sources, read by its sinks, shown and watched."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from windrow.apps.console.embedded_runner import EmbeddedRunner
from windrow.apps.console.followed import FollowedQuery, ServedQuery
from windrow.apps.console.health import Health
from windrow.apps.console.registry import Registry
from windrow.apps.service.posted_rows import PostedRows
from windrow.apps.service.quiet_watcher import QuietWatcher
from windrow.apps.service.settings import ServiceSettings
from windrow.connectors.http.connector import HttpSource
from windrow.durable.job import durable_run
from windrow.durable.session import DurableSession
from windrow.embedded.feeding import Feeding
from windrow.embedded.job import JobRun, embedded_run
from windrow.embedded.side_by_side import check_source
from windrow.jobs.job import Job
from windrow.memory_size import memory_of

__all__ = ["Service"]

_LOGGER = logging.getLogger("windrow.service")


class Service(Health):
    """What a server shows and offers; start(), and once close(), from the thread that made it."""

    def __init__(self, job: Job, settings: ServiceSettings) -> None:
        self._stop_within_s = settings.stop_within_s
        self._feeding: Feeding | None = None
        self._is_closing = False
        memory = None if settings.memory is None else memory_of(settings.memory)
        if settings.state is None:
            self._run: JobRun = embedded_run(job, QuietWatcher(), memory)
        else:
            self._run = durable_run(job, QuietWatcher(), settings.state, memory)
        self._session, self._sources = self._run.session, job.sources()
        try:
            self._run.register()
            runner, title = EmbeddedRunner(self._session), settings.script.name
            self.registry = Registry(runner, title, is_read_only=settings.read_only)
            self._follow()
        except BaseException:
            self._session.stop()
            raise
        self.inboxes = {
            name: PostedRows(schema, source)
            for name, (schema, source) in self._sources.items()
            if isinstance(source, HttpSource)
        }
        for name in job.questions:
            _LOGGER.warning("%s has no EVERY: it is not asked, as a service has no end", name)

    def _follow(self) -> None:
        """Shows what sinks are given; and queries that were added over HTTP before a restart."""
        for outlet in self._run.outlets:
            served = ServedQuery(outlet.running, outlet.query.text)
            outlet.observer = served.take
            outlet.drain()
            self.registry.take_in(served)
        known = {outlet.query.name for outlet in self._run.outlets}
        if isinstance(self._session, DurableSession):
            for query in self._session.running_queries():
                if query.name not in known:
                    text = self._session.told_of(query)["text"]
                    self.registry.take_in(FollowedQuery(query, text))

    def start(self, when_over: Callable[[], None]) -> None:
        """Rows come from now on; when_over: is called when it cannot go on."""
        for name, (_, source) in self._sources.items():
            check_source(name, source)
        self._run.before_following()
        sources = {name: source for name, (_, source) in self._sources.items()}
        self._feeding = self._session.feeding(sources, self._drain, self.registry.note_problem)
        self._feeding.start()
        threading.Thread(target=self._watch, args=(self._feeding, when_over), daemon=True).start()

    def _drain(self) -> None:
        # Those who read other queries meanwhile would be noted as having read for this sink.
        with self._session.lock:
            self._run.drain()

    def _watch(self, feeding: Feeding, when_over: Callable[[], None]) -> None:
        feeding.wait(None)
        if feeding.failure is not None:
            _LOGGER.error("the service ends: %s", feeding.failure)
            when_over()
        elif not self._is_closing:
            _LOGGER.info("all sources have been read to their end")
            self.registry.note_end()

    def close(self) -> None:
        """No more rows come: those that were read are applied, and sinks have all answers."""
        self._is_closing = True
        try:
            if self._feeding is not None:
                self._session.stop_sources(within=self._stop_within_s)
                if self._feeding.failure is None:
                    self._drain()
        finally:
            self._run.close()
            self._session.stop()
        _LOGGER.info("closed")

    def raise_failure(self) -> None:
        """What has ended it, if anything has but who runs it."""
        if self._feeding is not None and self._feeding.failure is not None:
            raise self._feeding.failure

    # ---- health

    def faults(self) -> list[str]:
        """What has ended the work while the process is still there."""
        feeding = self._feeding
        if feeding is None or feeding.failure is None:
            return []
        return [f"the work has ended: {type(feeding.failure).__name__}"]

    def waits(self) -> list[str]:
        """It begins or ends, or a source has failed for good."""
        if self._is_closing:
            return ["it is ending"]
        if self._feeding is None:
            return ["it is starting"]
        standings = {feed.name: feed.standing.state for feed in self._feeding.loop.feeds}
        return [
            f"the source of stream {name} {words}"
            for name, state in standings.items()
            for words in [_NOT_READY.get(state)]
            if words is not None
        ]


_NOT_READY = {"starting": "is starting", "failed": "has failed"}
