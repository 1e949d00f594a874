"""Bytes that nobody meant as rows: whatever they are, every row is counted and the rest goes on."""

from __future__ import annotations

import json
import os
from collections import Counter
from contextlib import suppress
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import windrow
from support import damaged_columns
from windrow.connectors.files.reading import batches_of
from windrow.errors import DataError
from windrow.schema import StreamSchema, columns_of
from windrow.sources import FileSource

COLUMNS = "ts timestamp, k string, x int"
START_US = 1_760_000_000_000_000
PARTS = ("applied", "late", "bad_time", "bad_value", "rejected", "waiting")

TEXTS = st.one_of(
    st.none(),
    st.text(max_size=6).filter(lambda text: not any("\ud800" <= c <= "\udfff" for c in text)).map(
        str.encode
    ),
    st.binary(max_size=6),
    st.sampled_from([b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"a\x00b"]),
)  # fmt: skip
# `make test-hard` tries all of them, CI some.
TRIED = 400 if os.environ.get("WINDROW_HARD") == "all" else 40
FILES = settings(
    max_examples=TRIED, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def decoded(data: bytes | None) -> str | None:
    return None if data is None else data.decode()


def is_utf8(data: bytes | None) -> bool:
    try:
        decoded(data)
    except UnicodeDecodeError:
        return False
    return True


def times(count: int, first: int) -> pa.Array:
    made = np.arange(first, first + count, dtype=np.int64) * 1_000 + START_US
    return pa.array(made).cast(pa.timestamp("us", "UTC"))


@given(st.lists(st.lists(TEXTS, max_size=8), max_size=5), st.booleans())
@settings(max_examples=TRIED, deadline=None)
def test_pushes_of_any_bytes_give_what_the_rows_that_are_texts_give(
    pushes: list[list[bytes | None]], encoded: bool
) -> None:
    session = windrow.connect()
    for stream in ("s", "other"):
        session.stream(stream, COLUMNS, time="ts")
    join = """SELECT s.k, COUNT(*) AS n FROM s [1 HOUR], other [1 HOUR] WHERE s.k = other.k
              GROUP BY s.k"""
    grouped, joined = (
        session.query("SELECT k, COUNT(*) AS n FROM s GROUP BY k"),
        session.query(join),
    )
    given_rows = 0
    for texts in pushes:
        column = damaged_columns.texts(texts)
        if encoded:
            column = column.dictionary_encode()
        for stream in ("s", "other"):
            rows = {"ts": times(len(texts), given_rows), "k": column, "x": [1] * len(texts)}
            session.push(stream, pa.table(rows))
        given_rows += len(texts)
    session.finish()
    good = Counter(decoded(text) for texts in pushes for text in texts if is_utf8(text))
    assert {row["k"]: row["n"] for row in grouped.result().to_pylist()} == dict(good)
    pairs = {key: count * count for key, count in good.items() if key is not None}
    assert {row["k"]: row["n"] for row in joined.result().to_pylist()} == pairs
    for row in session.ledger().to_pylist():
        assert row["rows_in"] == given_rows == sum(row[part] for part in PARTS)
        assert row["bad_value"] == given_rows - good.total()


@given(
    st.lists(st.integers(-5, 40), min_size=2, max_size=6),
    st.lists(st.integers(-3, 5), min_size=1, max_size=5),
)
@settings(max_examples=TRIED, deadline=None)
def test_offsets_and_indices_of_any_value_are_refused_or_right(
    offsets: list[int], indices: list[int]
) -> None:
    words = pa.array(["a", "b", "c"])
    columns = [pa.DictionaryArray.from_arrays(pa.array(indices, pa.int8()), words, safe=False)]
    buffers = [None, pa.py_buffer(np.array(offsets, np.int32)), pa.py_buffer(b"x" * 20)]
    with suppress(pa.ArrowInvalid):  # it is not even made
        columns.append(pa.Array.from_buffers(pa.string(), len(offsets) - 1, buffers))
    for column in columns:
        session = windrow.connect()
        session.stream("s", COLUMNS, time="ts")
        count = session.query("SELECT COUNT(k) AS n FROM s")
        rows = {"ts": times(len(column), 0), "k": column, "x": [1] * len(column)}
        with suppress(DataError):
            session.push("s", pa.table(rows))
        session.push("s", {"ts": "2026-01-01", "k": "a", "x": 1})
        session.finish()
        (row,) = session.ledger().to_pylist()
        assert row["rows_in"] == len(column) + 1 == sum(row[part] for part in PARTS)
        assert count.result()["n"].to_pylist() == [row["applied"]]


def read(file: Path, policy: str) -> tuple[int, int]:
    stream = StreamSchema("s", columns_of(COLUMNS), "ts", on_bad_row=policy)
    good = bad = 0
    for rows, _ in batches_of(stream, FileSource(file.suffix[1:], str(file), header=False)):
        rows.batch.validate(full=True)
        good, bad = good + rows.batch.num_rows, bad + len(rows.bad)
    return good, bad


GOOD_CSV = b"2026-01-01 00:00:00,a,1"
GOOD_JSON = b'{"ts": "2026-01-01 00:00:00", "k": "a", "x": 1}'
STRANGE = st.one_of(
    st.binary(max_size=12),
    st.sampled_from([
        b"null", b" null ", b"null null", b"[]", b"{}", b'"', b'"a', b",,", b",,,",
        b"\xff,\xff,\xff",
        b'{"x": 1e999}', b'{"k": "\\ud800"}', b'{"x": null}', b"nul", b"\x00", b"\xef\xbb\xbf",
        b'{"ts": {"a": [null]}}', b"9" * 400, b'{"x":' * 60, b"\r", b"2026-01-01,a,99999999999",
    ]),
)  # fmt: skip


@given(st.lists(st.one_of(st.none(), STRANGE), max_size=12), st.sampled_from(["csv", "jsonl"]))
@FILES
def test_files_of_any_bytes_are_read_to_their_end(
    tmp_path: Path, lines: list[bytes | None], kind: str
) -> None:
    sound = GOOD_CSV if kind == "csv" else GOOD_JSON
    # A quote that is not closed makes one row of those that follow.
    strange = [None if line is not None and b'"' in line and kind == "csv" else line
               for line in lines]  # fmt: skip
    file = tmp_path / f"s.{kind}"
    file.write_bytes(b"".join((sound if line is None else line) + b"\n" for line in strange))
    good, bad = read(file, "set aside")
    assert good >= sum(line is None for line in strange)
    assert bad <= sum(line.count(b"\n") + line.count(b"\r") + 1 for line in strange if line)
    if bad:
        with pytest.raises(DataError, match="WD506"):
            read(file, "fail")
    else:
        assert read(file, "fail") == (good, 0)


@given(st.lists(TEXTS, min_size=1, max_size=20))
@FILES
def test_parquet_files_with_any_bytes_are_read_to_their_end(
    tmp_path: Path, texts: list[bytes | None]
) -> None:
    file = tmp_path / "s.parquet"
    numbers = pa.array([1] * len(texts), pa.int32())
    pq.write_table(
        pa.table({"ts": times(len(texts), 0), "k": damaged_columns.texts(texts), "x": numbers}),
        file,
    )
    damaged = sum(not is_utf8(text) for text in texts)
    assert read(file, "auto") == (len(texts) - damaged, damaged)


@pytest.mark.parametrize("first", ["null", "null\n", " null\t\n", 'null {"x": 1}\n', "\n\nnull\n"])
def test_a_file_that_begins_with_null_does_not_end_the_process(tmp_path: Path, first: str) -> None:
    file = tmp_path / "s.jsonl"
    rows = [json.dumps({"ts": "2026-01-01", "k": "a", "x": n}) for n in range(3)]
    file.write_text(first + "\n".join(rows) if first.endswith("\n") else first)
    good, _ = read(file, "set aside")
    assert good >= (3 if first.endswith("\n") else 1)
