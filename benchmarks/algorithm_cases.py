"""The queries of the algorithms' benchmark: one text for WQL and DuckDB, and the same in Polars."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import duckdb
import polars as pl
from algorithm_data import StreamData
from algorithm_loops import Answer

__all__ = ["CASES", "Case", "DuckDbWindows", "polars_answer"]

STREAMS = "ABC"
Lazy = pl.LazyFrame


@dataclass(frozen=True)
class Case:
    """A query; {A}, {B} and {C} in its text are windows."""

    name: str
    text: str
    in_polars: Callable[[Lazy, Lazy, Lazy], Lazy]
    streams: int = 2
    is_grouped: bool = False  # the first column is then the group
    needs_pairs: bool = False

    def wql(self, window_s: int) -> str:
        """The query for Windrow."""
        return self._filled(lambda name: f"{name} [{window_s} SECONDS]")

    def sql(self, low_ms: int, high_ms: int) -> str:
        """The query for DuckDB, over the rows that the windows hold."""
        return self._filled(
            lambda name: f"(FROM {name} WHERE ms BETWEEN {low_ms} AND {high_ms}) AS {name}"
        )

    def _filled(self, window: Callable[[str], str]) -> str:
        return re.sub(r"\{(\w)\}", lambda match: window(match[1]), self.text)

    def answer_of(self, rows: list[tuple[Any, ...]]) -> Answer:
        """Rows of a result as the loops give them."""
        if self.is_grouped:
            return {row[0]: row[1:] for row in rows}
        return rows[0]


class DuckDbWindows:
    """The streams as tables; each answer is a query over what the windows hold."""

    def __init__(self, data: StreamData) -> None:
        self._connection = duckdb.connect()
        self._connection.execute("SET threads = 1")
        for number in range(len(data.times_ms)):
            table = data.table(number).append_column("ms", [data.times_ms[number]])
            self._connection.register("rows_in", table.drop_columns(["ts"]))
            self._connection.execute(f"CREATE TABLE {STREAMS[number]} AS FROM rows_in")
            self._connection.unregister("rows_in")

    def answer(self, case: Case, at_ms: int, window_ms: int) -> Answer:
        """Compute it anew at an instant."""
        text = case.sql(at_ms - window_ms, at_ms)
        return case.answer_of(self._connection.execute(text).fetchall())


def polars_answer(
    case: Case, frames: list[pl.DataFrame], data: StreamData, at_ms: int, window_ms: int
) -> Answer:
    """Compute it anew at an instant, from slices of the streams."""
    lives = [data.live(number, at_ms, window_ms) for number in range(len(frames))]
    windows = [
        frame[live.start : live.stop].lazy() for frame, live in zip(frames, lives, strict=True)
    ]
    return case.answer_of(case.in_polars(*windows).collect().rows())


def _pairs(a: Lazy, b: Lazy) -> Lazy:
    return a.join(b, on="k")


_COUNT, _X = pl.len().cast(pl.Int64).alias("n"), pl.col("x")
CASES = (
    Case(
        "COUNT + SUM",
        "SELECT COUNT(*) AS n, SUM(A.x) AS s FROM {A}, {B} WHERE A.k = B.k",
        lambda a, b, _: _pairs(a, b).select(_COUNT, _X.sum()),
    ),
    Case(
        "MAX",
        "SELECT MAX(A.x) AS m FROM {A}, {B} WHERE A.k = B.k",
        lambda a, b, _: _pairs(a, b).select(_X.max()),
    ),
    Case(
        "COUNT DISTINCT",
        "SELECT COUNT(DISTINCT A.x) AS n FROM {A}, {B} WHERE A.k = B.k",
        lambda a, b, _: _pairs(a, b).select(_X.n_unique()),
    ),
    Case(
        "GROUP BY key",
        "SELECT A.k AS k, COUNT(*) AS n, SUM(A.x) AS s FROM {A}, {B} WHERE A.k = B.k GROUP BY A.k",
        lambda a, b, _: _pairs(a, b).group_by("k").agg(_COUNT, _X.sum()),
        is_grouped=True,
    ),
    Case(
        "GROUP BY a column",
        "SELECT A.g AS g, COUNT(*) AS n FROM {A}, {B} WHERE A.k = B.k GROUP BY A.g",
        lambda a, b, _: _pairs(a, b).group_by("g").agg(_COUNT),
        is_grouped=True,
    ),
    Case(
        "star of 3",
        "SELECT COUNT(*) AS n, SUM(A.x) AS s FROM {A}, {B}, {C} WHERE A.k = B.k AND B.k = C.k",
        lambda a, b, c: _pairs(_pairs(a, b.select("k")), c.select("k")).select(_COUNT, _X.sum()),
        streams=3,
    ),
    Case(
        "chain of 3",
        "SELECT COUNT(*) AS n FROM {A}, {B}, {C} WHERE A.k = B.k AND B.y = C.y",
        lambda a, b, c: (
            _pairs(a.select("k"), b.select("k", "y")).join(c.select("y"), on="y").select(_COUNT)
        ),
        streams=3,
    ),
    Case(
        "SUM(a * b)",
        "SELECT SUM(A.x * B.x) AS s FROM {A}, {B} WHERE A.k = B.k",
        lambda a, b, _: _pairs(a, b).select((_X * pl.col("x_right")).sum()),
    ),
    Case(
        "STDDEV",
        "SELECT STDDEV(A.x) AS d FROM {A}, {B} WHERE A.k = B.k",
        lambda a, b, _: _pairs(a, b).select(_X.std()),
    ),
    Case(
        "a.x > b.x",
        "SELECT COUNT(*) AS n FROM {A}, {B} WHERE A.k = B.k AND A.x > B.x",
        lambda a, b, _: _pairs(a, b).filter(pl.col("x_right") < _X).select(_COUNT),
        needs_pairs=True,
    ),
)
