"""Where a query on Spark may send its answers: parquet(path), console(), memory().

Any callable that takes a pyarrow.Table and a batch id serves too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from windrow.errors import BindingError

__all__ = ["Console", "Memory", "Parquet", "Sink", "console", "memory", "parquet", "sink_of"]

_FEEDS = ("answers", "changes")


@dataclass(frozen=True)
class Parquet:
    """One Parquet file per batch that has answers, named after the batch id."""

    path: str
    feed: str = "answers"

    def __post_init__(self) -> None:
        if self.feed not in _FEEDS:
            raise BindingError(
                "WB410", f"there is no feed {self.feed!r}", hint="use 'answers' or 'changes'"
            )


@dataclass(frozen=True)
class Console:
    """Answers are printed as they come."""


@dataclass(frozen=True)
class Memory:
    """Answers are held on the driver until answers(), result() or changes() takes them."""


Sink = Parquet | Console | Memory | Callable[[pa.Table, int], object]


def parquet(path: str | Path, feed: str = "answers") -> Parquet:
    """A sink of Parquet files; a batch that is replayed replaces its own file."""
    return Parquet(str(path), feed)


def console() -> Console:
    """A sink that prints."""
    return Console()


def memory() -> Memory:
    """A sink that holds answers on the driver."""
    return Memory()


def sink_of(given: object) -> Sink:
    """The sink that a word, a sink or a callable names.

    >>> sink_of("memory")
    Memory()
    """
    if isinstance(given, (Parquet, Console, Memory)) or callable(given):
        return given
    if given == "memory":
        return Memory()
    if given == "console":
        return Console()
    raise BindingError(
        "WB411",
        f"{given!r} is not a sink",
        hint="use 'memory', 'console', windrow.sinks.parquet(path) or a callable(table, batch_id)",
    )
