"""The errors of a file that does not fit its stream."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from windrow.errors import DataError, Place
from windrow.rows.bad_rows import BadRow
from windrow.schema import StreamSchema

__all__ = ["Origin", "missing_column", "refused"]


class Origin(Protocol):
    """Where records come from: a source of files, or of lines."""

    @property
    def is_text(self) -> bool:
        """Whether its rows are lines."""

    @property
    def place(self) -> Place | None:
        """Where a script names it."""


def refused(schema: StreamSchema, source: Origin, file: Path | str, bad: BadRow) -> DataError:
    """The error of a file that has a bad row, which is named."""
    of_what = "line" if source.is_text else "row"
    where = f"{file}, {of_what} {bad.line}"
    if bad.column is not None:
        names = [column.name for column in schema.columns]
        where += f", column {names.index(bad.column) + 1} ({bad.column!r})"
    return DataError(
        "WD506",
        f"{where}: {bad.why}",
        hint=(
            f"fix what is named, or declare stream {schema.name!r} with ON BAD ROW SET ASIDE; "
            "nothing of this file after the last good batch was read"
        ),
        place=source.place,
    )


def missing_column(
    schema: StreamSchema, source: Origin, file: Path | str, missing: list[str], names: list[str]
) -> DataError:
    """The error of a file that lacks a column; names: those that it has."""
    return DataError(
        "WD505",
        f"{file} has no column {missing[0]!r} of stream {schema.name!r}",
        hint=f"its columns are {', '.join(names)}"
        if names
        else "it is empty; its first line must name the columns, unless header = FALSE",
        place=source.place,
    )
