"""A bucket's step on a dictionary instead of Spark's state store."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from support import damaged_columns
from support.spark.driven_job import DictionaryState
from support.spark.stream_files import COLUMNS, SECOND, rows
from windrow.errors import CheckpointError, DataError
from windrow.plan.binder import bind
from windrow.plan.catalog import Catalog
from windrow.plan.fingerprint import fingerprint
from windrow.plan.model import QueryPlan
from windrow.plan.serialise import plan_from_json, plan_to_json
from windrow.rows.damaged_values import NOT_UTF8
from windrow.runtime.ledger import total_ledger
from windrow.schema import StreamSchema, columns_of
from windrow.spark.shuffle.bad_values import BAD_TIME
from windrow.spark.shuffle.packer import Packer
from windrow.spark.shuffle.packets import Packet
from windrow.spark.worker import remote_shards, shard_segments
from windrow.spark.worker.live_cache import LiveCache
from windrow.spark.worker.pieces import pieces_of
from windrow.spark.worker.shard_output import ShardOutput
from windrow.spark.worker.shard_step import ShardStep
from windrow.sql import parse_query

JOIN = """SELECT h.room, COUNT(*) AS n FROM h [8 SECONDS], c [5 SECONDS]
          WHERE h.room = c.room GROUP BY h.room"""
LAST = "SELECT room, COUNT(*) AS n FROM h [PARTITION BY room ROWS 3] GROUP BY room"
SLIDE = "SELECT COUNT(*) AS n FROM h [RANGE 8 SECONDS SLIDE 4 SECONDS]"


def plan_of(text: str) -> QueryPlan:
    streams = [StreamSchema(name, columns_of(COLUMNS), "ts", SECOND) for name in ("h", "c")]
    return bind(parse_query(text), Catalog(*streams))


def packed(
    plan: QueryPlan,
    stream: str,
    table: pa.Table,
    buckets: int = 1,
    task: int = 0,
    now: int | None = None,
) -> list[list[bytes]]:
    """The packets of a one-task batch, per bucket."""
    packer = Packer(plan, stream, tuple(range(buckets)), task)
    packer.now_us = None if now is None else now * SECOND
    for batch in table.to_batches():
        packer.add(batch)
    return [[packet] for packet in packer.take().column("packet").to_pylist()]


def stream_batches(count: int, seed: int = 7) -> list[dict[str, pa.Table]]:
    """Batches of both streams: a second of disorder, some rows late, some without a time."""
    random = np.random.default_rng(seed)
    made = []
    for number in range(count):
        batch = {}
        for stream in ("h", "c"):
            times = number * 4 * SECOND + random.integers(-2 * SECOND, 4 * SECOND, 40)
            entries: list[tuple[str | None, int | None, float | None]] = [
                (f"r{random.integers(5)}", int(time), float(random.integers(9))) for time in times
            ]
            entries += [("r0", None, 1.0), ("r0", 253_402_300_000 * SECOND, 1.0)]
            batch[stream] = rows(*entries)
        made.append(batch)
    return made


class Bucket:
    """One bucket that runs batches."""

    def __init__(self, plan: QueryPlan, cache: LiveCache | None = None, number: int = 0) -> None:
        self.plan = plan
        self.state = DictionaryState()
        self.cache = cache or LiveCache(lends=False)
        self.step = ShardStep(plan, fingerprint(plan), "owner", number, self.cache)

    def run(self, packets: Iterable[bytes]) -> ShardOutput:
        data = self.step.run_batch(packets, self.state).to_bytes()
        return ShardOutput.from_bytes(data)

    def batch(self, tables: dict[str, pa.Table], now: int | None = None) -> ShardOutput:
        """now: the second at which the batch begins."""
        streams = [stream for stream in self.plan.streams if stream in tables]
        given = [packed(self.plan, stream, tables[stream], now=now)[0] for stream in streams]
        return self.run(packet for packets in given for packet in packets)


def updates(output: ShardOutput) -> list[tuple[object, ...]]:
    """What the partial result says, without the numbers that a shard happens to give its groups."""
    (piece,) = pieces_of(output.partial)
    partial = piece.partial()
    groups = [tuple(row.values()) for row in partial.groups.to_pylist()] or [()]
    found = [groups[i] if partial.groups.num_columns else () for i in partial.group]
    return sorted(zip(partial.at.tolist(), found, partial.count.tolist(), strict=True))


@pytest.mark.parametrize("text", [JOIN, LAST, SLIDE])
@pytest.mark.parametrize("spare_rows", [0, 10_000])
def test_a_shard_that_is_built_again_goes_on_as_if_nothing_had_been(
    text: str, spare_rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shard_segments, "SPARE_ROWS", spare_rows)
    kept, rebuilt = Bucket(plan_of(text)), Bucket(plan_of(text))
    for number, batch in enumerate(stream_batches(8)):
        rebuilt.step.cache = LiveCache(lends=False)
        one, other = kept.batch(batch), rebuilt.batch(batch)
        assert (one.was_rebuilt, other.was_rebuilt) == (False, number > 0)
        assert updates(one) == updates(other)
        assert one.instants.tolist() == other.instants.tolist()
        assert one.ledgers == other.ledgers
        assert one.clock_us == other.clock_us


def test_a_task_that_is_tried_again_applies_its_rows_once() -> None:
    bucket, twin = Bucket(plan_of(JOIN)), Bucket(plan_of(JOIN))
    for batch in stream_batches(6):
        before = bucket.state.copy()
        bucket.batch(batch)  # its state is never committed
        bucket.state = before
        again, once = bucket.batch(batch), twin.batch(batch)
        assert updates(again) == updates(once)
        assert again.ledgers == once.ledgers


def test_the_ledger_adds_up_after_every_batch() -> None:
    bucket = Bucket(plan_of("SELECT COUNT(*) AS n FROM h [8 SECONDS] WHERE value > 100"))
    given = 0
    for batch in stream_batches(8):
        given += batch["h"].num_rows
        ledger = bucket.batch(batch).ledgers["h"]
        assert ledger.rows_in == given
        assert ledger.rows_in == ledger.applied + ledger.late + ledger.bad_time + ledger.waiting
    assert ledger.bad_time == 16
    assert ledger.late > 0
    assert ledger.waiting > 0


def test_a_row_is_late_as_of_the_start_of_its_batch() -> None:
    bucket = Bucket(plan_of("SELECT COUNT(*) AS n FROM h [8 SECONDS]"))
    bucket.batch({"h": rows(("a", 10 * SECOND, 1.0), ("a", 2 * SECOND, 1.0))})
    limit = 9 * SECOND - 1
    output = bucket.batch({"h": rows(("late", limit, 1.0), ("b", limit + 1, 1.0))})
    assert output.ledgers["h"].late == 1
    assert output.late["h"].column("ts").cast(pa.int64()).to_pylist() == [limit]


def test_expired_segments_are_removed() -> None:
    bucket = Bucket(plan_of(JOIN))
    for batch in stream_batches(12):
        bucket.batch(batch)
    assert len(bucket.state.segments) <= 4


def test_windows_that_count_rows_are_compacted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shard_segments, "SPARE_ROWS", 50)
    bucket = Bucket(plan_of(LAST))
    for batch in stream_batches(12):
        output = bucket.batch(batch)
    assert len(bucket.state.segments) <= 6
    assert output.windows[0].rows < 70


class CountingState(DictionaryState):
    """Notes what is written, and refuses to remove what the same batch wrote."""

    def __init__(self) -> None:
        super().__init__()
        self.written: list[int] = []

    def write_segment(self, sequence: int, data: bytes) -> None:
        self.written.append(sequence)
        super().write_segment(sequence, data)

    def remove_segment(self, sequence: int) -> None:
        assert sequence not in self.written
        super().remove_segment(sequence)


@pytest.mark.parametrize("text", [JOIN, LAST])
def test_what_a_batch_brings_is_written_once_or_as_what_is_left_of_it(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where most of it has left by its end, it is not written before the snapshot is."""
    monkeypatch.setattr(shard_segments, "SPARE_ROWS", 0)
    bucket, snapshots = Bucket(plan_of(text)), 0
    bucket.state = state = CountingState()
    for batch in stream_batches(12):
        state.written.clear()
        output = bucket.batch(batch)
        assert len(state.written) == 1
        snapshots += output.segment_count == 1
    assert snapshots > 1


