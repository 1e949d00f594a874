"""Arrow batches of one row, read from messages as scalars say, in memory that is used again."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from windrow.rows import one_row_batches
from windrow.rows.one_row_batches import OneRowBatches
from windrow.rows.row_reader import values_reader
from windrow.schema import StreamSchema, columns_of

STREAM = StreamSchema("s", columns_of("ts timestamp, k smallint, v double"), "ts")
OTHER = pa.schema([("ts", pa.int64()), ("k", pa.int16()), ("v", pa.float64())])
FIRST_US = 1_767_225_600_000_000

times = st.integers(FIRST_US, FIRST_US + 10**9) | st.sampled_from([None, 0, -1])
rows = st.tuples(times, st.none() | st.integers(-5, 5), st.none() | st.floats())
kinds = st.sampled_from(["one", "one", "one", "two", "other"])
pushes = st.lists(st.tuples(kinds, rows), max_size=12)


@pytest.fixture(autouse=True)
def _few_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(one_row_batches, "MESSAGES", 3)


def _reader() -> OneRowBatches:
    return OneRowBatches(STREAM, values_reader(STREAM))


def _batch(row: tuple[Any, ...], schema: pa.Schema = STREAM.arrow, many: int = 1) -> pa.RecordBatch:
    return pa.record_batch([[value] * many for value in row], schema=schema)


@given(pushes)
def test_messages_are_what_scalars_are(given_rows: list[tuple[str, tuple[Any, ...]]]) -> None:
    reader = _reader()
    for kind, row in given_rows:
        if kind == "one":
            batch = _batch(row)
            slow = reader._scalars.values(batch)
            assert repr(reader.values(batch)) == repr(slow)
        elif kind == "two":
            assert reader.values(_batch(row, many=2)) is None
        else:
            assert reader.values(_batch(row, OTHER)) is None


def test_rows_without_null_are_read_from_messages_round_after_round() -> None:
    reader = _reader()
    reader._scalars = None  # type: ignore[assignment]  # nobody may read by them
    for number in range(20):
        row = (FIRST_US + number, number, number / 2)
        assert reader.values(_batch(row)) == row


@pytest.mark.parametrize("is_written", [False, True])
@pytest.mark.parametrize("before", range(8))
def test_no_row_of_before_is_read_after_a_write_that_broke_off(
    before: int, is_written: bool
) -> None:
    reader = _reader()
    for number in range(before):
        reader.values(_batch((FIRST_US + number, 1, 0.5)))
    if reader._next == reader._end:
        reader._next = reader._begin()
    write = reader._write

    def broken_off(batch: pa.RecordBatch) -> None:
        if is_written:
            write(batch)
        raise KeyboardInterrupt

    reader._write = broken_off
    with pytest.raises(KeyboardInterrupt):
        reader.values(_batch((FIRST_US, 2, 0.5)))
    reader._write = write
    for number in range(8):
        row = (FIRST_US + 100 + number, 3, 1.5)
        assert reader.values(_batch(row)) == row


def test_memory_that_was_not_begun_whole_is_begun_again(monkeypatch: pytest.MonkeyPatch) -> None:
    reader, row = _reader(), (FIRST_US, 1, 0.5)
    for _ in range(3):
        reader.values(_batch(row))
    new_stream = pa.ipc.new_stream

    def refused(*_: Any) -> None:
        raise MemoryError

    monkeypatch.setattr(pa.ipc, "new_stream", refused)
    with pytest.raises(MemoryError):
        reader.values(_batch(row))
    monkeypatch.setattr(pa.ipc, "new_stream", new_stream)
    assert reader.values(_batch((FIRST_US + 1, 2, 0.5))) == (FIRST_US + 1, 2, 0.5)
