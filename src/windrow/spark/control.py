"""The control stream: heartbeats, ends of streams and widths, as an input that is checkpointed.

Each order is one small JSON file in the query's control directory. Spark reads the directory as a
stream, so an order belongs to exactly one batch and is replayed with it.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from windrow.event_time import END_OF_TIME
from windrow.spark.packets import PACKET_SCHEMA, Packet, packets_batch
from windrow.spark.storage import Storage
from windrow.spark.window_limits import WidthOrder

__all__ = ["control_packets", "order_advance", "order_finish", "order_widths"]

Batches = Iterator[pa.RecordBatch]


def order_advance(control: Storage, stream: str, instant_us: int) -> None:
    """The stream is complete through that instant."""
    _order(control, [stream], instant_us)


def order_finish(control: Storage, streams: Iterable[str]) -> None:
    """No row of these streams will come any more; all end in the same batch."""
    _order(control, streams, END_OF_TIME)


def order_widths(control: Storage, order: WidthOrder) -> None:
    """Windows get other lifetimes, in all buckets with the same batch."""
    _write(control, [json.dumps({"widths": order.to_json()})])


def _order(control: Storage, streams: Iterable[str], instant_us: int) -> None:
    lines = [json.dumps({"stream": stream, "instant_us": instant_us}) for stream in streams]
    _write(control, lines)


def _write(control: Storage, lines: Iterable[str]) -> None:
    control.write(f"{uuid.uuid4().hex}.json", "\n".join(lines).encode() + b"\n")


def control_packets(session: SparkSession, location: str, buckets: tuple[int, ...]) -> DataFrame:
    """The control stream as packets, each order sent to every bucket."""
    lines = session.readStream.format("text").load(location)
    return lines.select("value").mapInArrow(_sent_to_all(buckets), PACKET_SCHEMA)


def _sent_to_all(buckets: tuple[int, ...]) -> Callable[[Batches], Batches]:
    def send(batches: Batches) -> Batches:
        for batch in batches:
            orders = [json.loads(line) for line in batch.column(0).to_pylist() if line]
            data = [_packet(order).to_bytes() for order in orders]
            yield packets_batch(
                [bucket for bucket in buckets for _ in data], [one for _ in buckets for one in data]
            )

    return send


def _packet(order: dict[str, Any]) -> Packet:
    if "widths" in order:
        return Packet(stream="", order=WidthOrder.from_json(order["widths"]))
    return Packet(stream=order["stream"], complete_through_us=order["instant_us"])
