"""Times written and read by patterns, and texts of times cast: once for each different one."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.rows.scalar.date_texts import texts_by_parts
from windrow.rows.scalar.time_columns import micros, zone_of
from windrow.rows.scalar.values import Checked, Function, NoValueError, over_arrays, per_value
from windrow.schema import BIGINT, ColumnType
from windrow.times.civil import DAY_US
from windrow.times.formatting import Moment, format_moment, reads_zone, resolution_us
from windrow.times.moments import read_timestamp
from windrow.times.patterns import Pattern, read_pattern
from windrow.times.reading import Reader, reader_of
from windrow.times.zones import UTC_ZONE, Zone

__all__ = ["DATE_FORMATS"]

_MAX_PATTERNS = 256


@lru_cache(_MAX_PATTERNS)
def _written(pattern: str) -> Pattern:
    return read_pattern(pattern, is_read=False)


@lru_cache(_MAX_PATTERNS)
def _reader(pattern: str) -> Reader:
    return reader_of(read_pattern(pattern, is_read=True))


def _date_format(arguments: list[Any], _kind: ColumnType) -> Any:
    """arguments: what clocks show, a pattern, and for patterns that write it the zone."""
    pattern = _written(arguments[1].as_py())
    zone = zone_of(arguments[2]) if len(arguments) > 2 else UTC_ZONE
    step = resolution_us(pattern)
    is_instant = len(arguments) > 2 and reads_zone(pattern)

    def apply(columns: list[Any], _kind: ColumnType) -> Any:
        moments = micros(columns[0])
        if is_instant:
            offsets = zone.offset(moments)
            texts = _texts_in_zone(pattern, moments + offsets, offsets, zone, step)
        elif reads_zone(pattern):
            texts = _texts(pattern, moments, step, 0, zone)
        else:
            texts = texts_by_parts(pattern, moments)
        if not columns[0].null_count:
            return texts
        return texts.filter(columns[0].is_valid()).take(_ranks(columns[0]))

    return over_arrays(apply)(arguments[:1], _kind)


def _ranks(column: pa.Array) -> pa.Array:
    """For each row its place among the valid ones; NULL where it is NULL."""
    valid = column.is_valid().to_numpy(zero_copy_only=False)
    return pa.array(np.cumsum(valid) - 1, mask=~valid)


def _texts(pattern: Pattern, wall: Any, step: int, offset_us: int, zone: Zone) -> pa.Array:
    """The texts of times on the wall: times within one step look alike."""
    days = np.floor_divide(wall, DAY_US)
    steps = wall - np.mod(wall - days * DAY_US, step)
    encoded = pa.array(steps).dictionary_encode()
    shown = [
        format_moment(pattern, Moment(each, offset_us, zone))
        for each in encoded.dictionary.to_pylist()
    ]
    return pa.array(shown, pa.string()).take(encoded.indices)


def _texts_in_zone(pattern: Pattern, wall: Any, offsets: Any, zone: Zone, step: int) -> pa.Array:
    found = np.empty(len(wall), object)
    for offset in np.unique(offsets):
        rows = offsets == offset
        texts = _texts(pattern, wall[rows], step, int(offset), zone)
        found[rows] = texts.to_numpy(zero_copy_only=False)
    return pa.array(found, pa.string())


def _instants(read: Any) -> Function:
    """Texts to instants by a function of one text; one that cannot be read is a fault."""

    def read_or_fault(text: str) -> int:
        found = read(text)
        if found is None:
            raise NoValueError
        return int(found)

    def apply(arguments: list[Any], kind: ColumnType) -> Any:
        found = per_value(read_or_fault)(arguments, BIGINT)
        value = found.value
        if isinstance(value, pa.Scalar):
            return Checked(pa.scalar(value.as_py(), kind.arrow), found.faults)
        return Checked(value.view(kind.arrow), found.faults)

    return apply


def _read_by_pattern(arguments: list[Any], kind: ColumnType) -> Any:
    is_wall = kind.name == "TIMESTAMP_NTZ"
    read, zone = _reader(arguments[1].as_py()), None if is_wall else zone_of(arguments[2])
    return _instants(lambda text: read(text, zone))(arguments[:1], kind)


def _read(arguments: list[Any], kind: ColumnType) -> Any:
    zone = zone_of(arguments[1])
    return _instants(lambda text: read_timestamp(text, zone))(arguments[:1], kind)


def _or_null(function: Function) -> Function:
    return lambda arguments, kind: function(arguments, kind).value


DATE_FORMATS: dict[str, Function] = {
    "date_format": _date_format,
    "read_by_pattern": _read_by_pattern,
    "try_read_by_pattern": _or_null(_read_by_pattern),
    "text_to_instant": _read,
    "try_text_to_instant": _or_null(_read),
}