def test_rows_that_have_left_by_the_end_of_their_batch_are_not_written() -> None:
    plan = plan_of("SELECT COUNT(*) AS n FROM h [8 SECONDS]")
    bucket = Bucket(plan)
    bucket.state = state = CountingState()
    ((packet,),) = packed(plan, "h", rows(("a", 10 * SECOND, 1.0)))
    gone = bucket.run([packet, Packet("h", task=1, complete_through_us=30 * SECOND).to_bytes()])
    assert (gone.segment_count, state.written) == (0, [])
    assert gone.ledgers["h"].applied == 1
    ((packet,),) = packed(plan, "h", rows(("a", 31 * SECOND, 1.0)))
    kept = bucket.run([packet])
    assert (kept.segment_count, state.written) == (1, [0])


def test_an_order_completes_a_stream() -> None:
    bucket = Bucket(plan_of("SELECT COUNT(*) AS n FROM h [8 SECONDS]"))
    bucket.batch({"h": rows(("a", 10 * SECOND, 1.0))})
    output = bucket.run([Packet("h", complete_through_us=30 * SECOND).to_bytes()])
    assert output.clock_us == 30 * SECOND
    assert output.ledgers["h"].applied == 1
    assert output.instants.tolist() == [10 * SECOND]


def test_packets_are_ordered_by_task_not_by_arrival() -> None:
    plan = plan_of("SELECT room, COUNT(*) AS n FROM h [ROWS 1] GROUP BY room")
    first, second = Packer(plan, "h", (0,), 0), Packer(plan, "h", (0,), 1)
    first.add(rows(("first", SECOND, 1.0)).to_batches()[0])
    second.add(rows(("second", SECOND, 1.0)).to_batches()[0])
    packets = [p.take().column("packet")[0].as_py() for p in (first, second)]
    end = Packet("h", complete_through_us=9 * SECOND).to_bytes()
    one, other = Bucket(plan).run([*packets, end]), Bucket(plan).run([end, *packets[::-1]])
    assert updates(one) == updates(other)


