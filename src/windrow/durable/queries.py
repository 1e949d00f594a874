"""Queries of a durable session: what was read of them, and that they were stopped, is written."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Protocol

import pyarrow as pa

from windrow.dataframes import Frame, converter
from windrow.durable.journal import Journal
from windrow.embedded.history_query import EmbeddedHistoryQuery
from windrow.embedded.query import EmbeddedQuery
from windrow.query import Query

__all__ = ["DurableHistoryQuery", "DurableQuery", "Registry"]


class Registry(Protocol):
    """The session of a query, as far as the query knows it."""

    journal: Journal

    def note_read(self, query: str, what: str, limit: int | None) -> None:
        """Write that answers or changes were read."""

    def has(self, query: Query) -> bool:
        """Whether that is the query of its name: what is done to it is found again in a replay."""


class _Written:
    """What both kinds of queries do about what is read of them."""

    name: str
    registry: Registry | None = None  # once it is registered
    _lock: threading.RLock
    _kept: dict[str, pa.Table]  # read, but in no record: the next reader has it

    def answers(self, to: Frame | None = None) -> Any:
        given = converter(to)
        with self._lock:
            return given(self._read("answers", None, super().answers))  # type: ignore[misc]

    def changes(self, limit: int | None = None, to: Frame | None = None) -> Any:
        given = converter(to)
        with self._lock:
            read = super().changes  # type: ignore[misc]
            return given(self._read("changes", limit, lambda: read(limit)))

    def stop(self) -> None:
        registry = self.registry
        with self._lock:
            if registry is None or not registry.journal.writes or not registry.has(self):  # type: ignore[arg-type]
                super().stop()  # type: ignore[misc]
                return
            self._flush()  # type: ignore[attr-defined]
            with registry.journal.applying("stop", query=self.name):
                super().stop()  # type: ignore[misc]

    def _read(self, what: str, limit: int | None, read: Callable[[], pa.Table]) -> pa.Table:
        """What is read, once it is written that it was."""
        found = read()
        registry = self.registry
        if registry is None or not registry.journal.writes or not registry.has(self):  # type: ignore[arg-type]
            return found
        kept = self.__dict__.setdefault("_kept", {})
        if what in kept:
            found = pa.concat_tables([kept.pop(what), found])
        if found.num_rows:
            kept[what] = found
            registry.note_read(self.name, what, limit)
            del kept[what]
        return found


class DurableQuery(_Written, EmbeddedQuery):
    """A query of a durable session."""

    # What a select that is followed holds is known to its shard alone, and cannot be saved.
    _may_follow = False


class DurableHistoryQuery(_Written, EmbeddedHistoryQuery):
    """A question about the past of a durable session."""


for _kind in (DurableQuery, DurableHistoryQuery):
    for _name in ("answers", "changes", "stop"):
        getattr(_Written, _name).__doc__ = getattr(Query, _name).__doc__
