"""The control stream of a history: heartbeats, the end of its stream, and questions.

As that of a query it is a directory of small JSON files, checkpointed and replayed with the batch
that they belong to.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from windrow.plan.history_schema import HistorySchema
from windrow.spark.checkpoint.history_declaration import rows_schema
from windrow.spark.processes.shipped_errors import shipping_errors
from windrow.spark.shuffle.arrivals import StreamArrivals
from windrow.spark.shuffle.control import lines_of, order_lines, order_of_line, write_order
from windrow.spark.shuffle.history_question import HistoryQuestion
from windrow.spark.shuffle.packets import PACKET_SCHEMA, Packet, packets_batch
from windrow.storage import Storage

__all__ = ["HistoryArrivals", "control_frame", "gather_rows", "history_orders", "order_question"]

Batches = Iterator[pa.RecordBatch]

_QUESTION = "question"
# Where a packet has rows at the positions of inputs, one with an order has it at this position.
_QUESTION_POSITION = -1


@dataclass
class HistoryArrivals:
    """All that one batch brings to one bucket; rows in order of arrival."""

    came: StreamArrivals = field(default_factory=StreamArrivals)
    rows: pa.Table | None = None
    questions: list[HistoryQuestion] = field(default_factory=list)


def order_question(control: Storage, question: HistoryQuestion) -> None:
    """Has all buckets answer a question, with the batch that finds it."""
    write_order(control, {_QUESTION: question.to_json()})


def history_orders(session: SparkSession, location: str, buckets: tuple[int, ...]) -> DataFrame:
    """The control stream as packets, each order sent to every bucket."""
    lines = order_lines(session, location)
    return lines.mapInArrow(_sent_to_all(buckets), PACKET_SCHEMA)


def _sent_to_all(buckets: tuple[int, ...]) -> Callable[[Batches], Batches]:
    def send(batches: Batches) -> Batches:
        for batch in batches:
            with shipping_errors():
                data = [control_frame(line) for line in lines_of(batch)]
            yield packets_batch(
                [bucket for bucket in buckets for _ in data], [one for _ in buckets for one in data]
            )

    return send


def control_frame(line: str) -> bytes:
    """What buckets are sent for a line of the control stream."""
    order = order_of_line(line)
    if _QUESTION in order:
        data = json.dumps(order[_QUESTION]).encode()
        return Packet(stream="", rows=[(_QUESTION_POSITION, data)]).to_bytes()
    packet = Packet(stream=order["stream"], complete_through_us=order["instant_us"])
    return packet.to_bytes()


def gather_rows(packets: Iterable[bytes], schema: HistorySchema) -> HistoryArrivals:
    """Everything that came in the packets, in an order that does not depend on the network."""
    arrivals = HistoryArrivals()
    opened = sorted(
        map(Packet.from_bytes, packets), key=lambda packet: (packet.task, packet.sequence)
    )
    arrow, batches = rows_schema(schema), []
    for packet in opened:
        arrivals.came.add(packet)
        for position, data in packet.rows:
            if position == _QUESTION_POSITION:
                parts = json.loads(bytes(data))
                arrivals.questions.append(HistoryQuestion.from_json(parts))
            else:
                batches.append(pa.ipc.read_record_batch(pa.py_buffer(data), arrow))
    arrivals.rows = pa.Table.from_batches(batches, arrow) if batches else None
    arrivals.questions.sort(key=lambda question: question.name)
    return arrivals
