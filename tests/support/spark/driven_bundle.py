"""All of a bundle on Spark but Spark itself: packers, buckets on dictionaries, and the driver."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import pyarrow as pa

from support.spark.driven_job import FEEDS, DictionaryState
from windrow.plan.model import QueryPlan
from windrow.plan.serialise import plan_to_json
from windrow.spark.driver.publication import Publication
from windrow.spark.shuffle.bundle_packer import BundlePacker
from windrow.spark.shuffle.carrier import Columns, SharedPartitioning, carrier_of, wider
from windrow.spark.shuffle.member_orders import MemberOrder
from windrow.spark.shuffle.packets import Packet
from windrow.spark.worker.bundle_step import BundleStep
from windrow.spark.worker.live_cache import LiveCache
from windrow.spark.worker.shard_output import ShardOutput
from windrow.storage import Storage


class DrivenBundle:
    """Runs batches of queries that are dealt out alike in some buckets."""

    def __init__(self, partitioning: SharedPartitioning, folder: Path, buckets: int = 1) -> None:
        self.partitioning, self.folder = partitioning, folder
        self.states = [DictionaryState() for _ in range(buckets)]
        self.plans: dict[int, QueryPlan] = {}
        self.columns: Columns = wider({}, partitioning, [])
        self.batch_id = 0
        self.restart()

    def restart(self) -> None:
        """Forget all but the state store and the checkpoint."""
        self.caches = [LiveCache(lends=False) for _ in self.states]
        self.publications = {number: self._publication(number) for number in self.plans}

    def _publication(self, number: int) -> Publication:
        return Publication(self.plans[number], Storage(self.folder / str(number)))

    def begin(self, number: int, plan: QueryPlan, grid_us: int = 1) -> Packet:
        """The order with which a query begins; from now on its columns are carried, too."""
        self.plans[number] = plan
        self.publications[number] = self._publication(number)
        self.columns = wider(self.columns, self.partitioning, [plan])
        return Packet("", member=MemberOrder(number, plan_to_json(plan), grid_us))

    def end(self, number: int) -> Packet:
        """The order with which a query ends."""
        return Packet("", member=MemberOrder(number))

    def batch(
        self, tables: Mapping[str, pa.RecordBatch], orders: Iterable[Packet] = ()
    ) -> dict[int, dict[str, pa.Table]]:
        """One batch with rows of streams and orders; what it gives, by query."""
        outputs = self.outputs(tables, orders)
        parts = [output.by_member() for output in outputs]
        given = {}
        for number in parts[0]:
            publication = self.publications[number]
            if number in outputs[0].begun:
                publication.begin(self.batch_id, outputs[0].began_us)
            own = [part[number] for part in parts]
            given[number] = publication.absorb(self.batch_id, own, FEEDS)
            publication.save()
        self.batch_id += 1
        return given

    def outputs(
        self, tables: Mapping[str, pa.RecordBatch], orders: Iterable[Packet] = ()
    ) -> list[ShardOutput]:
        """What all buckets give for a batch."""
        carrier = carrier_of(self.partitioning, self.columns)
        packets: list[list[bytes]] = [[order.to_bytes() for order in orders] for _ in self.states]
        for stream, table in tables.items():
            packer = BundlePacker(carrier, stream, tuple(range(len(self.states))))
            packer.add(table.select(list(self.columns[stream])))
            for bucket, packet in enumerate(packer.take().column("packet").to_pylist()):
                packets[bucket].append(packet)
        return [
            ShardOutput.from_bytes(
                BundleStep(carrier, self.partitioning.fingerprint, "owner", bucket, cache)
                .run_batch(own, state)
                .to_bytes()
            )
            for bucket, (own, state, cache) in enumerate(
                zip(packets, self.states, self.caches, strict=True)
            )
        ]
