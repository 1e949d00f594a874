"""The control stream: heartbeats, ends, widths, queries and questions, as a checkpointed input.

Each order is one small file in the control directory of a run, its lines JSON behind a checksum.
Spark reads the directory as a stream, so an order belongs to exactly one batch and is replayed with
it.
"""

from __future__ import annotations

import json
import uuid
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from windrow.errors import CheckpointError
from windrow.event_time import END_OF_TIME
from windrow.spark.processes.shipped_errors import shipping_errors
from windrow.spark.shuffle.member_orders import MemberOrder
from windrow.spark.shuffle.packets import PACKET_SCHEMA, Packet, packets_batch
from windrow.spark.shuffle.window_limits import WidthOrder
from windrow.storage import Storage

__all__ = [
    "check_orders",
    "control_packets",
    "order_advance",
    "order_finish",
    "order_member",
    "order_question",
    "order_widths",
    "packet_of_line",
]

Batches = Iterator[pa.RecordBatch]


def order_advance(control: Storage, stream: str, instant_us: int) -> None:
    """The stream is complete through that instant."""
    _order(control, [stream], instant_us)


def order_finish(control: Storage, streams: Iterable[str]) -> None:
    """No row of these streams will come any more; all end in the same batch."""
    _order(control, streams, END_OF_TIME)


def order_widths(control: Storage, order: WidthOrder) -> None:
    """Windows get other lifetimes, in all buckets with the same batch."""
    _write_order(control, {"widths": order.to_json()})


def order_member(control: Storage, order: MemberOrder) -> None:
    """A query of a bundle begins or ends; ordered twice under one name, it is read once."""
    name = f"query-{order.number:06d}-{'end' if order.ends else 'begin'}.json"
    if not control.has(name):
        control.write(name, _checked([json.dumps({"member": order.to_json()})]))


def order_question(control: Storage, question: Mapping[str, Any]) -> None:
    """Has all buckets of a history answer a question, with the batch that finds it."""
    _write_order(control, {"question": question})


def _order(control: Storage, streams: Iterable[str], instant_us: int) -> None:
    lines = [json.dumps({"stream": stream, "instant_us": instant_us}) for stream in streams]
    _write(control, lines)


def _write_order(control: Storage, order: Mapping[str, Any]) -> None:
    """Puts one order, of whatever kind, where Spark reads it."""
    _write(control, [json.dumps(order)])


def _write(control: Storage, lines: Iterable[str]) -> None:
    control.write(f"{uuid.uuid4().hex}.json", _checked(lines))


def _checked(lines: Iterable[str]) -> bytes:
    return "".join(f"{zlib.crc32(line.encode()):08x} {line}\n" for line in lines).encode()


def check_orders(control: Storage) -> None:
    """Refuses an order that has lost all its bytes: Spark would pass over it in silence."""
    for name, size in control.sizes().items():
        if size == 0:
            raise _damaged(f"{name} is empty")


def control_packets(session: SparkSession, location: str, buckets: tuple[int, ...]) -> DataFrame:
    """The control stream as packets, each order sent to every bucket."""
    return _lines(session, location).mapInArrow(_sent_to_all(buckets), PACKET_SCHEMA)


def _lines(session: SparkSession, location: str) -> DataFrame:
    """The lines of all orders; those of a batch are deleted once the batch is committed.

    Spark lists the directory in every batch: with all the heartbeats of a day in it, that took
    longer than all else.
    """
    reader = session.readStream.format("text").option("cleanSource", "delete")
    # Whatever the user's Spark is set to: no order is left out without a word.
    reader = reader.options(ignoreMissingFiles="false", ignoreCorruptFiles="false")
    return reader.load(location).select("value")


def _sent_to_all(buckets: tuple[int, ...]) -> Callable[[Batches], Batches]:
    def send(batches: Batches) -> Batches:
        for batch in batches:
            with shipping_errors():
                data = [packet_of_line(line).to_bytes() for line in _texts(batch)]
            yield packets_batch(
                [bucket for bucket in buckets for _ in data], [one for _ in buckets for one in data]
            )

    return send


def _texts(batch: pa.RecordBatch) -> list[str]:
    """Lines as Spark gives them; bytes that are no text become signs that no checksum fits."""
    return [line.decode(errors="replace") for line in batch.column(0).cast(pa.binary()).to_pylist()]


def packet_of_line(line: str) -> Packet:
    """The packet of one order; refused when the line is not as it was written."""
    checksum, _, text = line.partition(" ")
    if checksum != f"{zlib.crc32(text.encode()):08x}":
        raise _damaged(f"the checksum of the line {line[:80]!r} does not match")
    return _packet(json.loads(text))


def _damaged(how: str) -> CheckpointError:
    return CheckpointError(
        "WC205",
        f"an order in the control directory of the checkpoint is damaged: {how}",
        hint="restore the checkpoint directory from a copy, or start with a new one",
    )


def _packet(order: dict[str, Any]) -> Packet:
    if "question" in order:
        return Packet(stream="", question=order["question"])
    if "member" in order:
        return Packet(stream="", member=MemberOrder.from_json(order["member"]))
    if "widths" in order:
        return Packet(stream="", order=WidthOrder.from_json(order["widths"]))
    return Packet(stream=order["stream"], complete_through_us=order["instant_us"])
