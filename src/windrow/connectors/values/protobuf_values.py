"""Values of Protobuf as rows, by the descriptors that a schema registry has of them.

The registry is asked for descriptors and not for texts, so that no compiler is needed here.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from datetime import UTC
from typing import Any

from google.protobuf import (
    any_pb2,
    descriptor_pb2,
    descriptor_pool,
    duration_pb2,
    empty_pb2,
    message_factory,
    struct_pb2,
    timestamp_pb2,
    wrappers_pb2,
)
from google.protobuf.descriptor import Descriptor, FieldDescriptor, FileDescriptor
from google.protobuf.message import DecodeError, Message

from windrow.connectors.values.drift import Learnt, check_fields, drifted
from windrow.connectors.values.registry import Registry
from windrow.connectors.values.wire import split_value
from windrow.errors import Place
from windrow.schema import Column

__all__ = ["ProtobufValues"]

_TIMESTAMP = "google.protobuf.Timestamp"
_DURATION = "google.protobuf.Duration"
_WRAPPERS = "google/protobuf/wrappers.proto"
_LONGEST_VARINT = 10
# What every schema may refer to.
_KNOWN = (any_pb2, duration_pb2, empty_pb2, struct_pb2, timestamp_pb2, wrappers_pb2)

Made = tuple[type[Message], Descriptor]


class ProtobufValues:
    """Messages behind the number of their schema and their place in it."""

    def __init__(
        self, columns: Sequence[Column], registry: Registry, shown: str, place: Place | None
    ) -> None:
        self._columns, self._registry = columns, registry
        self._names = [column.name for column in columns]
        self._shown, self._place = shown, place
        self._files = Learnt(self._file)
        self._made = Learnt(self._learnt)

    def parsed(self, values: Sequence[bytes]) -> Mapping[str, Any]:
        """Columns of the messages."""
        rows = [self._decoded(value) for value in values]
        return {
            name: [_field(row, kind.fields_by_name[name]) for row, kind in rows]
            for name in self._names
        }

    def fault(self, value: bytes) -> tuple[str | None, str]:
        """What is wrong with a value."""
        try:
            self._decoded(value)
        except ValueError as problem:
            return None, str(problem)
        return None, ""

    def _decoded(self, value: bytes) -> tuple[Message, Descriptor]:
        number, body = split_value(value)
        path, start = _path(body)
        made = self._made[number, path]
        message = made[0]()
        try:
            message.ParseFromString(body[start:])
        except DecodeError as problem:
            raise ValueError(f"it is not Protobuf of its schema: {problem}") from None
        return message, made[1]

    def _learnt(self, key: tuple[int, tuple[int, ...]]) -> Made:
        number, path = key
        kind = _message_at(self._files[number], path)
        check_fields(self._columns, kind.fields_by_name, self._of(number), self._place)
        return message_factory.GetMessageClass(kind), kind

    def _of(self, number: int) -> str:
        return f"schema {number} of the registry, of {self._shown},"

    def _file(self, number: int) -> FileDescriptor:
        shown = self._of(number)
        found = self._registry.schema(number, "serialized")
        if found.kind != "PROTOBUF":
            raise drifted(f"{shown} is {found.kind} and not Protobuf", self._place)
        pool = descriptor_pool.DescriptorPool()
        for known in _KNOWN:
            pool.AddSerializedFile(known.DESCRIPTOR.serialized_pb)
        try:
            for name, text in found.references:
                _add(pool, text, name)
            return pool.FindFileByName(_add(pool, found.text, f"schema-{number}.proto"))
        except (binascii.Error, DecodeError, KeyError, TypeError) as problem:
            raise drifted(f"{shown} is no descriptor: {problem}", self._place) from None


def _add(pool: descriptor_pool.DescriptorPool, text: str, name: str) -> str:
    file = descriptor_pb2.FileDescriptorProto.FromString(base64.b64decode(text, validate=True))
    file.name = name
    pool.AddSerializedFile(file.SerializeToString())
    return name


def _path(body: bytes) -> tuple[tuple[int, ...], int]:
    """Which message of the schema it is: places in it, outermost first; and where that ends."""
    count, at = _varint(body, 0)
    if count == 0:
        return (0,), at
    places = []
    for _ in range(min(count, len(body))):
        place, at = _varint(body, at)
        places.append(place)
    return tuple(places), at


def _varint(body: bytes, at: int) -> tuple[int, int]:
    """A number in zigzag at a place, and the place behind it."""
    number = 0
    for step, byte in enumerate(body[at : at + _LONGEST_VARINT]):
        number |= (byte & 0x7F) << (7 * step)
        if byte < 0x80:
            return (number >> 1) ^ -(number & 1), at + step + 1
    raise ValueError("it does not say which message of its schema it is")


def _message_at(file: FileDescriptor, path: tuple[int, ...]) -> Descriptor:
    kinds = list(file.message_types_by_name.values())
    found: Descriptor | None = None
    for place in path:
        if not 0 <= place < len(kinds):
            raise ValueError(f"its schema has no message {path}")
        found = kinds[place]
        kinds = list(found.nested_types)
    assert found is not None
    return found


def _field(message: Message, field: FieldDescriptor) -> Any:
    """A field as a Python value; None where it can be absent, and is."""
    if _is_repeated(field):
        return _repeated(message, field)
    if field.has_presence and not message.HasField(field.name):
        return None
    return _value(getattr(message, field.name), field)


def _is_repeated(field: FieldDescriptor) -> bool:
    return bool(field.is_repeated)


def _repeated(message: Message, field: FieldDescriptor) -> Any:
    given = getattr(message, field.name)
    kind = field.message_type
    if kind is not None and kind.GetOptions().map_entry:
        value = kind.fields_by_name["value"]
        return {key: _value(given[key], value) for key in given}
    return [_value(each, field) for each in given]


def _value(given: Any, field: FieldDescriptor) -> Any:
    if field.enum_type is not None:
        named = field.enum_type.values_by_number.get(given)
        return str(given) if named is None else named.name
    kind = field.message_type
    if kind is None:
        return given
    if kind.full_name == _TIMESTAMP:
        return given.ToDatetime(UTC)
    if kind.full_name == _DURATION:
        return given.ToTimedelta()
    if kind.file.name == _WRAPPERS:
        return given.value
    return {each.name: _field(given, each) for each in kind.fields}
