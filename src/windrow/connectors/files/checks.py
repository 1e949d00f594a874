"""The files of a source, found and looked into before anything runs."""

from __future__ import annotations

import glob
import os
from pathlib import Path

from windrow.connectors.files.connector import FileSource
from windrow.connectors.files.csv_files import check_header
from windrow.connectors.files.parquet_files import check_parquet
from windrow.errors import DataError
from windrow.schema import StreamSchema

__all__ = ["check_files", "check_unchanged", "files_of"]

# What a folder of Spark's or a half-written file is called; Spark does not read these either.
_HIDDEN = (".", "_")
# A line of JSON names its columns itself, and may lack any.
_CHECKS = {"parquet": check_parquet, "csv": check_header}


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
            if source.format in _CHECKS:
                _CHECKS[source.format](schema, source, file)
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
    if has_grown and source.is_text:
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
