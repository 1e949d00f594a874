"""Values of messages as rows: those of a batch are those of its values, taken one by one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windrow.connectors.values.formats import Values, value_format
from windrow.connectors.values.messages import Messages, rows_of_messages
from windrow.errors import DataError
from windrow.rows.file_rows import FileRows
from windrow.schema import StreamSchema, columns_of

SCHEMA = StreamSchema("s", columns_of("ts timestamp, x int, k string"), "ts")
TIME = "2026-01-01T00:00:00Z"


def read(
    values: Sequence[bytes | None],
    format_: str = "json",
    schema: StreamSchema = SCHEMA,
    delimiter: str = ",",
) -> FileRows:
    described = Values(format_, schema, schema.columns, "a test", delimiter)
    messages = Messages(values, ["here"] * len(values), range(len(values)))
    return rows_of_messages(schema, messages, value_format(described), None)


def told(rows: FileRows) -> tuple[list[Any], list[int | None]]:
    return rows.batch.to_pylist(), [bad.line for bad in rows.bad]


odd = st.sampled_from(
    [
        None,
        b"",
        b" ",
        b"null",
        b"{}{}",
        b"[]",
        b"1",
        b"{",
        b'{"ts": "2026-01-01"} x',
        b'{"x": "no"}',
        b'{"k": "a\nb", "x": 1}',
        b'{"k": "\xff", "x": 1}',
        b'{"ts": "then", "x": 1}',
        b'{"x": 1.5}',
        b'{"x": 1} {"x": 2}',
    ]
)
fields = st.fixed_dictionaries(
    {},
    optional={
        "ts": st.just(TIME) | st.none(),
        "x": st.integers(-(2**31), 2**31 - 1) | st.none(),
        "k": st.text(max_size=5) | st.none(),
        "other": st.integers(),
    },
)
objects = st.builds(
    lambda row, indent: json.dumps(row, indent=indent).encode(), fields, st.none() | st.just(1)
)


@given(st.lists(objects | odd, max_size=30))
def test_a_batch_of_json_is_its_values_one_by_one(values: list[bytes | None]) -> None:
    singly = [read([value]) for value in values]
    expected = [row for each in singly for row in each.batch.to_pylist()]
    bad = [number for number, each in enumerate(singly) if each.bad]
    assert told(read(values)) == (expected, bad)
    assert len(expected) + len(bad) == len(values)


@given(st.lists(fields, max_size=10))
def test_json_says_what_python_reads(rows: list[dict[str, Any]]) -> None:
    found, bad = told(read([json.dumps(row).encode() for row in rows]))
    assert not bad
    for row, given_ in zip(found, rows, strict=True):
        assert row["x"] == given_.get("x")
        assert row["k"] == given_.get("k")
        assert row["ts"] == (datetime(2026, 1, 1, tzinfo=UTC) if given_.get("ts") else None)


records = st.sampled_from(
    [
        b"2026-01-01,1,a",
        b"2026-01-01,2,\r\n",
        b'2026-01-01,3,"a,b"',
        b'2026-01-01,4,"a\nb"',
        b'2026-01-01,5,a"b"c',
        b'2026-01-01,6,"',
        b'2026-01-01,7,a"b,"c',
        b"2026-01-01,8,a\n2026-01-01,9,b",
        b"2026-01-01,10",
        b"2026-01-01,no,a",
        b"2026-01-01,11,\xff",
        b"",
        b"\n",
        None,
    ]
)


@given(st.lists(records, max_size=20))
def test_a_batch_of_csv_is_its_values_one_by_one(values: list[bytes | None]) -> None:
    singly = [read([value], "csv") for value in values]
    expected = [row for each in singly for row in each.batch.to_pylist()]
    bad = [number for number, each in enumerate(singly) if each.bad]
    assert told(read(values, "csv")) == (expected, bad)
    assert len(expected) + len(bad) == len(values)


def test_what_is_wrong_with_csv_is_told() -> None:
    rows = read([b'2026-01-01;"a', b"a\nb", b"", b"2026-01-01;no;a"], "csv", delimiter=";")
    assert [(bad.column, bad.why) for bad in rows.bad] == [
        (None, "a quote is not closed"),
        (None, "it is more than one record"),
        (None, "it is empty"),
        ("x", "'no' is not INT"),
    ]


def test_bad_values_are_set_aside_unless_the_stream_says_fail() -> None:
    values = [b'{"x": 1}', b"none", b'{"x": "no"}']
    for policy in ("auto", "set aside"):
        schema = StreamSchema("s", SCHEMA.columns, "ts", on_bad_row=policy)
        rows = read(values, schema=schema)
        assert rows.batch.column("x").to_pylist() == [1]
        assert [(bad.file, bad.line, bad.column) for bad in rows.bad] == [
            ("here", 1, None),
            ("here", 2, "x"),
        ]
    with pytest.raises(DataError, match=r"WD870.*here, record 1: it is not JSON"):
        read(values, schema=StreamSchema("s", SCHEMA.columns, "ts", on_bad_row="fail"))