@pytest.mark.parametrize("part", ["header", "segment"])
def test_damaged_state_is_refused(part: str) -> None:
    bucket = Bucket(plan_of(JOIN))
    batches = stream_batches(3)
    bucket.batch(batches[0])
    assert bucket.state.header is not None
    if part == "header":
        bucket.state.header = bucket.state.header[:-1] + b"!"
    else:
        bucket.state.segments[0] = bucket.state.segments[0][:-1] + b"!"
    bucket.step.cache = LiveCache(lends=False)
    with pytest.raises(CheckpointError, match="WC104"):
        bucket.batch(batches[1])


def test_a_lost_segment_is_refused() -> None:
    bucket = Bucket(plan_of(JOIN))
    bucket.batch(stream_batches(1)[0])
    bucket.state.segments.clear()
    bucket.step.cache = LiveCache(lends=False)
    with pytest.raises(CheckpointError, match="WC213"):
        bucket.batch(stream_batches(1)[0])


def test_a_shard_is_lent_to_another_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shard_segments, "SPARE_ROWS", 0)
    holder, borrower = LiveCache(), LiveCache()
    bucket, twin = Bucket(plan_of(LAST), holder), Bucket(plan_of(LAST))
    for number, batch in enumerate(stream_batches(6)):
        bucket.step.cache = holder if number in (0, 3) else borrower
        output, expected = bucket.batch(batch), twin.batch(batch)
        assert not output.was_rebuilt
        assert updates(output) == updates(expected)
        assert output.ledgers == expected.ledgers


def test_a_shard_whose_holder_breaks_off_is_built_again(monkeypatch: pytest.MonkeyPatch) -> None:
    holder, borrower = LiveCache(), LiveCache()
    bucket, twin = Bucket(plan_of(JOIN), holder), Bucket(plan_of(JOIN))
    batches = stream_batches(3)
    bucket.batch(batches[0])
    twin.batch(batches[0])

    def broken(*_: object) -> None:
        raise OSError("gone")

    monkeypatch.setattr(remote_shards, "_served", broken)
    bucket.step.cache = borrower
    output = bucket.batch(batches[1])
    assert output.was_rebuilt
    assert updates(output) == updates(twin.batch(batches[1]))


