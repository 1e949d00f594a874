"""Queries of a durable session: what was read of them, and that they were stopped, is written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import astuple
from typing import Any, Protocol

import pyarrow as pa

from windrow.durable.journal import Journal
from windrow.embedded.history_query import EmbeddedHistoryQuery
from windrow.embedded.query import EmbeddedQuery
from windrow.query import Query
from windrow.windows.lifetime import Lifetime

__all__ = ["DurableHistoryQuery", "DurableQuery", "Registry"]


class Registry(Protocol):
    """The session of a query, as far as the query knows it."""

    journal: Journal

    def note_read(self, query: str, what: str, limit: int | None) -> None:
        """Write that answers or changes were read."""

    def has(self, query: Query) -> bool:
        """Whether that is the query of its name: what is done to it is found again in a replay."""


class Written:
    """What is written of one query."""

    def __init__(self, registry: Registry) -> None:
        self.registry = registry
        self._kept: dict[str, pa.Table] = {}  # read, but in no record: the next reader has it

    @property
    def is_behind(self) -> bool:
        """Whether something was read that is in no record."""
        return bool(self._kept)

    def given(
        self, query: Query, what: str, limit: int | None, read: Callable[[], pa.Table]
    ) -> pa.Table:
        """What is read, once it is written that it was."""
        found = read()
        if not self._is_written(query):
            return found
        if what in self._kept:
            found = pa.concat_tables([self._kept.pop(what), found])
        if found.num_rows:
            self._kept[what] = found
            self.registry.note_read(query.name, what, limit)
            del self._kept[what]
        return found

    @contextmanager
    def stopping(self, query: Query, flush: Callable[[], None]) -> Iterator[None]:
        """The query is stopped within; rows that wait are its own."""
        if not self._is_written(query):
            yield
            return
        flush()
        with self.registry.journal.applying("stop", query=query.name):
            yield

    def _is_written(self, query: Query) -> bool:
        return self.registry.journal.writes and self.registry.has(query)


class DurableQuery(EmbeddedQuery):
    """A query of a durable session."""

    # What a select that is followed holds is known to its shard alone, and cannot be saved.
    _may_follow = False

    def __init__(self, registry: Registry, *given: Any, **named: Any) -> None:
        self.written = Written(registry)
        super().__init__(*given, **named)

    def _given(self, what: str, limit: int | None, read: Callable[[], pa.Table]) -> pa.Table:
        with self._lock:
            return self.written.given(self, what, limit, read)

    def stop(self) -> None:
        """End the query for good; what it has answered can still be read."""
        with self._lock, self.written.stopping(self, self._flush):
            super().stop()

    # ---- decisions of the governor, which a replay makes again

    def change_lifetime(self, input_index: int, lifetime: Lifetime) -> None:
        """Let rows go by another lifetime from the clock on."""
        self._decided("width", input_index, astuple(lifetime))
        super().change_lifetime(input_index, lifetime)

    def let_go(self, input_index: int, last_us: int) -> None:
        """Rows of an input up to this time leave now."""
        self._decided("let go", input_index, last_us)
        super().let_go(input_index, last_us)

    def shrink_unread(self, limit_bytes: int) -> None:
        """Drop unread output beyond this many bytes."""
        self._decided("shrink", limit_bytes)
        super().shrink_unread(limit_bytes)

    def _decided(self, what: str, *details: Any) -> None:
        self.written.registry.journal.decisions.note(what, self.name, *details)


class DurableHistoryQuery(EmbeddedHistoryQuery):
    """A question about the past of a durable session."""

    def __init__(self, registry: Registry, *given: Any, **named: Any) -> None:
        self.written = Written(registry)
        super().__init__(*given, **named)

    def _given(self, what: str, limit: int | None, read: Callable[[], pa.Table]) -> pa.Table:
        with self._lock:
            return self.written.given(self, what, limit, read)

    def stop(self) -> None:
        """End the query for good; what it has answered can still be read."""
        with self._lock, self.written.stopping(self, self._flush):
            super().stop()
