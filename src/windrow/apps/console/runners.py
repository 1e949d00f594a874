"""What the console asks of a session, in this process or on Spark."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any, Protocol

import pyarrow as pa

from windrow.windows.lifetime import Lifetime

__all__ = ["QueryHandle", "Runner"]


class QueryHandle(Protocol):
    """A query of any session; answers() and changes() give what is new since the last call."""

    name: str
    plan: Any

    @property
    def is_running(self) -> bool:
        """Whether it still answers."""

    def answers(self) -> pa.Table:
        """New answers."""

    def changes(self, limit: int | None = None) -> pa.Table:
        """New changes."""

    def result(self) -> pa.Table:
        """The answer now."""

    def explain(self) -> str:
        """The plan."""

    def stop(self) -> None:
        """Ends it."""


class Runner(Protocol):
    """A session with what differs between the two kinds."""

    kind: str
    session: Any
    lock: threading.RLock

    def add(self, text: str, name: str | None, algorithm: str, store: str) -> QueryHandle:
        """Registers a query and sets it to work."""

    def add_all(self, texts: Mapping[str, str]) -> list[QueryHandle]:
        """Registers queries by name and sets them to work, together where that is cheaper."""

    def lifetime(self, query: QueryHandle, position: int) -> Lifetime | None:
        """How long rows of an input stay now; None where they leave for other reasons."""

    def standing(self, query: QueryHandle) -> Mapping[str, Any]:
        """Its clock_us, bytes and algorithm."""

    def failure(self, query: QueryHandle) -> Exception | None:
        """What a query that has ended failed with, if it did."""

    def batches(self) -> list[dict[str, Any]]:
        """The latest batches; none in this process."""

    def operations(self) -> list[dict[str, Any]]:
        """How queries and histories are getting on, on Spark; none in this process."""

    def views(self) -> list[dict[str, Any]]:
        """The views that were declared, with what those that are read hold; none on Spark."""

    @property
    def nbytes(self) -> int:
        """Bytes of all windows."""
