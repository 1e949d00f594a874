"""Values with schemas: Avro, and what a registry knows of Avro, JSON and Protobuf."""

from __future__ import annotations

import base64
import io
import json
import struct
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import fastavro
import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, timestamp_pb2
from hypothesis import given
from hypothesis import strategies as st

from support.servers.schema_registry import SchemaRegistry, schema_registry
from windrow.connectors.live import TransientError
from windrow.connectors.values.formats import Values, value_format
from windrow.connectors.values.messages import Messages, ValueFormat, rows_of_messages
from windrow.connectors.values.registry import Registry
from windrow.errors import BindingError, DataError
from windrow.rows.file_rows import FileRows
from windrow.schema import StreamSchema, columns_of

SCHEMA = StreamSchema("s", columns_of("ts timestamp, x int, k string"), "ts")
TIME = datetime(2026, 1, 1, 12, 30, 0, 123456, tzinfo=UTC)
AVRO: dict[str, Any] = {
    "type": "record",
    "name": "reading",
    "fields": [
        {"name": "ts", "type": {"type": "long", "logicalType": "timestamp-micros"}},
        {"name": "x", "type": ["null", "int"]},
        {"name": "k", "type": "string"},
    ],
}
SPAN = (datetime(1970, 1, 2), datetime(2199, 1, 1))  # noqa: DTZ001 - they get a zone
ROW = {"ts": TIME, "x": 5, "k": "a"}


def avro(row: dict[str, Any], schema: Any = AVRO) -> bytes:
    data = io.BytesIO()
    fastavro.schemaless_writer(data, fastavro.parse_schema(schema), row)
    return data.getvalue()


def framed(number: int, body: bytes) -> bytes:
    return struct.pack(">bI", 0, number) + body


def made(
    format_: str,
    registry: SchemaRegistry | None = None,
    schema: StreamSchema = SCHEMA,
    **given: Any,
) -> ValueFormat:
    address = None if registry is None else registry.address
    return value_format(
        Values(format_, schema, schema.columns, "topic 't'", registry=address, **given)
    )


def read(
    format_: ValueFormat, values: Sequence[bytes | None], schema: StreamSchema = SCHEMA
) -> FileRows:
    messages = Messages(values, ["here"] * len(values), range(len(values)))
    return rows_of_messages(schema, messages, format_, None)


@pytest.fixture
def registry() -> Iterator[SchemaRegistry]:
    with schema_registry() as served:
        yield served


@given(
    st.lists(
        st.fixed_dictionaries(
            {
                "ts": st.datetimes(*SPAN, timezones=st.just(UTC)),
                "x": st.none() | st.integers(-(2**31), 2**31 - 1),
                "k": st.text(max_size=9),
            }
        ),
        max_size=9,
    )
)
def test_avro_says_what_was_written(rows: list[dict[str, Any]]) -> None:
    format_ = made("avro", avro_schema=json.dumps(AVRO))
    found = read(format_, [avro(row) for row in rows])
    assert found.batch.to_pylist() == rows
    assert not found.bad


def test_avro_of_many_types(tmp_path: Path) -> None:
    file = tmp_path / "schema.avsc"
    kinds: dict[str, Any] = {
        "ts": {"type": "long", "logicalType": "timestamp-millis"},
        "d": {"type": "int", "logicalType": "date"},
        "m": {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2},
        "a": {"type": "array", "items": "long"},
        "p": {"type": "map", "values": "double"},
        "b": "bytes",
        "f": "float",
    }
    schema = {
        "type": "record",
        "name": "r",
        "fields": [{"name": name, "type": kind} for name, kind in kinds.items()],
    }
    file.write_text(json.dumps(schema))
    stream = StreamSchema(
        "s",
        columns_of(
            "ts timestamp, d date, m decimal(9, 2), a array<bigint>, p map<string, double>, "
            "b binary, f double"
        ),
        "ts",
    )
    row = {
        "ts": TIME.replace(microsecond=123000),
        "d": TIME.date(),
        "m": Decimal("12.34"),
        "a": [1, 2],
        "p": {"q": 0.5},
        "b": b"\x00\xff",
        "f": 1.5,
    }
    found = read(made("avro", schema=stream, avro_schema=str(file)), [avro(row, schema)], stream)
    assert found.batch.to_pylist() == [{**row, "p": [("q", 0.5)]}]


