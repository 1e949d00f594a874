"""All of a query on Spark but Spark itself: packers, shards on dictionaries, and the driver."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pyarrow as pa

from windrow.event_time import START_OF_TIME
from windrow.governor.bounded.inner_plan import inner_plan
from windrow.plan.fingerprint import fingerprint
from windrow.plan.relations.tree_plan import RunnablePlan, TreePlan
from windrow.spark.driver.publication import Publication
from windrow.spark.driver.stage_outputs import by_bucket
from windrow.spark.shuffle.packer import Packer
from windrow.spark.shuffle.packets import Packet
from windrow.spark.shuffle.routing import NO_ROUTING
from windrow.spark.shuffle.table_packer import RecordForm, TablePacker
from windrow.spark.shuffle.tree_packer import TreePacker
from windrow.spark.shuffle.window_limits import WidthOrder
from windrow.spark.worker.live_cache import LiveCache
from windrow.spark.worker.passing_step import PassingStep
from windrow.spark.worker.shard_output import ShardOutput
from windrow.spark.worker.shard_step import ShardStep
from windrow.spark.worker.stage_step import StageStep
from windrow.spark.worker.tree_step import TreeStep
from windrow.storage import Storage
from windrow.table_schema import TableSchema
from windrow.windows.lifetime import Lifetime

FEEDS = ("answers", "changes", "result")
NOTHING: Mapping[str, Any] = MappingProxyType({})


class DictionaryState:
    """What the state store would hold for one bucket."""

    def __init__(self) -> None:
        self.header: bytes | None = None
        self.segments: dict[int, bytes] = {}

    def read_header(self) -> bytes | None:
        return self.header

    def write_header(self, data: bytes) -> None:
        self.header = data

    def read_segment(self, sequence: int) -> bytes | None:
        return self.segments.get(sequence)

    def write_segment(self, sequence: int, data: bytes) -> None:
        self.segments[sequence] = data

    def remove_segment(self, sequence: int) -> None:
        del self.segments[sequence]

    def copy(self) -> DictionaryState:
        made = DictionaryState()
        made.header, made.segments = self.header, dict(self.segments)
        return made


class DrivenJob:
    """Runs batches of one query in some buckets."""

    def __init__(
        self,
        plan: RunnablePlan,
        folder: Path,
        buckets: int = 1,
        tables: Sequence[TableSchema] = (),
        *,
        passes: bool = False,
    ) -> None:
        self.plan, self.tables, self.passes = plan, tables, passes
        is_exact = plan.error_percent is None
        self.run: RunnablePlan = plan if is_exact else inner_plan(plan).plan
        is_tree = isinstance(plan, TreePlan)
        self._step, self._packer = (TreeStep, TreePacker) if is_tree else (ShardStep, Packer)
        if passes:
            self._step = PassingStep
        self._feeds = ("changes",) if passes else FEEDS
        self.folder = folder
        self.states = [DictionaryState() for _ in range(buckets)]
        # Of the stages of a tree after the first.
        self.stages = self.run.stages if is_tree and buckets > 1 else (self.run,)
        self.later_states = [
            [DictionaryState() for _ in range(buckets if stage.partitioning.is_sharded else 1)]
            for stage in self.stages[1:]
        ]
        self.later_steps: list[list[StageStep]] = []
        self.batch_id = 0
        self.routing = NO_ROUTING
        self.restart()

    def restart(self) -> None:
        """Forget all but the state store and the checkpoint."""
        count, print_ = len(self.states), fingerprint(self.run)
        beside = {"tables": self.tables} if self.tables else {}
        if len(self.stages) == 1:
            self.steps = [
                self._step(self.run, print_, "owner", bucket, LiveCache(lends=False), **beside)
                for bucket in range(count)
            ]
        else:
            self.steps, *self.later_steps = self._stage_steps()
        self.publication = Publication(self.plan, Storage(self.folder), passes=self.passes)

    def _stage_steps(self) -> list[list[StageStep]]:
        counts = [len(self.states), *map(len, self.later_states)]
        return [
            [
                StageStep(self.run, (fingerprint(stage), "owner"), number, receivers, bucket,
                          LiveCache(lends=False), () if number else self.tables)
                for bucket in range(counts[number])
            ]
            for number, (stage, receivers) in enumerate(
                zip(self.stages, [*counts[1:], 0], strict=True)
            )
        ]  # fmt: skip

    def lose_shards(self) -> None:
        """All live shards are gone; they are built again from the state."""
        for step in [*self.steps, *(each for later in self.later_steps for each in later)]:
            step.cache = LiveCache(lends=False)

    def batch(
        self,
        tables: Mapping[str, pa.Table | pa.RecordBatch],
        orders: Iterable[Packet] = (),
        changes: Mapping[str, tuple[RecordForm, Sequence[pa.RecordBatch]]] = NOTHING,
    ) -> dict[str, pa.Table]:
        """One batch with rows of streams, orders and records of tables; what it gives."""
        outputs = self.outputs(tables, orders, changes)
        given = self.publication.absorb(self.batch_id, outputs, self._feeds)
        self.publication.save()
        self.batch_id += 1
        return given

    def outputs(
        self,
        tables: Mapping[str, pa.Table | pa.RecordBatch],
        orders: Iterable[Packet] = (),
        changes: Mapping[str, tuple[RecordForm, Sequence[pa.RecordBatch]]] = NOTHING,
    ) -> list[ShardOutput]:
        """What all buckets give for a batch."""
        packets: list[list[bytes]] = [[order.to_bytes() for order in orders] for _ in self.states]
        for stream, table in tables.items():
            packer = self._packer(
                self.stages[0], stream, tuple(range(len(self.states))), routing=self.routing
            )
            for batch in table.to_batches() if isinstance(table, pa.Table) else [table]:
                packer.add(batch)
            for bucket, packet in enumerate(packer.take().column("packet").to_pylist()):
                packets[bucket].append(packet)
        for table, (form, batches) in changes.items():
            for bucket, packet in enumerate(self._packed(table, form, batches)):
                packets[bucket].append(packet)
        values = _run(self.steps, packets, self.states)
        for steps, states in zip(self.later_steps, self.later_states, strict=True):
            values = _run(steps, list(zip(*values, strict=True)), states)
        return by_bucket([ShardOutput.from_bytes(value) for (value,) in values])

    def _packed(
        self, table: str, form: RecordForm, batches: Sequence[pa.RecordBatch]
    ) -> list[bytes]:
        """The packets of a table's records, each batch of a task of its own."""
        assert isinstance(self.run, TreePlan)
        (schema,) = (each for each in self.tables if each.name == table)
        packer = TablePacker(self.stages[0], schema, form, tuple(range(len(self.states))))
        for batch in batches:
            packer.add(batch)
        return packer.take().column("packet").to_pylist()

    @property
    def clock(self) -> int:
        """The clock after the last batch."""
        return self.publication.status.clock_us or 0


def _run(steps, packets, states) -> list[list[bytes]]:
    return [
        step.values(own, state) for step, own, state in zip(steps, packets, states, strict=True)
    ]


def order(number: int, lifetime: Lifetime) -> Packet:
    """An order for the first input; the shards know from when on it holds."""
    return Packet("", order=WidthOrder(number, {0: replace(lifetime, floor_us=START_OF_TIME)}))


def heartbeat(stream: str, to_us: int) -> Packet:
    """A stream is complete through an instant."""
    return Packet(stream, complete_through_us=to_us)
