"""The files of a source, found and looked into before anything runs."""

from __future__ import annotations

import csv
import glob
import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from windrow.connectors.files.connector import FileSource
from windrow.errors import DataError
from windrow.schema import StreamSchema

__all__ = ["check_files", "check_unchanged", "files_of"]

# What a folder of Spark's or a half-written file is called; Spark does not read these either.
_HIDDEN = (".", "_")


def files_of(source: FileSource) -> list[Path]:
    """The files, in the order of their names; refused when there are none."""
    path = Path(source.path)
    if path.is_dir():
        found = [each for each in path.iterdir() if each.is_file()]
    elif path.is_file():
        found = [path]
    else:
        found = [Path(each) for each in glob.glob(source.path) if Path(each).is_file()]
    found = sorted(each for each in found if not each.name.startswith(_HIDDEN))
    if not found:
        raise DataError(
            "WD501",
            f"there is no file at {source.path!r}",
            hint=(
                "give a file, a folder of files or a pattern; paths are relative to the "
                "working directory"
            ),
            place=source.place,
        )
    return found


def check_files(schema: StreamSchema, source: FileSource) -> None:
    """Refuses files that lack columns of the stream, so that no runner reads them as NULL."""
    for file in files_of(source):
        try:
            if source.format == "parquet":
                _check_parquet(schema, source, file)
            elif source.format == "csv" and source.header:
                _check_header(schema, source, file)
        except OSError as problem:
            why = os.strerror(problem.errno) if problem.errno else str(problem)
            raise DataError(
                "WD508",
                f"{file} cannot be read: {why}",
                hint="check that it still exists, and that this user may read it",
                place=source.place,
            ) from problem


def check_unchanged(source: FileSource, file: Path, before: os.stat_result) -> None:
    """Refuses a file that became another one while it was read: rows are missing, or of two files.

    Text to which lines were added is taken: they had not been there. So is a file that has gone
    since it was opened.
    """
    try:
        now = file.stat()
    except FileNotFoundError:
        return
    has_grown = now.st_ino == before.st_ino and now.st_size > before.st_size
    if has_grown and source.format != "parquet":
        return
    if _marks(now) != _marks(before):
        raise DataError(
            "WD507",
            f"{file} has changed while it was read",
            hint="run it again; write a file elsewhere and move it there when it is complete",
            place=source.place,
        )


def _marks(status: os.stat_result) -> tuple[int, int, int]:
    return status.st_ino, status.st_size, status.st_mtime_ns


def _check_parquet(schema: StreamSchema, source: FileSource, file: Path) -> None:
    try:
        names = pq.read_schema(file).names
    except (pa.ArrowInvalid, OSError) as problem:
        if isinstance(problem, OSError) and problem.errno:
            raise  # Arrow's own complaints about what is in a file have no number
        raise DataError(
            "WD502",
            f"{file} is not a Parquet file: {problem}",
            hint="name the format that it has: csv('...') or jsonl('...')",
            place=source.place,
        ) from None
    missing = [column.name for column in schema.columns if column.name not in names]
    if missing:
        raise _missing(schema, source, file, missing, names)


def _check_header(schema: StreamSchema, source: FileSource, file: Path) -> None:
    # What is not UTF-8 below the header is a matter of the rows in which it stands.
    with file.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as text:
        try:
            names = next(csv.reader(text, delimiter=source.delimiter), [])
            "".join(names).encode()
        except (UnicodeError, csv.Error) as problem:
            raise DataError(
                "WD503",
                f"{file} is not a CSV file: {problem}",
                hint="give text in UTF-8, or name the format that it has: parquet('...')",
                place=source.place,
            ) from None
    wanted = [column.name for column in schema.columns]
    if names != wanted:
        missing = [name for name in wanted if name not in names]
        if missing:
            raise _missing(schema, source, file, missing, names)
        raise DataError(
            "WD504",
            f"the header of {file} is {', '.join(names)}",
            hint=f"it must be the columns of stream {schema.name!r} in their order: "
            f"{', '.join(wanted)}",
            place=source.place,
        )


def _missing(
    schema: StreamSchema, source: FileSource, file: Path, missing: list[str], names: list[str]
) -> DataError:
    return DataError(
        "WD505",
        f"{file} has no column {missing[0]!r} of stream {schema.name!r}",
        hint=f"its columns are {', '.join(names)}"
        if names
        else "it is empty; its first line must name the columns, unless header = FALSE",
        place=source.place,
    )
