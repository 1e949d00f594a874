"""Columns of Python's values as rows of a stream; those that do not fit are set aside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from windrow.errors import DataError, Place
from windrow.rows.conversion import UnfitRowError, batch_of
from windrow.rows.file_rows import FileRows
from windrow.schema import StreamSchema

__all__ = ["rows_of_columns"]


def rows_of_columns(
    schema: StreamSchema,
    columns: Mapping[str, Sequence[Any]],
    places: Sequence[str],
    numbers: Sequence[int],
    place: Place | None = None,
) -> FileRows:
    """The rows; with FAIL an error names the first that does not fit.

    >>> from windrow.schema import columns_of
    >>> schema = StreamSchema("s", columns_of("ts timestamp, x int"), "ts")
    >>> columns = {"ts": ["2026-01-01"] * 2, "x": [1, "no"]}
    >>> read = rows_of_columns(schema, columns, ["a table"] * 2, [7, 8])
    >>> read.batch.num_rows, [(bad.file, bad.line, bad.column) for bad in read.bad]
    (1, [('a table', 8, 'x')])
    """
    policy = "fail" if schema.on_bad_row == "fail" else "set aside"
    try:
        found = batch_of(replace(schema, on_bad_row=policy), columns)
    except UnfitRowError as problem:
        raise DataError(
            "WD870",
            f"{places[problem.row]}, record {numbers[problem.row]}, column {problem.column!r}: "
            f"{problem.why}",
            hint=f"correct what writes it, or declare stream {schema.name!r} with ON BAD ROW SET "
            "ASIDE; nothing of the batch was taken",
            place=place,
        ) from problem
    bad = (
        replace(row, file=places[number], line=numbers[number])
        for number, row in sorted(found.bad.items())
    )
    return FileRows(found.batch, tuple(bad))
