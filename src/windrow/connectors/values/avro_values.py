"""Avro values as rows: with one schema for all of them, or with the number of each before it."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import fastavro

from windrow.connectors.values.drift import Learnt, check_fields, drifted
from windrow.connectors.values.registry import RegisteredSchema, Registry
from windrow.connectors.values.wire import split_value
from windrow.errors import BindingError, Place
from windrow.schema import Column

__all__ = ["AvroValues", "avro_schema_text"]

Decoded = Callable[[bytes], dict[str, Any]]


class AvroValues:
    """Records of Avro; is_framed: with the number of a schema before each.

    Without a registry all of them were written with the schema that is given, whatever the number.
    """

    def __init__(
        self,
        columns: Sequence[Column],
        shown: str,
        place: Place | None,
        *,
        text: str | None,
        registry: Registry | None,
        is_framed: bool,
    ) -> None:
        self._columns, self._shown, self._place = columns, shown, place
        self._names = [column.name for column in columns]
        self._registry, self._is_framed = registry, is_framed
        self._by_number = Learnt(self._learnt)
        self._all: Decoded | None = None
        if text is not None:
            self._all = self._decoder(json.loads(text), f"the Avro schema of {shown}")

    def parsed(self, values: Sequence[bytes]) -> Mapping[str, Any]:
        """Columns of the records."""
        rows = [self._decoded(value) for value in values]
        return {name: [row[name] for row in rows] for name in self._names}

    def fault(self, value: bytes) -> tuple[str | None, str]:
        """What is wrong with a value."""
        try:
            self._decoded(value)
        except (ValueError, OverflowError) as problem:
            return None, str(problem)
        return None, ""

    def _decoded(self, value: bytes) -> dict[str, Any]:
        decoder = self._all
        if self._is_framed:
            number, value = split_value(value)
            if decoder is None:
                decoder = self._by_number[number]
        assert decoder is not None
        return decoder(value)

    def _learnt(self, number: int) -> Decoded:
        assert self._registry is not None
        found = self._registry.schema(number)
        shown = f"schema {number} of the registry, of {self._shown},"
        if found.kind != "AVRO":
            raise drifted(f"{shown} is {found.kind} and not Avro", self._place)
        return self._decoder(_with_references(found), shown)

    def _decoder(self, schema: Any, shown: str) -> Decoded:
        parsed = fastavro.parse_schema(schema)
        if not isinstance(parsed, dict) or parsed.get("type") != "record":
            raise drifted(f"{shown} is no record", self._place)
        check_fields(self._columns, [each["name"] for each in parsed["fields"]], shown, self._place)

        def decoded(value: bytes) -> dict[str, Any]:
            data = io.BytesIO(value)
            try:
                row = fastavro.schemaless_reader(data, parsed, None)
            except (EOFError, IndexError, KeyError, TypeError) as problem:
                raise ValueError(f"it is not Avro of its schema: {problem!r}") from None
            if data.tell() < len(value):
                raise ValueError(f"{len(value) - data.tell()} bytes are left behind its record")
            assert isinstance(row, dict)
            return row

        return decoded


def _with_references(found: RegisteredSchema) -> Any:
    """The schema, with those that it names read before it."""
    names: dict[str, Any] = {}
    for _, text in found.references:
        fastavro.parse_schema(json.loads(text), named_schemas=names)
    return fastavro.parse_schema(json.loads(found.text), named_schemas=names)


def avro_schema_text(given: str, shown: str, place: Place | None) -> str:
    """The JSON text of a schema: as it is given, or of the file that is."""
    try:
        text = given if given.lstrip().startswith("{") else Path(given).read_text("utf-8")
        json.loads(text)
    except (OSError, ValueError) as problem:
        raise BindingError(
            "WB484",
            f"the Avro schema of {shown} cannot be read: {problem}",
            hint="give avro_schema the JSON text of a record's schema, or the path of its file",
            place=place,
        ) from None
    return text
