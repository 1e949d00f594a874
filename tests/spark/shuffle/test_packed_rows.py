"""Packed rows against the batches that they were cut from; notes against what they say."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from windrow.errors import CheckpointError
from windrow.rows.weighted_rows import WEIGHT, with_weights
from windrow.spark.shuffle.packed_rows import (
    NARROWED_FROM_ROWS,
    BucketRows,
    PackedRows,
    joined_rows,
    pack_rows,
    packed_by_bucket,
)
from windrow.spark.shuffle.packets import Packet
from windrow.spark.shuffle.routing import rows_by_bucket

SCHEMA = pa.schema([("ts", pa.timestamp("us", "UTC")), ("k0", pa.int64()), ("v0", pa.float64())])
TEXTS = pa.schema([("ts", pa.timestamp("us", "UTC")), ("k0", pa.string()), ("v0", pa.bool_())])

PLAIN = st.tuples(st.integers(0, 99), st.integers(-9, 9), st.floats(width=16))
WITH_NULLS = st.tuples(st.integers(0, 99), st.none() | st.integers(-9, 9), st.floats(width=16))
OTHERS = st.tuples(st.integers(0, 99), st.none() | st.text(max_size=3), st.booleans())


def batch_of(schema: pa.Schema, rows: list[tuple[object, ...]]) -> pa.RecordBatch:
    columns = list(zip(*rows, strict=True)) or [()] * len(schema)
    arrays = [pa.array(each, kind) for each, kind in zip(columns, schema.types, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def through_bytes(packed: PackedRows) -> PackedRows:
    """As another process gets it."""
    return Packet.from_bytes(Packet("s", rows=[packed]).to_bytes()).rows[0]


@given(
    st.sampled_from([(SCHEMA, PLAIN), (SCHEMA, WITH_NULLS), (TEXTS, OTHERS)]).flatmap(
        lambda kind: st.tuples(st.just(kind[0]), st.lists(st.lists(kind[1]), max_size=4))
    ),
    st.integers(1, 5),
    st.integers(0, 2),
)
def test_buckets_get_their_rows_in_order(
    given_rows: tuple[pa.Schema, list[list[tuple[object, ...]]]], buckets: int, cut: int
) -> None:
    schema, batches = given_rows
    wanted, found = defaultdict(list), defaultdict(list)
    for number, rows in enumerate(batches):
        # A slice, so that columns do not begin where their memory does.
        batch = batch_of(schema, rows).slice(min(cut, len(rows)))
        owners = np.arange(batch.num_rows) * 7 % 11 % buckets
        if number % 2 == 1:
            batch = with_weights(batch)
        parts = rows_by_bucket(batch, owners, buckets)
        for bucket, packed in packed_by_bucket(3, parts):
            found[bucket].append(through_bytes(packed))
        for row, owner in zip(with_weights(batch).to_pylist(), owners.tolist(), strict=True):
            wanted[owner].append(row)
    assert found.keys() == wanted.keys()
    for bucket, parts in found.items():
        joined = joined_rows(schema, parts)
        assert joined.schema.names[:3] == schema.names
        assert repr(with_weights(joined).to_pylist()) == repr(wanted[bucket])


def test_a_bucket_without_rows_gets_none() -> None:
    rows = batch_of(SCHEMA, [(1, 1, 1.0), (2, 2, 2.0)])
    parts = BucketRows.all_in_first(rows, 3)
    assert [each.num_rows for each in parts] == [2, 0, 0]
    assert [bucket for bucket, _ in packed_by_bucket(0, parts)] == [0]


@given(
    st.lists(
        st.tuples(st.integers(-(2**63), 2**63 - 1), st.sampled_from([1, 250, 70_000, 2**33])),
        min_size=1,
        max_size=4,
    ),
    st.integers(1, 2**32),
)
def test_differences_are_the_same_values(kinds: list[tuple[int, int]], seed: int) -> None:
    """Parts of any range, in few bytes or in eight; some too short to be narrowed."""
    rng = np.random.default_rng(seed)
    schema = pa.schema([("ts", pa.timestamp("us", "UTC")), ("k0", pa.int64())])
    parts, wanted = [], []
    for low, span in kinds:
        high = min(low + span, 2**63)
        count = int(rng.integers(1, 3 * NARROWED_FROM_ROWS // 2))
        numbers = rng.integers(low, high, (2, count))
        columns = [
            pa.array(each).cast(kind) for each, kind in zip(numbers, schema.types, strict=True)
        ]
        batch = pa.RecordBatch.from_arrays(columns, schema=schema)
        parts.append(through_bytes(pack_rows(0, batch)))
        wanted.append(batch)
    assert joined_rows(schema, parts) == pa.concat_batches(wanted)


def test_values_of_a_small_range_take_few_bytes() -> None:
    numbers = [number % 200 for number in range(NARROWED_FROM_ROWS)]
    rows = [(number, number * 300, 1.0) for number in numbers]
    packed = pack_rows(0, batch_of(SCHEMA, rows))
    assert [len(each) for each in packed.sections] == [1_008, 2_008, 8_000]


def test_columns_of_numbers_are_not_copied_as_messages() -> None:
    rows = batch_of(SCHEMA, [(1, 1, 1.0), (2, 2, 2.0)])
    assert pack_rows(0, rows).is_plain
    assert [len(each) for each in pack_rows(0, rows).sections] == [16, 16, 16]
    weighted = with_weights(rows)
    assert pack_rows(0, weighted).is_weighted
    assert joined_rows(SCHEMA, [pack_rows(0, weighted)]).schema.names[-1] == WEIGHT


@given(st.text(max_size=9), *[st.none() | st.integers(-(2**61), 2**61)] * 3)
def test_a_note_says_how_far_a_stream_has_come(
    stream: str, oldest_us: int | None, newest_us: int | None, now_us: int | None
) -> None:
    packet = Packet(stream, 999, 3, now_us=now_us, newest_us=newest_us, oldest_us=oldest_us)
    data = packet.to_bytes()
    assert Packet.from_bytes(data) == packet
    assert len(data) == 40 + len(stream.encode())


def test_what_is_more_than_a_note_comes_back() -> None:
    packet = Packet("s", 1, clusters=[[1, 2, 3]], heavy=[[0, "k", 7]], rows_in=4)  # type: ignore[list-item]
    assert Packet.from_bytes(packet.to_bytes()) == packet


@pytest.mark.parametrize("place", [4, 9, 20, 39, 40])
def test_a_damaged_note_is_refused(place: int) -> None:
    data = bytearray(Packet("s", 1, newest_us=5).to_bytes())
    data[place] ^= 1
    with pytest.raises(CheckpointError, match=r"WC104.*the packet is damaged"):
        Packet.from_bytes(bytes(data))
    with pytest.raises(CheckpointError, match=r"WC104.*the packet is damaged"):
        Packet.from_bytes(bytes(data[:20]))
