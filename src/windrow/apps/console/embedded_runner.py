"""A session in this process, as the console sees it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from windrow.apps.console.runners import QueryHandle
from windrow.embedded.history_query import EmbeddedHistoryQuery
from windrow.embedded.query import EmbeddedQuery
from windrow.embedded.session import EmbeddedSession
from windrow.windows.lifetime import Lifetime

__all__ = ["EmbeddedRunner"]


class EmbeddedRunner:
    """All threads take the session's own lock, which those that push take, too."""

    kind = "embedded"

    def __init__(self, session: EmbeddedSession) -> None:
        self.session = session
        self.lock = session.lock

    def add(self, text: str, name: str | None, algorithm: str, store: str) -> QueryHandle:
        """Registers a query, which runs at once."""
        query: QueryHandle = self.session.query(text, name, algorithm, store)
        return query

    def add_all(self, texts: Mapping[str, str]) -> list[QueryHandle]:
        """Registers queries by name."""
        return [self.add(text, name, "auto", "auto") for name, text in texts.items()]

    def lifetime(self, query: QueryHandle, position: int) -> Lifetime | None:
        """How long rows of an input stay now."""
        if not isinstance(query, EmbeddedQuery) or not query.is_running:
            return None
        has_width = query.plan.inputs[position].window.traits.has_width
        return query.lifetime(position) if has_width else None

    def standing(self, query: QueryHandle) -> Mapping[str, Any]:
        """Its clock, bytes and algorithm."""
        assert isinstance(query, (EmbeddedQuery, EmbeddedHistoryQuery))
        if isinstance(query, EmbeddedHistoryQuery):
            return {"clock_us": query.clock, "bytes": 0, "algorithm": "history"}
        held = query.nbytes if query.is_running else 0
        return {"clock_us": query.clock, "bytes": held, "algorithm": query.algorithm}

    def failure(self, query: QueryHandle) -> Exception | None:  # noqa: ARG002 - as on Spark
        """None: what a query fails with is raised where rows are pushed."""
        return None

    def batches(self) -> list[dict[str, Any]]:
        """None: there are no batches in this process."""
        return []

    def operations(self) -> list[dict[str, Any]]:
        """None: there are no batches in this process."""
        return []

    def views(self) -> list[dict[str, Any]]:
        """The views that were declared, with what those that are read hold."""
        rows: list[dict[str, Any]] = self.session.views().to_pylist()
        return [{"name": row.pop("view"), **row} for row in rows]

    @property
    def nbytes(self) -> int:
        """Bytes of all windows and histories."""
        return self.session.nbytes
