"""Messages of a broker as rows of a stream: those that are no rows are set aside, and named."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import pyarrow as pa

from windrow.connectors.files.careful_reading import READING_ERRORS, fitting
from windrow.errors import DataError, Place
from windrow.rows.bad_rows import RAW_BYTES, BadRow, cut
from windrow.rows.conversion import UnfitRowError
from windrow.rows.file_rows import FileRows
from windrow.rows.halving import halved
from windrow.schema import StreamSchema

__all__ = ["Messages", "SchemaDriftError", "ValueFormat", "rows_of_messages"]

NO_VALUE = "it has no value"


class SchemaDriftError(DataError):
    """Values have another schema than the stream: all of them, and none by chance."""


class ValueFormat(Protocol):
    """How the values of messages are read."""

    def parsed(self, values: Sequence[bytes]) -> Mapping[str, Any]:
        """Columns of as many rows as there are values; an error if one of them is no row."""

    def fault(self, value: bytes) -> tuple[str | None, str]:
        """Of a value that is no row the column (None: all of it), and why; '': unknown."""


@dataclass(frozen=True)
class Messages:
    """Some messages, each with the place that it has and its number there.

    beside: columns of the stream that are not in the values but beside them.
    """

    values: Sequence[bytes | None]
    places: Sequence[str]
    numbers: Sequence[int | None]
    beside: Mapping[str, Sequence[Any]] = field(default_factory=dict)


def rows_of_messages(
    schema: StreamSchema, messages: Messages, format_: ValueFormat, place: Place | None
) -> FileRows:
    """The rows, and those that were set aside: all that are bad, unless the stream says FAIL."""

    def read(start: int, stop: int) -> pa.RecordBatch:
        values = [value for value in messages.values[start:stop] if value is not None]
        if len(values) < stop - start:
            raise ValueError(NO_VALUE)
        columns = dict(format_.parsed(values))
        for name, beside in messages.beside.items():
            columns[name] = beside[start:stop]
        return fitting(schema, {each.name: columns[each.name] for each in schema.columns})

    batches, bad = [pa.RecordBatch.from_pylist([], schema.arrow)], []
    for number, given in halved(read, len(messages.values), READING_ERRORS):
        if isinstance(given, pa.RecordBatch):
            batches.append(given)
            continue
        if isinstance(given, SchemaDriftError) and schema.on_bad_row != "set aside":
            raise given
        bad.append(_bad_row(messages, number, format_, given))
        if schema.on_bad_row == "fail":
            raise _refused(schema, bad[-1], place) from given
    return FileRows(pa.concat_batches(batches), tuple(bad))


def _bad_row(messages: Messages, number: int, format_: ValueFormat, problem: Exception) -> BadRow:
    value = messages.values[number]
    column, why = None, NO_VALUE
    if isinstance(problem, SchemaDriftError):
        why = problem.message
    elif value is not None:
        column, why = format_.fault(value)
        if not why and isinstance(problem, UnfitRowError):
            column, why = problem.column, problem.why
    return BadRow(
        why or cut(str(problem)),
        column,
        messages.places[number],
        messages.numbers[number],
        cut(value or b""),
        (value or b"")[:RAW_BYTES],
    )


def _refused(schema: StreamSchema, bad: BadRow, place: Place | None) -> DataError:
    where = str(bad.file) if bad.line is None else f"{bad.file}, record {bad.line}"
    if bad.column is not None:
        where += f", column {bad.column!r}"
    return DataError(
        "WD870",
        f"{where}: {bad.why}",
        hint=f"correct what writes it, or declare stream {schema.name!r} with ON BAD ROW SET "
        "ASIDE; nothing of the batch was taken",
        place=place,
    )
