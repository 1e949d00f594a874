"""The packet: what one packing task sends to one bucket, as one binary value.

Every bucket gets one from every task, because all must know how far the stream has come: so each
works out the same clock from data alone. Where a task has no rows for a bucket, that is all there
is to it: a note of some fifty bytes. At a thousand tasks and as many buckets there are a million of
them in a batch.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.errors import CheckpointError
from windrow.rows.frames import Section, read_frame, write_frame
from windrow.spark.shuffle.far_ahead import Cluster
from windrow.spark.shuffle.member_orders import MemberOrder
from windrow.spark.shuffle.packed_rows import PackedRows
from windrow.spark.shuffle.window_limits import WidthOrder

__all__ = ["PACKET_SCHEMA", "Packet", "packets_batch"]

PACKET_SCHEMA = "bucket int, packet binary"

_ARROW_SCHEMA = pa.schema([("bucket", pa.int32()), ("packet", pa.binary())])

_NOTE_MAGIC = b"WNTE"
_NOTE = struct.Struct("<4sIiIqqq")  # magic, checksum of what follows, task, sequence, three times
_CHECKED_FROM = 8
_NO_TIME = -(1 << 63)  # no event has it


@dataclass
class Packet:
    """Rows of one stream for one bucket, and what the sender knows of the stream as a whole.

    `task` and `sequence` order packets the same way whenever the batch is replayed. Counts,
    `times`, heavy keys and kept rows go only to the bucket that counts the task's rows. Orders to
    change widths or queries, and questions, are of no stream: ''.
    """

    stream: str
    task: int = -1
    sequence: int = 0
    rows_in: int = 0
    bad_time: int = 0
    bad_value: int = 0
    now_us: int | None = None  # the clock on the wall, recorded with the batch
    clusters: list[Cluster] = field(default_factory=list)  # shuffle.far_ahead
    newest_us: int | None = None
    oldest_us: int | None = None
    complete_through_us: int | None = None  # an order of the control stream
    order: WidthOrder | None = None  # another one
    member: MemberOrder | None = None  # one more
    question: Mapping[str, Any] | None = None  # to a history
    untimed: int = 0  # of a table: how many changes take effect as they come, in all buckets
    rows: list[PackedRows] = field(default_factory=list)
    combined_above_us: int | None = None  # rows up to this instant were taken for late
    heavy: list[list[Any]] = field(default_factory=list)  # shuffle.heavy_keys
    times: Section | None = None
    oldest: Section | None = None
    unplaced: Section | None = None
    bad: Section | None = None
    aside: Section | None = None  # shuffle.aside_rows

    def to_bytes(self) -> bytes:
        """The packet as one value: a note where it says no more than that, else a frame."""
        header = self._header()
        kept = [name for name in _KEPT if getattr(self, name) is not None]
        if not (header or self.rows or kept):
            return self._note()
        header |= {name: getattr(self, name) for name in _IN_NOTES}
        if self.rows:
            header["rows"] = [[*part[:-1], len(part.sections)] for part in self.rows]
        if kept:
            header["kept"] = kept
        sections = [each for part in self.rows for each in part.sections]
        return write_frame("packet", header, sections + [getattr(self, name) for name in kept])

    def _header(self) -> dict[str, Any]:
        """What a note does not say, of the values that are not as usual."""
        told: dict[str, Any] = {
            name: getattr(self, name)
            for name, usual in _PLAIN.items()
            if getattr(self, name) != usual
        }
        for name in ("order", "member"):
            if (given := getattr(self, name)) is not None:
                told[name] = given.to_json()
        return told

    def _note(self) -> bytes:
        times = (self.oldest_us, self.newest_us, self.now_us)
        packed = [_NO_TIME if each is None else each for each in times]
        told = _NOTE.pack(_NOTE_MAGIC, 0, self.task, self.sequence, *packed) + self.stream.encode()
        checksum = zlib.crc32(memoryview(told)[_CHECKED_FROM:])
        return b"".join((_NOTE_MAGIC, checksum.to_bytes(4, "little"), told[_CHECKED_FROM:]))

    @classmethod
    def from_bytes(cls, data: bytes) -> Packet:
        """The packet again; its rows stay where they lie."""
        if data[:4] == _NOTE_MAGIC:
            return cls._of_note(data)
        header, sections = read_frame("packet", data, "packet")
        left = iter(sections)
        for name, kind in (("order", WidthOrder), ("member", MemberOrder)):
            if name in header:
                header[name] = kind.from_json(header[name])
        header["rows"] = [_packed_rows(part, left) for part in header.get("rows", ())]
        for name in header.pop("kept", ()):
            header[name] = next(left)
        return cls(**header)

    @classmethod
    def _of_note(cls, data: bytes) -> Packet:
        if len(data) < _NOTE.size or zlib.crc32(memoryview(data)[_CHECKED_FROM:]) != int.from_bytes(
            data[4:_CHECKED_FROM], "little"
        ):
            raise CheckpointError(
                "WC104",
                "the packet is damaged: its checksum does not match",
                hint="restore the checkpoint directory from a copy, or start with a new one",
            )
        _, _, task, sequence, *times = _NOTE.unpack_from(data)
        oldest_us, newest_us, now_us = (None if each == _NO_TIME else each for each in times)
        return cls(
            data[_NOTE.size :].decode(),
            task,
            sequence,
            oldest_us=oldest_us,
            newest_us=newest_us,
            now_us=now_us,
        )


_IN_NOTES = ("stream", "task", "sequence", "oldest_us", "newest_us", "now_us")
_KEPT = ("times", "oldest", "unplaced", "bad", "aside")
# Values that JSON can hold, and what they usually are.
_PLAIN = {
    each.name: each.default if each.default_factory is MISSING else each.default_factory()
    for each in fields(Packet)
    if each.name not in (*_IN_NOTES, *_KEPT, "order", "member", "rows")
}


def _packed_rows(part: Sequence[Any], left: Iterator[Section]) -> PackedRows:
    input_index, count, is_plain, is_weighted, sections = part
    given = [next(left) for _ in range(sections)]
    return PackedRows(input_index, count, is_plain, is_weighted, given)


def packets_batch(buckets: Sequence[int], packets: Sequence[bytes]) -> pa.RecordBatch:
    """Packets and the buckets they go to, as Spark takes them."""
    return pa.record_batch(
        [pa.array(np.asarray(buckets, dtype=np.int32)), pa.array(packets, pa.binary())],
        schema=_ARROW_SCHEMA,
    )
