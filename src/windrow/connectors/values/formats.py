"""The formats of values, by the names that sources of messages have for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from windrow.connectors.loading import loaded_with_client
from windrow.connectors.values.confluent_json import ConfluentJsonValues
from windrow.connectors.values.messages import ValueFormat
from windrow.connectors.values.registry import Registry
from windrow.connectors.values.text_values import CsvValues, JsonValues
from windrow.errors import Place
from windrow.schema import Column, StreamSchema

__all__ = ["Values", "value_format"]

EXTRA = "kafka"  # which brings the libraries of these formats


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
    if values.format == "json":
        return JsonValues(values.schema, values.columns)
    registry = None
    if values.registry is not None:
        registry = Registry(values.registry, values.place)
    return _with_schemas(values, registry)


def _with_schemas(values: Values, registry: Registry | None) -> ValueFormat:
    """Of values that are written with schemas."""
    about = (values.shown, values.place)
    if values.format in ("avro", "confluent-avro"):
        made = loaded_with_client("values.avro_values", "Avro", EXTRA)
        text = values.avro_schema
        if text is not None:
            text = made.avro_schema_text(text, *about)
        is_framed = values.format == "confluent-avro"
        given = {"text": text, "registry": registry, "is_framed": is_framed}
        return cast("ValueFormat", made.AvroValues(values.columns, *about, **given))
    assert registry is not None
    if values.format == "confluent-json":
        return ConfluentJsonValues(values.schema, values.columns, registry, *about)
    made = loaded_with_client("values.protobuf_values", "Protobuf", EXTRA)
    return cast("ValueFormat", made.ProtobufValues(values.columns, registry, *about))
