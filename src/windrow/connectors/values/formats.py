"""The formats of values, by the names that sources of messages have for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from windrow.connectors.values.messages import ValueFormat
from windrow.connectors.values.text_values import CsvValues, JsonValues
from windrow.errors import Place
from windrow.schema import Column, StreamSchema

__all__ = ["Values", "value_format"]


@dataclass(frozen=True)
class Values:
    """What the values of a source are: shown, where its errors name it; columns: theirs."""

    format: str
    schema: StreamSchema
    columns: Sequence[Column]
    shown: str
    delimiter: str = ","
    avro_schema: str | None = None
    registry: str | None = None
    place: Place | None = None


def value_format(values: Values) -> ValueFormat:
    """How they are read."""
    if values.format == "csv":
        return CsvValues(values.schema, values.columns, values.delimiter)
    return JsonValues(values.schema, values.columns)
