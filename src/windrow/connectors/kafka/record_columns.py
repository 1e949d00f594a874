"""Columns of a stream that are not in the value of a record but beside it, in this process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from windrow.column_types import BINARY, STRING, ColumnType
from windrow.errors import BindingError

if TYPE_CHECKING:
    from confluent_kafka import Message

    from windrow.connectors.kafka.connector import KafkaSource
    from windrow.schema import Column, StreamSchema

__all__ = [
    "RecordColumn",
    "beside_columns",
    "check_record_columns",
    "header_value",
    "value_columns",
]

_NO_TIMESTAMP = 0  # the kind of it
_TIME = pa.timestamp("ms", tz="UTC")

Made = Callable[[Sequence["Message"]], Any]


def value_columns(schema: StreamSchema, source: KafkaSource) -> list[Column]:
    """The columns that are in the values."""
    beside = {*source.from_record, *([schema.time] if source.time_from == "record" else ())}
    return [column for column in schema.columns if column.name not in beside]


def beside_columns(schema: StreamSchema, source: KafkaSource) -> dict[str, Made]:
    """How each of the other columns is made of records."""
    parts = dict(source.from_record)
    if source.time_from == "record":
        parts.setdefault(schema.time, "timestamp")
    return {name: _made(part, schema.column(name).type) for name, part in parts.items()}


class RecordColumn(Sequence[Any]):
    """A column of records, made when a part of it is taken: of one record it may fail."""

    def __init__(self, records: Sequence[Message], made: Made) -> None:
        self._records, self._made = records, made

    def __len__(self) -> int:
        return len(self._records)

    def __getitem__(self, part: Any) -> Any:
        return self._made(self._records[part])


def _made(part: str, kind: ColumnType) -> Made:
    if part == "timestamp":
        return lambda records: pa.array([_timestamp(each) for each in records], _TIME)
    if part == "headers":
        are_texts = header_value(kind) == STRING
        return lambda records: [_headers(each, are_texts) for each in records]
    if part == "key":
        return _keys if kind == BINARY else _text_keys
    if part == "topic":
        return lambda records: [each.topic() for each in records]
    if part == "partition":
        return lambda records: _numbers([each.partition() for each in records])
    return lambda records: _numbers([each.offset() for each in records])


def _keys(records: Sequence[Message]) -> list[bytes | None]:
    return [_bytes(each.key()) for each in records]


def _text_keys(records: Sequence[Message]) -> pa.Array:
    texts = [None if key is None else key.decode() for key in _keys(records)]
    return pa.array(texts, pa.string())


def _bytes(given: str | bytes | None) -> bytes | None:
    return given.encode() if isinstance(given, str) else given


def _numbers(given: list[int | None]) -> pa.Array:
    return pa.array(given, pa.int64())


def _timestamp(record: Message) -> int | None:
    kind, time_ms = record.timestamp()
    return None if kind == _NO_TIMESTAMP else time_ms


def _headers(record: Message, are_texts: bool) -> list[tuple[str, Any]]:
    """Headers as a map. A name that comes again counts with its last value, as clients read it."""
    found: dict[str, Any] = {}
    headers = record.headers() or []
    for name, value in headers.items() if isinstance(headers, dict) else headers:
        found.pop(name, None)
        found[name] = value.decode() if are_texts and isinstance(value, bytes) else value
    return list(found.items())


def check_record_columns(schema: StreamSchema, source: KafkaSource) -> None:
    """Refuses columns that the stream does not have, and types that a part cannot have."""
    known = {column.name: column.type for column in schema.columns}
    for name, part in source.from_record.items():
        if name not in known:
            raise BindingError(
                "WB489",
                f"from_record names {name!r}, but stream {schema.name!r} has no such column",
                hint=f"its columns are {', '.join(known)}",
                place=source.place,
            )
        if part == "headers" and header_value(known[name]) is None:
            raise BindingError(
                "WB489",
                f"column {name!r} is {known[name]}, which headers cannot be",
                hint="declare it as MAP<STRING, STRING> or MAP<STRING, BINARY>",
                place=source.place,
            )


def header_value(kind: ColumnType) -> ColumnType | None:
    """The type of the values of a map from texts to texts or bytes; None for any other type."""
    parts = [part for _, part in kind.parts]
    if kind.name != "MAP" or len(parts) != 2 or parts[0] != STRING:
        return None
    return parts[1] if parts[1] in (STRING, BINARY) else None
