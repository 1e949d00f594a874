"""What the session in this process and the one on Spark have in common, for those who type."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal, Protocol, overload

import pyarrow as pa

from windrow.connectors.contract import Source
from windrow.deferred import deferred
from windrow.query import Query

if TYPE_CHECKING:
    from windrow.metrics_server import MetricsServer
    from windrow.plan.history_schema import LevelSpans
else:
    MetricsServer = deferred("windrow.metrics_server", "MetricsServer")

__all__ = ["Session"]


class Session(Protocol):
    """A session, wherever it runs; what it gives is the same.

    >>> import windrow
    >>> def hot(session: windrow.Session) -> windrow.Query:
    ...     return session.query("SELECT COUNT(*) AS n FROM temp [1 MINUTE] WHERE celsius > 40")
    >>> session = windrow.connect()
    >>> session.stream("temp", "ts timestamp, celsius double", time="ts")
    >>> hot(session).is_running
    True
    """

    @property
    def memory(self) -> int:
        """The budget in bytes."""

    def stream(
        self,
        name: str,
        schema: Mapping[str, str] | str | pa.Schema,
        *,
        time: str,
        lateness: str | int | float = 0,
        source: Source | None = None,
        on_bad_row: str = "auto",
        max_ahead: str | int | float | timedelta | None = "auto",
        unit: str | None = None,
        idle_after: str | int | float | timedelta | None = None,
        keep: str | int | float | timedelta | None = None,
        unknown_fields: str = "auto",
    ) -> None:
        """Declares a stream: its columns, its time column, how late rows may come."""

    def table(
        self,
        name: str,
        schema: Mapping[str, str] | str | pa.Schema,
        *,
        key: str | Iterable[str],
        time: str | None = None,
    ) -> None:
        """Declares a table: its columns, and the key that tells its rows apart."""

    def upsert(self, table: str, rows: Any) -> None:
        """Inserts or updates rows of a table."""

    def delete(self, table: str, keys: Any) -> None:
        """Deletes rows of a table by their keys."""

    def view(self, name: str, text: str) -> None:
        """Gives a query a name under which other queries can read it."""

    def function(
        self,
        name: str,
        function: Callable[..., Any],
        *,
        returns: str,
        takes: str | Sequence[str] | None = None,
        vectorised: bool = False,
        deterministic: bool = True,
    ) -> None:
        """Gives a function of Python a name under which queries can call it."""

    def query(
        self, text: str, name: str | None = None, algorithm: str = "auto", store: str = "auto"
    ) -> Query:
        """Registers a continuous query."""

    def advance(self, stream: str, *, to: int | str | datetime) -> None:
        """Event time of the stream moves on without rows."""

    def finish(self) -> None:
        """Ends all streams."""

    def windows(self) -> pa.Table:
        """One row per window."""

    def queries(self) -> pa.Table:
        """One row per window that each query reads."""

    def decisions(self) -> pa.Table:
        """What the governor has decided lately."""

    def late(self, stream: str) -> pa.Table:
        """Late rows of a stream."""

    def bad_rows(self, stream: str) -> pa.Table:
        """Rows of a stream that were set aside because of a value."""

    def ledger(self) -> pa.Table:
        """What became of the rows of each stream."""

    def history(
        self,
        stream: str,
        *,
        measures: Iterable[str] = (),
        by: Iterable[str] = (),
        levels: LevelSpans,
        quantiles: Iterable[str] = (),
        distincts: Iterable[str] = (),
        split_above: int | None = None,
        archive: str | os.PathLike[str] | None = None,
    ) -> None:
        """Keeps the past of a stream."""

    @overload
    def ask(self, text: str, progressive: Literal[False] = False) -> pa.Table: ...
    @overload
    def ask(self, text: str, progressive: Literal[True]) -> Iterator[pa.Table]: ...
    def ask(self, text: str, progressive: bool = False) -> Any:
        """The answer about the past."""

    def histories(self) -> pa.Table:
        """One row per history."""

    def metrics(self) -> str:
        """How the session stands, as Prometheus reads it."""

    def serve_metrics(self, port: int = 0, host: str = "127.0.0.1") -> MetricsServer:
        """Answers GET /metrics until the session is stopped."""

    def stop(self) -> None:
        """Ends all queries."""