def test_without_a_safe_place_for_sockets_nothing_is_lent(monkeypatch: pytest.MonkeyPatch) -> None:
    def unsafe() -> None:
        raise OSError("not yours")

    monkeypatch.setattr(remote_shards, "_directory", unsafe)
    bucket = Bucket(plan_of(JOIN), LiveCache())
    batches = stream_batches(2)
    bucket.batch(batches[0])
    bucket.step.cache = LiveCache()
    assert bucket.batch(batches[1]).was_rebuilt


def test_sockets_of_ended_processes_are_swept_away() -> None:
    directory = remote_shards._directory()
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    stale = directory / f"{child}-stale"
    stale.touch()
    remote_shards.Lender(LiveCache()._shelf)
    assert not stale.exists()


def test_every_bucket_gets_a_packet_and_every_row_is_in_one() -> None:
    plan = plan_of(JOIN)
    table = stream_batches(1)[0]["h"]
    buckets = [Packet.from_bytes(one[0]) for one in packed(plan, "h", table, 8)]
    assert {packet.newest_us for packet in buckets} == {buckets[0].newest_us}
    assert [packet.times is not None for packet in buckets] == [True] + [False] * 7
    assert [packet.rows_in for packet in buckets] == [table.num_rows] + [0] * 7


@pytest.mark.parametrize("text", [JOIN, SLIDE])
def test_buckets_take_turns_in_counting_the_rows_of_tasks(text: str) -> None:
    plan, one = plan_of(text), Bucket(plan_of(text))
    several = [Bucket(plan, number=number) for number in range(3)]
    for batch in stream_batches(5):
        whole = one.batch({stream: batch[stream] for stream in plan.streams})
        parts = [bucket.run(of_tasks(plan, batch, 4, 3, bucket.step.bucket)) for bucket in several]
        instants = np.unique(np.concatenate([part.instants for part in parts]))
        assert instants.tolist() == np.unique(whole.instants).tolist()
        for stream, ledger in whole.ledgers.items():
            assert total_ledger(part.ledgers[stream] for part in parts) == ledger
        late = [part.late[stream].num_rows for part in parts for stream in part.late]
        assert sum(late) == sum(rows.num_rows for rows in whole.late.values())
    assert all(part.ledgers["h"].applied for part in parts)


def of_tasks(
    plan: QueryPlan, batch: dict[str, pa.Table], tasks: int, buckets: int, bucket: int
) -> Iterable[bytes]:
    """What so many tasks of each stream send to one of the buckets."""
    for place, stream in enumerate(plan.streams):
        for task in range(tasks):
            rows_of_task = batch[stream].take(np.arange(task, batch[stream].num_rows, tasks))
            number = place * tasks + task
            yield packed(plan, stream, rows_of_task, buckets, number)[bucket][0]


def damaged(batch: pa.Table) -> pa.Table:
    """The same rows, with one more in front whose room is no text."""
    room = damaged_columns.texts([b"\xff\xfe", *batch["room"].cast(pa.binary()).to_pylist()])
    longer = pa.concat_tables([batch.slice(0, 1), batch])
    return longer.set_column(longer.schema.get_field_index("room"), "room", room)


@pytest.mark.parametrize("text", [JOIN, LAST])
def test_rows_that_are_damaged_are_set_aside_and_counted(text: str) -> None:
    bucket, twin = Bucket(plan_of(text)), Bucket(plan_of(text))
    batches = stream_batches(4)
    for batch in batches:
        one = bucket.batch({**batch, "h": damaged(batch["h"])})
        other = twin.batch(batch)
        assert updates(one) == updates(other)
        assert one.bad["h"]["why"].to_pylist() == [NOT_UTF8, BAD_TIME, BAD_TIME]
    ledger, without = one.ledgers["h"], other.ledgers["h"]
    assert (ledger.bad_value, without.bad_value) == (len(batches), 0)
    assert replace(ledger, bad_value=0, rows_in=ledger.rows_in - len(batches)) == without