def test_avro_that_is_damaged_is_set_aside() -> None:
    good = avro(ROW)
    format_ = made("avro", avro_schema=json.dumps(AVRO))
    found = read(format_, [good, good[:-1], good + b"!", b"", good])
    assert found.batch.num_rows == 2
    assert [bad.line for bad in found.bad] == [1, 2, 3]
    assert "1 bytes are left" in found.bad[1].why


def test_an_avro_schema_that_cannot_be(tmp_path: Path) -> None:
    with pytest.raises(BindingError, match="WB484"):
        made("avro", avro_schema=str(tmp_path / "none.avsc"))
    lacking = {**AVRO, "fields": AVRO["fields"][:2]}
    with pytest.raises(DataError, match=r"WD875.*no field 'k'; it has ts, x"):
        made("avro", avro_schema=json.dumps(lacking))
    with pytest.raises(DataError, match=r"WD875.*is no record"):
        made("avro", avro_schema='{"type": "map", "values": "int"}')


def test_each_schema_is_asked_for_once(registry: SchemaRegistry) -> None:
    wider = {**AVRO, "fields": [*AVRO["fields"], {"name": "more", "type": "int"}]}
    registry.put(7, json.dumps(AVRO))
    registry.put(8, json.dumps(wider))
    format_ = made("confluent-avro", registry)
    values = [framed(7, avro(ROW)), framed(8, avro({**ROW, "more": 1}, wider))] * 20
    assert read(format_, values).batch.to_pylist() == [ROW] * 40
    assert registry.asked == ["/schemas/ids/7", "/schemas/ids/8"]


def test_schemas_refer_to_others(registry: SchemaRegistry) -> None:
    inner = {"type": "record", "name": "inner", "fields": [{"name": "k", "type": "string"}]}
    outer = {**AVRO, "fields": [*AVRO["fields"], {"name": "deep", "type": "inner"}]}
    registry.put_subject("inner-value", 3, json.dumps(inner))
    reference = {"name": "inner", "subject": "inner-value", "version": 3}
    registry.put(9, json.dumps(outer), references=[reference])
    whole = {**AVRO, "fields": [*AVRO["fields"], {"name": "deep", "type": inner}]}
    value = framed(9, avro({**ROW, "deep": {"k": "b"}}, whole))
    assert read(made("confluent-avro", registry), [value]).batch.to_pylist() == [ROW]


def test_a_schema_that_drifts_is_named(registry: SchemaRegistry) -> None:
    lacking = {**AVRO, "fields": AVRO["fields"][:2]}
    registry.put(7, json.dumps(AVRO))
    registry.put(8, json.dumps(lacking))
    good, drifted = framed(7, avro(ROW)), framed(8, avro(ROW, lacking))
    with pytest.raises(DataError, match=r"WD875.*schema 8 .*topic 't', has no field 'k'"):
        read(made("confluent-avro", registry), [good, drifted])
    aside = StreamSchema("s", SCHEMA.columns, "ts", on_bad_row="set aside")
    found = read(made("confluent-avro", registry), [good, drifted, good], aside)
    assert found.batch.num_rows == 2
    assert "schema 8" in found.bad[0].why
    # Once for each reader, however many values there are.
    assert registry.asked.count("/schemas/ids/8") == 2


def test_json_with_a_schema(registry: SchemaRegistry) -> None:
    names = {"properties": {"ts": {}, "x": {}, "k": {}}}
    registry.put(1, json.dumps(names), "JSON")
    registry.put(2, "{}", "JSON")
    registry.put(3, json.dumps({"properties": {"ts": {}, "x": {}}}), "JSON")
    format_ = made("confluent-json", registry)
    body = json.dumps({**ROW, "ts": TIME.isoformat()}).encode()
    values = [framed(1, body), framed(2, body), body, b"\0", framed(1, b"{")]
    found = read(format_, values)
    assert found.batch.to_pylist() == [ROW] * 2
    assert [bad.line for bad in found.bad] == [2, 3, 4]
    assert "begin with a zero" in found.bad[0].why
    with pytest.raises(DataError, match=r"WD875.*schema 3"):
        read(format_, [framed(3, body)])
    registry.put(4, json.dumps(AVRO))
    with pytest.raises(DataError, match=r"WD875.*AVRO and not JSON"):
        read(format_, [framed(4, body)])


