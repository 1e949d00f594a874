"""JSON values with the number of their schema before them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from windrow.connectors.values.drift import Learnt, check_fields, drifted
from windrow.connectors.values.registry import Registry
from windrow.connectors.values.text_values import JsonValues
from windrow.connectors.values.wire import split_value
from windrow.errors import Place
from windrow.schema import Column, StreamSchema

__all__ = ["ConfluentJsonValues"]


class ConfluentJsonValues:
    """Objects of JSON, each behind a number; whether they are as their schema says, is not asked.

    A schema that lacks a column is refused. One that names no properties says nothing of them.
    """

    def __init__(
        self,
        schema: StreamSchema,
        columns: Sequence[Column],
        registry: Registry,
        shown: str,
        place: Place | None,
    ) -> None:
        self._json = JsonValues(schema, columns)
        self._columns, self._registry = columns, registry
        self._shown, self._place = shown, place
        self._known = Learnt(self._checked)

    def parsed(self, values: Sequence[bytes]) -> Mapping[str, Any]:
        """Columns of the objects."""
        return self._json.parsed([self._body(value) for value in values])

    def fault(self, value: bytes) -> tuple[str | None, str]:
        """What is wrong with a value."""
        try:
            return self._json.fault(self._body(value))
        except ValueError as problem:
            return None, str(problem)

    def _body(self, value: bytes) -> bytes:
        number, body = split_value(value)
        assert self._known[number]
        return body

    def _checked(self, number: int) -> bool:
        found = self._registry.schema(number)
        shown = f"schema {number} of the registry, of {self._shown},"
        if found.kind != "JSON":
            raise drifted(f"{shown} is {found.kind} and not JSON", self._place)
        told = json.loads(found.text)
        properties = told.get("properties") if isinstance(told, dict) else None
        if isinstance(properties, dict):
            check_fields(self._columns, properties, shown, self._place)
        return True