def test_damaged_rows_end_a_query_whose_stream_is_to_fail() -> None:
    stream = StreamSchema("h", columns_of(COLUMNS), "ts", SECOND, on_bad_row="fail")
    plan = bind(parse_query("SELECT COUNT(*) AS n FROM h [8 SECONDS]"), Catalog(stream))
    with pytest.raises(DataError, match="WD420"):
        packed(plan, "h", damaged(stream_batches(1)[0]["h"]))


def test_what_becomes_of_bad_rows_is_no_matter_of_the_checkpoint() -> None:
    stream = StreamSchema("h", columns_of(COLUMNS), "ts", SECOND, on_bad_row="set aside")
    text = "SELECT COUNT(*) AS n FROM h [8 SECONDS]"
    plan = bind(parse_query(text), Catalog(stream))
    assert fingerprint(plan) == fingerprint(plan_of(text))
    assert plan_from_json(plan_to_json(plan)).inputs[0].stream == stream


DAY = 86_400 * SECOND


def ahead_plan(span: int | str) -> QueryPlan:
    stream = StreamSchema("h", columns_of(COLUMNS), "ts", SECOND, max_ahead=span)
    return bind(parse_query("SELECT room, COUNT(*) AS n FROM h [8 SECONDS] GROUP BY room"),
                Catalog(stream))  # fmt: skip


def of_seconds(*seconds: int) -> pa.Table:
    return rows(*(("a", second * SECOND, 1.0) for second in seconds))


def test_rows_a_day_ahead_of_the_clock_of_the_batch_are_set_aside() -> None:
    bucket = Bucket(ahead_plan("auto"))
    far = 2 * DAY // SECOND
    output = bucket.batch({"h": of_seconds(10, far, 12)}, now=11)
    assert (output.ledgers["h"].bad_time, output.clock_us) == (1, 11 * SECOND - 1)
    assert output.bad["h"].num_rows == output.unplaced["h"].num_rows == 1
    believing = Bucket(ahead_plan("off"))
    output = believing.batch({"h": of_seconds(10, far, 12)}, now=11)
    assert output.ledgers["h"].bad_time == 0


def numbered(plan: QueryPlan, count: int) -> list[Bucket]:
    made = [Bucket(plan) for _ in range(count)]
    for number, bucket in enumerate(made):
        bucket.step.bucket = number
    return made


@pytest.mark.parametrize("buckets", [1, 3])
def test_rows_far_ahead_of_the_others_are_set_aside_in_every_bucket(buckets: int) -> None:
    plan = ahead_plan(60 * SECOND)
    tried, twin = (numbered(plan, buckets) for _ in range(2))
    for number in range(4):
        good = [number * 10 + second for second in range(10)]
        strange = [] if number == 0 else [100_000 * number]
        for each, seconds in ((tried, good + strange), (twin, good)):
            packets = packed(plan, "h", of_seconds(*seconds), buckets)
            outputs = [one.step.run_batch(mine, one.state)
                       for one, mine in zip(each, packets, strict=True)]  # fmt: skip
            clocks = {output.clock_us for output in outputs}
            assert clocks == {(good[-1] - 1) * SECOND - 1}
            ledger = outputs[0].ledgers["h"]
            parts = [ledger.applied, ledger.late, ledger.bad_time, ledger.waiting]
            assert ledger.rows_in == sum(parts)
            assert ledger.bad_time == (number if each is tried else 0)


def test_a_gap_is_believed_when_enough_rows_follow_it_in_one_batch_or_in_several() -> None:
    for batches in ([[1000, 1001, 1002]], [[1000], [1001], [1002]]):
        bucket = Bucket(ahead_plan(60 * SECOND))
        bucket.batch({"h": of_seconds(1, 2)})
        for seconds in batches:
            output = bucket.batch({"h": of_seconds(*seconds)})
        assert output.clock_us == 1001 * SECOND - 1
        assert output.ledgers["h"].bad_time == (0 if len(batches) == 1 else 2)


def test_a_row_of_about_now_is_believed_at_once() -> None:
    bucket = Bucket(ahead_plan(60 * SECOND))
    bucket.batch({"h": of_seconds(1, 2)})
    output = bucket.batch({"h": of_seconds(1000)}, now=1010)
    assert output.clock_us == 999 * SECOND - 1
