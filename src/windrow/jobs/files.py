"""The files of a source, found and looked into before anything runs."""

from __future__ import annotations

import csv
import glob
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from windrow.errors import DataError
from windrow.schema import StreamSchema
from windrow.sources import FileSource

__all__ = ["check_files", "files_of"]

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
            hint="give a file, a folder of files or a pattern; paths start where windrow is run",
            place=source.place,
        )
    return found


def check_files(schema: StreamSchema, source: FileSource) -> None:
    """Refuses files that lack columns of the stream, so that no runner reads them as NULL."""
    for file in files_of(source):
        if source.format == "parquet":
            _check_parquet(schema, source, file)
        elif source.format == "csv" and source.header:
            _check_header(schema, source, file)


def _check_parquet(schema: StreamSchema, source: FileSource, file: Path) -> None:
    try:
        names = pq.read_schema(file).names
    except (pa.ArrowInvalid, OSError) as problem:
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
    with file.open(encoding="utf-8-sig", newline="") as text:
        try:
            names = next(csv.reader(text, delimiter=source.delimiter), [])
        except (UnicodeDecodeError, csv.Error) as problem:
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