def test_a_registry_that_fails(registry: SchemaRegistry) -> None:
    format_ = made("confluent-avro", registry)
    with pytest.raises(DataError, match=r"WD874.*schema 5 .*it has none"):
        read(format_, [framed(5, avro(ROW))])
    registry.failing = 503
    with pytest.raises(TransientError, match="503"):
        read(format_, [framed(5, avro(ROW))])
    registry.failing = None
    registry.put(5, json.dumps(AVRO))
    assert read(format_, [framed(5, avro(ROW))]).batch.num_rows == 1
    registry.answers["/schemas/ids/6"] = ["odd"]
    with pytest.raises(DataError, match=r"WD874.*no schema"):
        read(format_, [framed(6, avro(ROW))])


def test_a_registry_that_is_not_there_or_wants_a_password() -> None:
    with pytest.raises(TransientError, match="refused"):
        Registry("http://127.0.0.1:1").schema(1)
    for wrong in ("localhost:8081", "file:///etc", "http://"):
        with pytest.raises(BindingError, match="WB874"):
            Registry(wrong)
    with schema_registry("me:s3cret") as served:
        served.put(1, json.dumps(AVRO))
        assert Registry(served.address).schema(1).kind == "AVRO"
        with pytest.raises(DataError, match=r"WD874.*401") as raised:
            Registry(served.address.replace("s3cret", "guess")).schema(1)
        assert "guess" not in str(raised.value)


def proto_file() -> descriptor_pb2.FileDescriptorProto:
    """What a compiler makes of a file with two messages, one within the other."""
    kinds = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name="reading.proto", package="t", syntax="proto3")
    file.dependency.append("google/protobuf/timestamp.proto")
    file.enum_type.add(name="Level").value.add(name="LOW", number=0)
    outer = file.message_type.add(name="Other")
    message = outer.nested_type.add(name="Reading")
    fields = (
        ("ts", kinds.TYPE_MESSAGE, ".google.protobuf.Timestamp", False),
        ("x", kinds.TYPE_INT32, "", True),
        ("k", kinds.TYPE_STRING, "", False),
        ("level", kinds.TYPE_ENUM, ".t.Level", False),
    )
    message.oneof_decl.add(name="_x")
    for number, (name, kind, type_name, is_optional) in enumerate(fields, 1):
        field = message.field.add(name=name, number=number, type=kind, label=kinds.LABEL_OPTIONAL)
        if type_name:
            field.type_name = type_name
        if is_optional:
            field.proto3_optional, field.oneof_index = True, 0
    tags = message.field.add(name="tags", number=5, type=kinds.TYPE_INT64)
    tags.label = kinds.LABEL_REPEATED
    return file


def test_protobuf_by_its_descriptor(registry: SchemaRegistry) -> None:
    file = proto_file()
    text = base64.b64encode(file.SerializeToString()).decode()
    registry.put(4, text, "PROTOBUF", form="serialized")
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(timestamp_pb2.DESCRIPTOR.serialized_pb)
    pool.Add(file)
    reading = message_factory.GetMessageClass(pool.FindMessageTypeByName("t.Other.Reading"))
    message = reading(x=5, k="a", tags=[1, 2])
    message.ts.FromDatetime(TIME)
    body = message.SerializeToString()
    path = b"\x04\x00\x00"  # two places, in zigzag: the first message, and the first within it
    columns = "ts timestamp, x int, k string, level string, tags array<bigint>"
    schema = StreamSchema("s", columns_of(columns), "ts")
    format_ = made("confluent-protobuf", registry, schema)
    none = reading(k="b").SerializeToString()
    values = [
        framed(4, path + body),
        framed(4, path + none),
        framed(4, b""),
        framed(4, path + b"\x0a"),
    ]
    found = read(format_, values, schema)
    assert found.batch.to_pylist() == [
        {**ROW, "level": "LOW", "tags": [1, 2]},
        {"ts": None, "x": None, "k": "b", "level": "LOW", "tags": []},
    ]
    assert [bad.line for bad in found.bad] == [2, 3]
    with pytest.raises(DataError, match=r"WD875.*no field 'ts'"):
        read(format_, [framed(4, b"\x00" + body)], schema)
    assert registry.asked == ["/schemas/ids/4?format=serialized"]
