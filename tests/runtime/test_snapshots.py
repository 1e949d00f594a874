"""Saved state: damaged or foreign bytes are refused, each with its code."""

from __future__ import annotations

import math
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.runners import ShardRunner
from support.streams import batch_of, plan_of
from windrow.errors import CheckpointError
from windrow.output.publish import Publisher
from windrow.plan.model import QueryPlan
from windrow.rows.frames import FORMAT_VERSION, pack, read_frame, unpack
from windrow.runtime.shard import Shard

PLAN = plan_of("SELECT a.s AS s, SUM(a.d) AS total FROM a [5 SECONDS] GROUP BY a.s")
OTHER = plan_of("SELECT a.s AS s, SUM(a.d) AS total FROM a [6 SECONDS] GROUP BY a.s")


def running() -> ShardRunner:
    runner = ShardRunner(PLAN)
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    rows = tuple({"ts": moment, "s": name, "d": d} for name, d in (("x", 0.1), ("y", math.inf)))
    runner.step({"a": batch_of("a", rows)}, int(moment.timestamp()) * 1_000_000)
    return runner


SHARD = running().shards[0].snapshot()
PUBLISHER = running().publisher.snapshot()


def restore_shard(data: bytes, plan: QueryPlan = PLAN) -> Shard:
    return Shard.restore(plan, data)


def restore_publisher(data: bytes, plan: QueryPlan = PLAN) -> Publisher:
    return Publisher.restore(plan, data)


KEPT = [
    pytest.param(SHARD, restore_shard, id="shard"),
    pytest.param(PUBLISHER, restore_publisher, id="publisher"),
]


@pytest.mark.parametrize(("data", "restore"), KEPT)
def test_whole_bytes_are_taken(data, restore) -> None:
    restore(data)


@pytest.mark.parametrize(("data", "restore"), KEPT)
@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda data: data[:0], "WC101"),
        (lambda data: data[:9], "WC101"),
        (lambda data: b"PAR1" + data[4:], "WC102"),
        (lambda data: data[:4] + (FORMAT_VERSION + 1).to_bytes(2, "little") + data[6:], "WC103"),
        (lambda data: data[:-1], "WC104"),
        (lambda data: data + b"\0", "WC104"),
        (lambda data: data[:-9] + bytes([data[-9] ^ 1]) + data[-8:], "WC104"),
    ],
)
def test_every_damage_has_its_code(data, restore, change, code) -> None:
    with pytest.raises(CheckpointError) as caught:
        restore(change(data))
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("data", "restore", "code"),
    [(SHARD, restore_shard, "WC105"), (PUBLISHER, restore_publisher, "WC106")],
    ids=["shard", "publisher"],
)
def test_the_state_of_another_query_is_refused(data, restore, code) -> None:
    with pytest.raises(CheckpointError) as caught:
        restore(data, OTHER)
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("data", "restore"), [(PUBLISHER, restore_shard), (SHARD, restore_publisher)]
)
def test_state_of_another_kind_is_refused(data, restore) -> None:
    with pytest.raises(CheckpointError) as caught:
        restore(data)
    assert caught.value.code == "WC107"


@given(st.integers(0, len(SHARD) - 1), st.integers(1, 255))
def test_one_wrong_byte_anywhere_is_seen(place: int, flip: int) -> None:
    data = bytearray(SHARD)
    data[place] ^= flip
    with pytest.raises(CheckpointError):
        restore_shard(bytes(data))


@given(st.integers(0, len(SHARD) - 1))
def test_a_piece_cut_off_anywhere_is_seen(size: int) -> None:
    with pytest.raises(CheckpointError):
        restore_shard(SHARD[:size])
    with pytest.raises(CheckpointError):
        read_frame("shard", SHARD[:size])


@given(st.dictionaries(st.text(), st.integers() | st.text()), st.binary(max_size=5))
def test_what_is_packed_comes_back(header: dict[str, object], tail: bytes) -> None:
    data = pack("test", header, {})
    assert unpack("test", data) == (header, {})
    if tail:
        with pytest.raises(CheckpointError):
            unpack("test", data + tail)


def test_saving_twice_gives_the_same_bytes() -> None:
    runner = running()
    assert runner.shards[0].snapshot() == SHARD
    again = restore_shard(SHARD)
    assert again.snapshot() == SHARD
    assert again.clock == runner.shards[0].clock
