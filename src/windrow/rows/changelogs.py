"""Changelogs as versions of rows: with a column that says what happened, Debezium's, or upserts.

Rows before an update (-U, `before`) say nothing that the row after it does not: what counts is the
newest row of each key. Only where the key itself has changed is the old one deleted.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.errors import DataError
from windrow.rows.given_rows import is_columns
from windrow.rows.given_table_rows import (
    GivenVersions,
    joined_given,
    versions_of_keys,
    versions_of_rows,
)
from windrow.table_schema import TableSchema

__all__ = [
    "FORMATS",
    "versions_of_changelog",
    "versions_of_operations",
    "versions_of_records",
]

# What happened to a row, as Flink and Debezium say it: whether a row is there afterwards.
_IS_THERE = {
    **dict.fromkeys(["+I", "+U", "C", "R", "U", "I"], True),
    **dict.fromkeys(["-D", "D"], False),
}
_BEFORE = ("-U",)
_OPERATIONS = "write +I, -U, +U or -D, or c, r, u or d"

# A row, or the key of one that is gone; and the time of the event in milliseconds, if it has one.
Event = tuple[Mapping[str, Any], bool, int | None]


def versions_of_changelog(
    schema: TableSchema, *, changes: Any, kind: str = "changelog", op: str = "op"
) -> GivenVersions:
    """The versions that a changelog in one of the FORMATS brings, in its order."""
    read = FORMATS.get(kind)
    if read is None:
        raise DataError(
            "WD717",
            f"there is no format {kind!r} of changelogs",
            hint=f"use one of {', '.join(FORMATS)}",
        )
    events: list[Event] = []
    for number, change in enumerate(_listed(schema, changes), 1):
        events += read(schema, change, op, number)
    return _versions(schema, events)


def versions_of_records(
    schema: TableSchema, keys: Sequence[bytes | None], values: Sequence[bytes | None], kind: str
) -> GivenVersions:
    """The versions that records of a topic bring, whose keys and values are JSON.

    A record without a value deletes, where its format is of upserts; what follows a deletion in the
    other formats says nothing.
    """
    events: list[Event] = []
    for number, (key, value) in enumerate(zip(keys, values, strict=True), 1):
        if kind == "upsert-json":
            events += _keyed(schema, _text(key), _text(value), number)
        elif value is not None:
            events += FORMATS[kind](schema, _text(value), "op", number)
    return _versions(schema, events)


def versions_of_operations(schema: TableSchema, rows: pa.RecordBatch, op: str) -> GivenVersions:
    """The versions that rows with a column of operations bring, in their order."""
    words = [str(word).strip().upper() for word in rows.column(op).to_pylist()]
    unknown = [word not in _IS_THERE and word not in _BEFORE for word in words]
    if any(unknown):
        number = unknown.index(True)
        word = rows.column(op)[number].as_py()
        told = "it is no row" if word is None else f"{op!r} is {word!r}"
        raise _wrong(schema, number + 1, told, _OPERATIONS)
    there = np.array([_IS_THERE.get(word, False) for word in words], np.bool_)
    gone = np.array([not _IS_THERE.get(word, True) for word in words], np.bool_)
    names = [column.name for column in schema.columns]
    parts = [
        versions_of_rows(schema, rows.select(names).filter(pa.array(there))),
        versions_of_keys(schema, rows.select(list(schema.key)).filter(pa.array(gone))),
    ]
    places = np.concatenate([np.flatnonzero(there), np.flatnonzero(gone)])
    return joined_given(schema, parts).taken(np.argsort(places, kind="stable"))


def _text(data: bytes | None) -> str | None:
    """Bytes that are no text become signs that no JSON has."""
    return None if data is None else data.decode(errors="replace")


def _listed(schema: TableSchema, changes: Any) -> Sequence[Any]:
    if isinstance(changes, str | bytes):
        return [line for line in changes.splitlines() if line.strip()]
    if isinstance(changes, Mapping):
        if not is_columns(changes):
            return [changes]
        changes = pa.table(dict(changes))
    if isinstance(changes, list | tuple):
        return changes
    if isinstance(changes, pa.RecordBatch):
        changes = pa.Table.from_batches([changes])
    try:
        rows: list[Any] = pa.table(changes).to_pylist()
    except (TypeError, ValueError, pa.ArrowException):
        raise DataError(
            "WD717",
            f"a changelog for table {schema.name!r} cannot be read from {type(changes).__name__}",
            hint="give a list of dicts or of JSON texts, or a table with a column op",
        ) from None
    return rows


def _with_operation(schema: TableSchema, change: Any, op: str, number: int) -> Iterator[Event]:
    row = _object(schema, change, number)
    word = row.get(op)
    known = str(word).strip().upper()
    if known in _BEFORE:
        return
    if word is None or known not in _IS_THERE:
        raise _wrong(schema, number, f"{op!r} is {word!r}", _OPERATIONS)
    yield {name: value for name, value in row.items() if name != op}, _IS_THERE[known], None


def _debezium(schema: TableSchema, change: Any, op: str, number: int) -> Iterator[Event]:
    if change is None:
        return  # the tombstone that follows a deletion, for the compaction of its topic
    envelope = _object(schema, change, number)
    if isinstance(envelope.get("payload"), Mapping):
        envelope = envelope["payload"]
    word, before, after = envelope.get(op), envelope.get("before"), envelope.get("after")
    is_there = _IS_THERE.get(str(word).upper())
    if is_there is None or str(word)[0] in "+-":
        raise _wrong(schema, number, f"{op!r} is {word!r}", "Debezium says c, r, u or d")
    row = after if is_there else before
    if not isinstance(row, Mapping):
        name = "after" if is_there else "before"
        hint = "let the database log whole rows, or the key at least: REPLICA IDENTITY"
        raise _wrong(schema, number, f"{name!r} is {row!r}, and op {word!r}", hint)
    time = envelope.get("ts_ms")
    if is_there and isinstance(before, Mapping) and _key(schema, before) != _key(schema, row):
        yield before, False, time
    yield row, is_there, time


def _upsert(schema: TableSchema, change: Any, op: str, number: int) -> Iterator[Event]:
    del op
    row = _object(schema, change, number)
    if not {"key", "value"} <= row.keys() or {"key", "value"} <= {c.name for c in schema.columns}:
        yield row, True, None
        return
    yield from _keyed(schema, row["key"], row["value"], number)


def _keyed(schema: TableSchema, key: Any, value: Any, number: int) -> Iterator[Event]:
    key, value = _parsed(key), _parsed(value)
    if not isinstance(key, Mapping):
        key = dict(zip(schema.key, key if isinstance(key, list | tuple) else [key], strict=False))
    if value is None:
        yield key, False, None
    else:
        yield {**key, **_object(schema, value, number)}, True, None


FORMATS: dict[str, Callable[[TableSchema, Any, str, int], Iterator[Event]]] = {
    "changelog": _with_operation,
    "debezium-json": _debezium,
    "upsert-json": _upsert,
}


def _versions(schema: TableSchema, events: Sequence[Event]) -> GivenVersions:
    """Events that are alike, one after the other, are converted together."""
    parts, begin = [versions_of_rows(schema, [])], 0
    for end in range(1, len(events) + 1):
        if end < len(events) and events[end][1] == events[begin][1]:
            continue
        rows = [dict(row) for row, _, _ in events[begin:end]]
        if events[begin][1]:
            names = {column.name for column in schema.columns}
            rows = [{name: row[name] for name in row.keys() & names} for row in rows]
            parts.append(versions_of_rows(schema, rows))
        else:
            parts.append(_deleted(schema, rows, [time for *_, time in events[begin:end]]))
        begin = end
    return joined_given(schema, parts)


def _deleted(
    schema: TableSchema, rows: list[dict[str, Any]], times: Sequence[int | None]
) -> GivenVersions:
    """A row that was there says nothing of when it went; the event may."""
    missing = [name for name in schema.key for row in rows if name not in row]
    if missing:
        raise DataError(
            "WD712",
            f"a deletion for table {schema.name!r} has no {missing[0]!r}, which is of its key",
            hint="nothing was taken: give the whole key",
        )
    found = versions_of_keys(schema, [{name: row[name] for name in schema.key} for row in rows])
    if not schema.has_time:
        return found
    known = np.array([time is not None for time in times], np.bool_)
    micros = np.array([(time or 0) * 1_000 for time in times], np.int64)
    return GivenVersions(found.columns, found.gone, micros, ~known)


def _object(schema: TableSchema, change: Any, number: int) -> Mapping[str, Any]:
    value = _parsed(change)
    if isinstance(value, Mapping):
        return value
    hint = "give a dict, or a JSON object"
    raise _wrong(schema, number, f"it is {type(value).__name__}, no object", hint)


def _parsed(value: Any) -> Any:
    """What a JSON text says; any other value as it is."""
    if not isinstance(value, str | bytes):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value


def _key(schema: TableSchema, row: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(row.get(name) for name in schema.key)


def _wrong(schema: TableSchema, number: int, told: str, hint: str) -> DataError:
    return DataError(
        "WD717",
        f"change {number} of the changelog for table {schema.name!r} cannot be read: {told}",
        hint=f"nothing was taken: {hint}",
    )
