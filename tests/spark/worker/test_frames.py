from __future__ import annotations

import struct

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.spark.driven_job import DictionaryState
from windrow.errors import CheckpointError
from windrow.rows.frames import read_frame, table_bytes, table_of, write_frame
from windrow.runtime.ledger import Ledger
from windrow.spark.shuffle.event_times import pack_times, unpack_times
from windrow.spark.shuffle.packed_rows import joined_rows, pack_rows
from windrow.spark.shuffle.packets import Packet
from windrow.spark.shuffle.window_limits import WidthOrder, WindowLimits
from windrow.spark.worker import segment_store
from windrow.spark.worker.bucket_header import HISTORY, SHARD, BucketHeader, SegmentEntry
from windrow.spark.worker.segment_store import SegmentStore
from windrow.spark.worker.segments import Segment
from windrow.windows.lifetime import Lifetime


@given(st.lists(st.binary(max_size=40), max_size=5))
def test_a_frame_gives_back_its_header_and_sections(sections: list[bytes]) -> None:
    header, read = read_frame("frame", write_frame("frame", {"name": "ü"}, sections))
    assert header == {"name": "ü"}
    assert [bytes(section) for section in read] == sections


@given(st.integers(0, 200), st.integers(1, 255))
def test_a_changed_byte_anywhere_is_seen(place: int, change: int) -> None:
    data = bytearray(write_frame("frame", {"n": 1}, [b"0123456789", b"abc"]))
    data[place % len(data)] ^= change
    with pytest.raises(CheckpointError):
        read_frame("frame", bytes(data))


@pytest.mark.parametrize(("length", "code"), [(0, "WC101"), (10, "WC101"), (30, "WC104")])
def test_a_cut_frame_is_refused(length: int, code: str) -> None:
    with pytest.raises(CheckpointError, match=code):
        read_frame("frame", write_frame("frame", {"n": 1}, [b"0123456789"])[:length])


def test_a_frame_of_another_format_is_refused() -> None:
    data = bytearray(write_frame("frame", {}))
    data[4] = 99
    with pytest.raises(CheckpointError, match=r"WC103.*the packet was written in format 99"):
        read_frame("frame", bytes(data), "packet")


# The two layouts of format 1: of packets and segments, and of tables.
@pytest.mark.parametrize("layout", ["<4sIII", "<4sHI"])
def test_a_frame_of_the_format_before_is_refused(layout: str) -> None:
    given = [0, 1, 2] if layout == "<4sIII" else [1, 0]
    data = struct.pack(layout, b"WNDR", *given) + b'{"sections":[]}  '
    with pytest.raises(CheckpointError, match=r"WC103.*format 1, this version .* reads 2"):
        read_frame("frame", data)


def test_a_frame_of_another_kind_is_refused() -> None:
    with pytest.raises(CheckpointError, match=r"WC107.*is a packet, not a segment"):
        read_frame("segment", write_frame("packet", {}))


@given(st.lists(st.integers(-(2**62), 2**62), max_size=50))
def test_times_come_back(times: list[int]) -> None:
    ordered = np.sort(np.array(times, dtype=np.int64))
    assert unpack_times(pack_times(ordered)).tolist() == ordered.tolist()


def test_busy_times_take_two_bytes_a_row() -> None:
    times = np.arange(1_000, dtype=np.int64) * 1_000 + 1_700_000_000_000_000
    assert len(pack_times(times)) < 2_100


def test_a_packet_comes_back_whole() -> None:
    rows = pa.record_batch({"ts": [1, 2]})
    packet = Packet("s", 3, 1, 5, 1, 2, newest_us=2, oldest_us=1, times=b"times", unplaced=b"x")
    packet.rows = [pack_rows(0, rows)]
    packet.order = WidthOrder(7, {0: Lifetime.closed(5).turning(100, 20, 3)})
    read = Packet.from_bytes(packet.to_bytes())
    assert (read.stream, read.task, read.sequence) == ("s", 3, 1)
    assert (read.rows_in, read.bad_time, read.bad_value) == (5, 1, 2)
    assert (read.newest_us, read.oldest_us) == (2, 1)
    assert read.order == packet.order
    assert joined_rows(rows.schema, read.rows) == rows
    assert read.times is not None
    assert read.unplaced is not None
    assert (bytes(read.times), read.oldest, bytes(read.unplaced)) == (b"times", None, b"x")


