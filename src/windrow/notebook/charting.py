"""A chart of a query: checked here, drawn by a widget that only those who chart import."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from windrow.errors import BindingError, UnsupportedError
from windrow.followers import Follower

if TYPE_CHECKING:
    from windrow.notebook.widget import Chart

__all__ = ["Charted", "chart"]

POINTS_LIMIT = 20_000


class _Shape(Protocol):
    @property
    def groups(self) -> tuple[str, ...]: ...
    @property
    def values(self) -> tuple[str, ...]: ...
    @property
    def every_us(self) -> int | None: ...


class Charted(Protocol):
    """What a chart needs of a query."""

    name: str

    @property
    def is_running(self) -> bool:
        """Whether there may be more answers."""

    @property
    def shape(self) -> _Shape:
        """Its groups and values."""

    def follow(self) -> Follower:
        """One more reader of its answers."""


def chart(
    query: Charted,
    value: str | Sequence[str] | None = None,
    *,
    points: int = 500,
    refresh: float | None = 0.5,
    height: int = 260,
) -> Chart:
    """A live chart of a query's answers from now on: a line for each group, bounds as a band.

    value: the aggregates to draw; None: the first. points: how many of the newest are kept per
    line. refresh: seconds between two looks at the query, in a thread of its own, until the query
    or the chart is stopped; None: only when chart.refresh() is called. height: in pixels.

    >>> import windrow
    >>> session = windrow.connect()
    >>> session.stream("s", "ts timestamp, k string", time="ts")
    >>> query = session.query("SELECT k, COUNT(*) AS n FROM s [1 MINUTE] GROUP BY k")
    >>> drawn = chart(query, refresh=None)
    >>> session.push("s", {"ts": ["2026-01-01"] * 2, "k": ["a", "b"]})
    >>> session.finish()
    >>> drawn.refresh()
    >>> [(line["label"], line["latest"]) for line in drawn.lines]
    [('a', '1'), ('b', '1')]
    >>> drawn.close()
    """
    shape = query.shape
    values = _values(shape, value)
    _check("points", points, 2, POINTS_LIMIT)
    _check("height", height, 40, 4_000)
    if refresh is not None:
        _check("refresh", refresh, 0.05, 3_600)
    drawn: Chart = _widget().Chart(query, values, points, refresh, height)
    return drawn


def _values(shape: _Shape, value: str | Sequence[str] | None) -> list[str]:
    if not shape.values:
        raise BindingError(
            "WB121",
            "the answers of this query have no number to draw",
            hint="chart a query with an aggregate, such as SELECT k, COUNT(*) AS n ... GROUP BY k",
        )
    wanted = [value] if isinstance(value, str) else list(value or shape.values[:1])
    for name in wanted:
        if name not in shape.values:
            raise BindingError(
                "WB121",
                f"{name!r} is not an aggregate of this query that can be drawn",
                hint=f"use one of {', '.join(shape.values)}",
            )
    return wanted


def _check(name: str, given: float, least: float, most: float) -> None:
    if isinstance(given, bool) or not least <= given <= most:
        raise BindingError("WB122", f"{name} cannot be {given!r}", hint=f"give {least} to {most}")


def _widget() -> Any:
    try:
        importlib.import_module("anywidget")
    except ImportError as problem:
        raise UnsupportedError(
            "WU321",
            f"a chart needs anywidget, which cannot be imported: {problem}",
            hint='pip install "windrow-sql[notebook]"',
        ) from None
    return importlib.import_module("windrow.notebook.widget")
