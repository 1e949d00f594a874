"""Rows in any of the forms that push() takes, as an Arrow batch of the stream's schema.

A row that the stream cannot hold is set aside, or the push is refused as a whole, as the stream's
policy says (StreamSchema.on_bad_row).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.errors import DataError
from windrow.rows.arrow_columns import column_as, without_absurd_times
from windrow.rows.bad_rows import BadRow, cut
from windrow.rows.damaged_values import check_buffers, damaged_rows
from windrow.rows.epoch_times import UnitError, counted, counted_column
from windrow.rows.given_rows import is_columns, rows_given
from windrow.rows.halving import halved
from windrow.rows.python_values import array_of
from windrow.schema import Column, StreamSchema

__all__ = ["Converted", "UnfitRowError", "batch_of"]

# What Arrow and Python raise at a value that a column cannot hold.
VALUE_ERRORS = (pa.ArrowException, OverflowError, ValueError, TypeError)
_IGNORING = '; unknown_fields="ignore" leaves others out'
_NOTHING_TAKEN = "the whole push was refused; convert the column, declare it with another type"


@dataclass(frozen=True)
class Converted:
    """Rows that fit, and those that were set aside, by their number among those given (from 0)."""

    batch: pa.RecordBatch
    bad: Mapping[int, BadRow] = field(default_factory=dict)


def batch_of(stream: StreamSchema, rows: Any) -> Converted:
    """Rows of any form as a batch of the stream's columns."""
    given = rows_given(stream, rows)
    if isinstance(given, pa.Table):
        _check_names(stream, given.schema.names, allow_missing=False)
        given = {name: given.column(name) for name in given.schema.names}
    if isinstance(given, Mapping):
        return _of_columns(stream, given)
    return _of_dicts(stream, given)


class _Values:
    """A column as Python's values."""

    is_sound = True

    def __init__(self, stream: StreamSchema, column: Column, values: list[Any]) -> None:
        self.column, self.values = column, values
        self._is_time, self._unit = column.name == stream.time, stream.options.unit

    def __len__(self) -> int:
        return len(self.values)

    def converted(self, start: int, stop: int) -> pa.Array:
        values = self.values[start:stop]
        if self._is_time:
            values = counted(values, self._unit)
        return array_of(self.column.type, values)

    def shown(self, place: int) -> Any:
        return self.values[place]


class _ArrowColumn:
    """An Arrow column of any type; its buffers are checked first."""

    def __init__(self, stream: StreamSchema, column: Column, values: pa.ChunkedArray) -> None:
        self.column, self.values = column, values
        self.is_sound = check_buffers(values)
        self._is_time, self._unit = column.name == stream.time, stream.options.unit

    def __len__(self) -> int:
        return len(self.values)

    def converted(self, start: int, stop: int) -> pa.Array:
        values = self.values.slice(start, stop - start)
        if self._is_time:
            values = without_absurd_times(counted_column(values, self._unit))
        return column_as(self.column.type, values)

    def shown(self, place: int) -> Any:
        value = self.values[place]
        try:
            return value.as_py()
        except ValueError:  # bytes that are not UTF-8
            if pa.types.is_nested(value.type):
                return f"{value.type} with text that is not UTF-8"
            return value.cast(pa.binary()).as_py()


def _of_columns(stream: StreamSchema, given: Mapping[str, Any]) -> Converted:
    _check_names(stream, list(given), allow_missing=False)
    columns = [_column(stream, each, given[each.name]) for each in stream.columns]
    lengths = {each.column.name: len(each) for each in columns}
    if len(set(lengths.values())) > 1:
        shown = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise DataError(
            "WD105",
            f"the columns for stream {stream.name!r} have different lengths: {shown}",
            hint="give all columns the same number of values, or a list of dicts",
        )
    return _converted(stream, columns, {})


def _column(stream: StreamSchema, column: Column, given: Any) -> _Values | _ArrowColumn:
    if isinstance(given, (list, tuple)):
        return _Values(stream, column, list(given))
    if not is_columns({column.name: given}):
        raise DataError(
            "WD105",
            f"column {column.name!r} of stream {stream.name!r} is a single value among lists",
            hint="give a list with as many values as the other columns",
        )
    try:
        return _ArrowColumn(stream, column, _arrow(given))
    except (pa.ArrowException, TypeError, ValueError) as problem:
        raise _bad_column(stream, column, problem) from None


def _arrow(given: Any) -> pa.Array | pa.ChunkedArray:
    if isinstance(given, (pa.Array, pa.ChunkedArray)):
        return given
    # Series of other libraries come in pieces; those of pandas have their own idea of NULL.
    return pa.chunked_array(given) if hasattr(given, "__arrow_c_stream__") else pa.array(given)


def _check_names(stream: StreamSchema, names: Sequence[str], *, allow_missing: bool) -> None:
    known = [column.name for column in stream.columns]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise DataError(
            "WD102",
            f"rows for stream {stream.name!r}: two columns are named {twice!r}",
            hint="give each column once",
        )
    is_ignoring = stream.options.unknown_fields == "ignore"
    unknown = [] if is_ignoring else [name for name in names if name not in known]
    missing = [] if allow_missing else [name for name in known if name not in names]
    if unknown or missing:
        wrong = "unknown column" if unknown else "no column"
        raise DataError(
            "WD102",
            f"rows for stream {stream.name!r}: {wrong} {(unknown or missing)[0]!r}",
            hint=f"the stream's columns are {', '.join(known)}{_IGNORING if unknown else ''}",
        )