def test_a_table_comes_back() -> None:
    table = pa.table({"a": ["x", None]})
    assert table_of(table_bytes(table)) == table


def test_a_segment_comes_back_whole() -> None:
    rows = pa.record_batch({"ts": [1, 2], "k0": ["a", "b"]})
    times = np.array([1, 2, 3], dtype=np.int64)
    segment = Segment({1: rows}, {"s": times}, b"all", np.array([9], dtype=np.int64))
    read = Segment.from_bytes(segment.to_bytes(), 7)
    assert read.rows[1].to_pylist() == rows.to_pylist()
    assert read.times["s"].tolist() == [1, 2, 3]
    assert read.snapshot is not None
    assert bytes(read.snapshot) == b"all"
    assert read.instants is not None
    assert read.instants.tolist() == [9]


def test_a_lost_segment_is_refused() -> None:
    store = SegmentStore(header(), DictionaryState(), SHARD)
    with pytest.raises(CheckpointError, match=r"WC213.*lost segment 0 of a shard"):
        list(store.stored())


def header() -> BucketHeader:
    made = BucketHeader.new("plan", 2, ["a", "b"])
    made.nonce, made.clock_us = "n", 17
    made.ledgers["a"] = Ledger(rows_in=3, applied=2, late=1)
    made.segments = [SegmentEntry(0, 10, 100, 60, 17, False, 20, ((0, 15), (1, 17)))]
    made.first_us, made.reached_us, made.life_sequence = 3, 30, 1
    made.limits = WindowLimits(4, {1: Lifetime.closed(5)}, {1: 12})
    return made


def test_a_header_comes_back_whole() -> None:
    assert BucketHeader.from_bytes(header().to_bytes(), "plan", 2) == header()


@pytest.mark.parametrize(("plan", "bucket"), [("other", 2), ("plan", 1)])
def test_a_header_of_something_else_is_refused(plan: str, bucket: int) -> None:
    with pytest.raises(CheckpointError, match="WC212"):
        BucketHeader.from_bytes(header().to_bytes(), plan, bucket)


def test_a_header_of_another_version_is_refused() -> None:
    parts, _ = read_frame("header", header().to_bytes())
    with pytest.raises(CheckpointError, match=r"WC214.*format 99"):
        BucketHeader.from_bytes(write_frame("header", {**parts, "version": 99}), "plan", 2)


def test_a_history_of_another_version_is_refused() -> None:
    parts, _ = read_frame("header", header().to_bytes())
    data = write_frame("header", {**parts, "version": 99})
    with pytest.raises(CheckpointError, match=r"WC234.*history in bucket 2.*format 99"):
        BucketHeader.from_bytes(data, "plan", 2, HISTORY)


@pytest.mark.parametrize("limit", [100, 1 << 20])
def test_a_large_segment_is_cut_into_values(monkeypatch: pytest.MonkeyPatch, limit: int) -> None:
    monkeypatch.setattr(segment_store, "VALUE_BYTES_LIMIT", limit)
    made, state = BucketHeader.new("plan", 0, ["a"]), DictionaryState()
    store = SegmentStore(made, state, SHARD)
    store.replace_all(Segment(snapshot=bytes(range(250))))
    assert len(state.segments) == made.segments[0].values == made.next_sequence
    assert max(map(len, state.segments.values())) <= max(limit, made.segments[0].bytes)
    [(segment, _)] = store.stored()
    assert bytes(segment.snapshot or b"") == bytes(range(250))
    store.replace_all(Segment(snapshot=b"less"))
    assert len(state.segments) == made.segments[0].values
