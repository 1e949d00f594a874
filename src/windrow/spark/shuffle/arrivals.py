"""Arrivals: all packets of one batch for one bucket, put in order and added up per stream."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.rows.frames import table_of
from windrow.spark.shuffle.event_times import unpack_times
from windrow.spark.shuffle.far_ahead import Cluster, FarAhead, is_in
from windrow.spark.shuffle.member_orders import MemberOrder
from windrow.spark.shuffle.packed_rows import PackedRows, joined_rows
from windrow.spark.shuffle.packets import Packet
from windrow.spark.shuffle.window_limits import WidthOrder

__all__ = ["Arrivals", "StreamArrivals", "gather"]

Instants = NDArray[np.int64]


@dataclass
class StreamArrivals:
    """What came of one stream; counts, times and kept rows are of the tasks it counts for."""

    rows_in: int = 0
    bad_time: int = 0
    bad_value: int = 0
    oldest_us: int | None = None
    newest_us: int | None = None
    complete_through_us: int | None = None
    times: list[Instants] = field(default_factory=list)
    oldest: list[pa.Table] = field(default_factory=list)
    unplaced: list[pa.Table] = field(default_factory=list)
    bad: list[pa.Table] = field(default_factory=list)
    aside: list[pa.Table] = field(default_factory=list)  # shuffle.aside_rows
    combined_above_us: list[int] = field(default_factory=list)  # as packets say
    now_us: int | None = None
    clusters: list[Cluster] = field(default_factory=list)  # shuffle.far_ahead
    untimed: int = 0  # as packets of a table say

    def add(self, packet: Packet) -> None:
        """Adds what one packet says about the stream."""
        self.rows_in += packet.rows_in
        self.bad_time += packet.bad_time
        self.bad_value += packet.bad_value
        self.oldest_us = _earlier(self.oldest_us, packet.oldest_us)
        self.newest_us = _later(self.newest_us, packet.newest_us)
        self.now_us = _later(self.now_us, packet.now_us)
        self.clusters += packet.clusters
        self.untimed += packet.untimed
        self.complete_through_us = _later(self.complete_through_us, packet.complete_through_us)
        if packet.combined_above_us is not None:
            self.combined_above_us.append(packet.combined_above_us)
        if packet.times is not None:
            self.times.append(unpack_times(packet.times))
        if packet.oldest is not None:
            self.oldest.append(table_of(packet.oldest))
        if packet.unplaced is not None:
            self.unplaced.append(table_of(packet.unplaced))
        if packet.bad is not None:
            self.bad.append(table_of(packet.bad))
        if packet.aside is not None:
            self.aside.append(table_of(packet.aside))


@dataclass
class Arrivals:
    """Per stream what came, per input its prepared rows in order of arrival, and orders."""

    streams: dict[str, StreamArrivals]
    rows: dict[int, pa.RecordBatch]
    order: WidthOrder | None = None
    members: list[MemberOrder] = field(default_factory=list)
    heavy: list[list[Any]] = field(default_factory=list)  # shuffle.heavy_keys
    questions: list[Mapping[str, Any]] = field(default_factory=list)  # to a history, by name

    def leave_out(self, stream: str, inputs: Iterable[int], verdict: FarAhead) -> None:
        """Takes rows that are not believed out of all inputs that read the stream."""
        for input_index in inputs:
            if input_index in self.rows:
                rows = self.rows[input_index]
                aside = is_in(rows.column("ts").to_numpy(zero_copy_only=False), verdict.aside)
                self.rows[input_index] = rows.filter(pa.array(~aside))
        came = self.streams[stream]
        asides = [is_in(times, verdict.aside) for times in came.times]
        came.bad_time += sum(int(np.count_nonzero(aside)) for aside in asides)
        came.times = [times[~aside] for times, aside in zip(came.times, asides, strict=True)]
        came.aside = [
            table.filter(pa.array(~is_in(table.column("ts").to_numpy(), verdict.aside)))
            for table in came.aside
        ]
        came.newest_us = verdict.newest_us
        if came.newest_us is None:
            came.oldest_us = None


def gather(
    packets: Iterable[bytes], streams: Iterable[str], schemas: Mapping[int, pa.Schema]
) -> Arrivals:
    """Everything that came in the packets, in an order that does not depend on the network."""
    opened = sorted(
        map(Packet.from_bytes, packets), key=lambda packet: (packet.task, packet.sequence)
    )
    arrivals = {stream: StreamArrivals() for stream in streams}
    rows: dict[int, list[PackedRows]] = {}
    orders = [packet.order for packet in opened if packet.order is not None]
    for packet in opened:
        if not packet.stream:
            continue
        arrivals[packet.stream].add(packet)
        for part in packet.rows:
            rows.setdefault(part.input_index, []).append(part)
    joined = {number: joined_rows(schemas[number], parts) for number, parts in rows.items()}
    newest = max(orders, key=lambda order: (order.number, repr(order)), default=None)
    members = [packet.member for packet in opened if packet.member is not None]
    heavy = [count for packet in opened for count in packet.heavy]
    asked = [packet.question for packet in opened if packet.question is not None]
    questions = sorted(asked, key=lambda question: str(question["name"]))
    return Arrivals(arrivals, joined, newest, members, heavy, questions)


def _earlier(one: int | None, other: int | None) -> int | None:
    if one is None or other is None:
        return one if other is None else other
    return min(one, other)


def _later(one: int | None, other: int | None) -> int | None:
    if one is None or other is None:
        return one if other is None else other
    return max(one, other)
