"""What both runners say of the histories of a session, and what folder one may take as archive."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from windrow.errors import BindingError
from windrow.event_time import show_span
from windrow.history.questions.rows import instants_of
from windrow.plan.history_schema import HistorySchema

__all__ = ["HistoryRow", "archive_folder", "history_table"]


@dataclass(frozen=True)
class HistoryRow:
    """One history: what it keeps, since when and until when it knows the past, and its size."""

    schema: HistorySchema
    known_from_us: int
    known_to_us: int
    rows: int
    bytes: int


def history_table(rows: Iterable[HistoryRow]) -> pa.Table:
    """One row per history: what it keeps, what it knows, and its bytes."""
    given = list(rows)
    schemas = [row.schema for row in given]
    return pa.table(
        {
            "stream": pa.array([each.stream.name for each in schemas], pa.string()),
            "measures": _names([[m.name for m in each.measures] for each in schemas]),
            "keys": _names([[key.name for key in each.keys] for each in schemas]),
            "levels": _names([[*map(_level, each.levels)] for each in schemas]),
            "known_from": instants_of([row.known_from_us for row in given]),
            "known_to": instants_of([row.known_to_us for row in given]),
            "rows": pa.array([row.rows for row in given], pa.int64()),
            "bytes": pa.array([row.bytes for row in given], pa.int64()),
        }
    )


def archive_folder(folder: object, *, is_new: bool = True) -> Path:
    """A folder for what leaves memory; one for a new history is empty.

    What another run left there is not of this stream.
    """
    if not isinstance(folder, (str, os.PathLike)) or not os.fspath(folder):
        raise BindingError(
            "WB325",
            f"archive={folder!r} is not a directory",
            hint="give the path of a new directory",
        )
    path = Path(folder)
    if is_new and path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise BindingError(
            "WB325",
            f"the archive {str(path)!r} is not an empty directory",
            hint="give a new one: its content would be read as the past of this stream",
        )
    return path


def _level(level: tuple[int, int | None]) -> str:
    granularity_us, retention_us = level
    kept = "ever" if retention_us is None else show_span(retention_us)
    return f"{show_span(granularity_us)} for {kept}"


def _names(lists: list[list[str]]) -> pa.Array:
    return pa.array(lists, pa.list_(pa.string()))
