"""The packet: what one packing task sends to one bucket, as one binary value.

Every bucket gets a packet from every task, an empty one too, because its header says how far the
stream has come. So each bucket works out the same clock from data alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.rows.frames import read_frame, write_frame
from windrow.spark.shuffle.far_ahead import Cluster
from windrow.spark.shuffle.member_orders import MemberOrder
from windrow.spark.shuffle.window_limits import WidthOrder

__all__ = ["PACKET_SCHEMA", "Packet", "packets_batch"]

PACKET_SCHEMA = "bucket int, packet binary"

_ARROW_SCHEMA = pa.schema([("bucket", pa.int32()), ("packet", pa.binary())])


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
    rows: list[tuple[int, bytes | memoryview]] = field(default_factory=list)  # input, Arrow
    weighted: list[int] = field(default_factory=list)  # which of `rows` stand for several each
    combined_above_us: int | None = None  # rows up to this instant were taken for late
    heavy: list[list[Any]] = field(default_factory=list)  # shuffle.heavy_keys
    times: bytes | memoryview | None = None
    oldest: bytes | memoryview | None = None
    unplaced: bytes | memoryview | None = None
    bad: bytes | memoryview | None = None
    aside: bytes | memoryview | None = None  # shuffle.aside_rows

    def to_bytes(self) -> bytes:
        """The packet as one frame."""
        sections: list[bytes | memoryview] = [data for _, data in self.rows]
        kept = []
        for name in ("times", "oldest", "unplaced", "bad", "aside"):
            if (data := getattr(self, name)) is not None:
                kept.append(name)
                sections.append(data)
        header = {
            "stream": self.stream,
            "order": [self.task, self.sequence],
            "counts": [self.rows_in, self.bad_time, self.bad_value],
            "times": [self.oldest_us, self.newest_us, self.now_us],
            "clusters": self.clusters,
            "width_order": None if self.order is None else self.order.to_json(),
            "member": None if self.member is None else self.member.to_json(),
            "question": self.question,
            "untimed": self.untimed,
            "complete": self.complete_through_us,
            "positions": [input_index for input_index, _ in self.rows],
            "weighted": [self.combined_above_us, self.weighted],
            "heavy": self.heavy,
            "kept": kept,
        }
        return write_frame("packet", header, sections)

    @classmethod
    def from_bytes(cls, data: bytes) -> Packet:
        """The packet again; its rows stay where they lie."""
        header, sections = read_frame("packet", data, "packet")
        count, widths, member = len(header["positions"]), header["width_order"], header["member"]
        packet = cls(
            stream=header["stream"],
            task=header["order"][0],
            sequence=header["order"][1],
            rows_in=header["counts"][0],
            bad_time=header["counts"][1],
            bad_value=header["counts"][2],
            oldest_us=header["times"][0],
            newest_us=header["times"][1],
            now_us=header["times"][2],
            clusters=header["clusters"],
            complete_through_us=header["complete"],
            order=None if widths is None else WidthOrder.from_json(widths),
            member=None if member is None else MemberOrder.from_json(member),
            question=header["question"],
            untimed=header["untimed"],
            heavy=header["heavy"],
            combined_above_us=header["weighted"][0],
            weighted=header["weighted"][1],
            rows=list(zip(header["positions"], sections[:count], strict=True)),
        )
        for name, section in zip(header["kept"], sections[count:], strict=True):
            setattr(packet, name, section)
        return packet


def packets_batch(buckets: Sequence[int], packets: Sequence[bytes]) -> pa.RecordBatch:
    """Packets and the buckets they go to, as Spark takes them."""
    return pa.record_batch(
        [pa.array(np.asarray(buckets, dtype=np.int32)), pa.array(packets, pa.binary())],
        schema=_ARROW_SCHEMA,
    )
