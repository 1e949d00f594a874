"""Questions that are answered once, asked the same way in one process and on Spark."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal, overload

import pyarrow as pa

from windrow.dataframes import Frame, converter

if TYPE_CHECKING:
    import duckdb
    import pandas as pd
    import polars as pl

__all__ = ["Asking"]


class Asking(ABC):
    """What answers session.ask()."""

    @overload
    def ask(self, text: str, progressive: Literal[False] = False, to: None = None) -> pa.Table: ...
    @overload
    def ask(
        self, text: str, progressive: Literal[False] = False, *, to: Literal["pandas"]
    ) -> pd.DataFrame: ...
    @overload
    def ask(
        self, text: str, progressive: Literal[False] = False, *, to: Literal["polars"]
    ) -> pl.DataFrame: ...
    @overload
    def ask(
        self, text: str, progressive: Literal[False] = False, *, to: Literal["duckdb"]
    ) -> duckdb.DuckDBPyRelation: ...
    @overload
    def ask(self, text: str, progressive: Literal[True]) -> Iterator[pa.Table]: ...
    @overload
    def ask(self, text: str, progressive: bool, to: Frame | None = None) -> Any: ...
    def ask(self, text: str, progressive: bool = False, to: Frame | None = None) -> Any:
        """The answer about the past: the select list, bounds of its aggregates, what is exact.

        Without HISTORY, in process, it is the answer now: from views that run, and from rows that
        windows of running queries hold.

        progressive: answers one after the other, from coarse levels first; bounds only tighten.
        to: "pandas", "polars" or "duckdb" for data frames. It knows all rows that are there when it
        is asked; in process, those that have been pushed.

        >>> import windrow
        >>> session = windrow.connect()
        >>> session.stream("s", "ts timestamp, x int", time="ts")
        >>> session.history("s", measures=["x"], levels=[("1 second", "forever")])
        >>> session.push("s", {"ts": ["2026-01-01", "2026-01-02"], "x": [1, 2]})
        >>> session.finish()
        >>> question = "SELECT SUM(x) AS x FROM HISTORY(s) [FROM '2026-01-01' TO NOW]"
        >>> session.ask(question)["x"].to_pylist()
        [3]
        >>> session.ask("SELECT 1 + 1 AS x")["x"].to_pylist()
        [2]
        """
        given = converter(to)
        answer = self._ask(text, progressive)
        return map(given, answer) if progressive else given(answer)

    @abstractmethod
    def _ask(self, text: str, progressive: bool) -> pa.Table | Iterator[pa.Table]: ...