def _of_dicts(stream: StreamSchema, rows: Sequence[Any]) -> Converted:
    bad: dict[int, BadRow] = {}
    for place, row in enumerate(rows):
        try:
            _check_row(stream, row)
        except DataError as problem:
            if not stream.sets_aside:
                raise
            bad[place] = BadRow(problem.message, line=place + 1, row=cut(repr(row)))
    values = [row if place not in bad else {} for place, row in enumerate(rows)] if bad else rows
    columns = [
        _Values(stream, each, [row.get(each.name) for row in values]) for each in stream.columns
    ]
    return _converted(stream, columns, bad)


def _check_row(stream: StreamSchema, row: Any) -> None:
    if not isinstance(row, Mapping):
        raise DataError(
            "WD101",
            f"stream {stream.name!r} does not accept {type(row).__name__} as a row",
            hint="a row is a dict of column names to values",
        )
    if not row.keys() <= {column.name for column in stream.columns}:
        _check_names(stream, list(row), allow_missing=True)


def _converted(
    stream: StreamSchema, columns: Sequence[_Values | _ArrowColumn], bad: dict[int, BadRow]
) -> Converted:
    """The columns converted, without the rows that are bad already or found to be."""
    arrays = []
    for each in columns:
        try:
            arrays.append(each.converted(0, len(each)))
        except VALUE_ERRORS as problem:
            array, unfit = _with_gaps(stream, each, problem)
            arrays.append(array)
            for place, why in unfit.items():
                bad.setdefault(place, _bad_row(columns, place, each.column.name, str(why)))
    batch = pa.RecordBatch.from_arrays(arrays, schema=stream.arrow)
    batch = _without(batch, bad)
    if all(each.is_sound for each in columns):
        return Converted(batch, bad)
    return _without_damage(stream, columns, batch, bad)


def _without_damage(
    stream: StreamSchema,
    columns: Sequence[_Values | _ArrowColumn],
    batch: pa.RecordBatch,
    bad: dict[int, BadRow],
) -> Converted:
    """The rows without those whose bytes are no values; they are set aside unless FAIL is asked."""
    places = [place for place in range(len(columns[0])) if place not in bad]
    found = damaged_rows(batch)
    for row, name, why in found.values():
        if stream.on_bad_row == "fail":
            column = stream.column(name)
            raise _bad_column(stream, column, ValueError(why), places[row])
        bad[places[row]] = _bad_row(columns, places[row], name, why)
    return Converted(_without(batch, found), bad)


def _without(batch: pa.RecordBatch, rows: Collection[int]) -> pa.RecordBatch:
    """The batch without these rows."""
    if not rows:
        return batch
    kept = np.ones(batch.num_rows, np.bool_)
    kept[list(rows)] = False
    return batch if kept.all() else batch.filter(pa.array(kept))


def _with_gaps(
    stream: StreamSchema, given: _Values | _ArrowColumn, problem: Exception
) -> tuple[pa.Array, dict[int, Exception]]:
    """The column with NULL where a value cannot be held; raises where that is not for rows to say.

    problem: with which the column failed as a whole.
    """
    is_of_all = isinstance(problem, (pa.ArrowTypeError, pa.ArrowNotImplementedError))
    if isinstance(given, _ArrowColumn) and is_of_all:
        raise _bad_column(stream, given.column, problem) from None
    kind = given.column.type.arrow
    pieces, unfit = [pa.array([], kind)], {}
    for place, piece in halved(given.converted, len(given), VALUE_ERRORS):
        if isinstance(piece, Exception):
            if not stream.sets_aside:
                raise _bad_column(stream, given.column, piece, place) from None
            unfit[place], piece = piece, pa.nulls(1, kind)
        pieces.append(piece)
    return pa.concat_arrays(pieces), unfit


def _bad_row(columns: Sequence[_Values | _ArrowColumn], place: int, name: str, why: str) -> BadRow:
    row = {each.column.name: each.shown(place) for each in columns}
    return BadRow(cut(why), name, line=place + 1, row=cut(repr(row)))


class UnfitRowError(DataError):
    """A row that cannot be held, in a stream that refuses such rows; `row` counts from 0."""

    column: str = ""
    row: int = 0
    why: str = ""


def _bad_column(
    stream: StreamSchema, column: Column, problem: Exception, place: int | None = None
) -> DataError:
    where = "" if place is None else f" (row {place + 1} of the push)"
    kind = DataError if place is None else UnfitRowError
    code, hint = "WD103", f'{_NOTHING_TAKEN}, or with on_bad_row="set aside"'
    if isinstance(problem, UnitError):
        code = "WD753"
        hint = f'the whole push was refused; declare the stream with unit="{problem.unit}", or '
        hint += "push times as datetime or ISO text"
    error = kind(
        code,
        f"column {column.name!r} of stream {stream.name!r} is {column.type}: {problem}{where}",
        hint=hint,
    )
    if isinstance(error, UnfitRowError) and place is not None:
        error.column, error.row, error.why = column.name, place, str(problem)
    return error
