"""One batch in one bucket of a stage of a tree: what it is given, and what it sends on.

The first stage is given rows as any tree is; the others are given changes, from all buckets of the
stage below, and keep them as a tree does whose rows do not say all. All but the last send changes,
with what they report to the driver.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from windrow.plan.relations.exchange_algebra import Sent
from windrow.plan.relations.tree_plan import TreePlan
from windrow.rows.frames import Parts
from windrow.rows.life import life_of
from windrow.spark.checkpoint.table_declaration import tables_of_text
from windrow.spark.processes.python_worker import tree_of
from windrow.spark.shuffle.arrivals import Arrivals
from windrow.spark.shuffle.exchange import ExchangePacket, ExchangeRouter, gather_exchanged
from windrow.spark.worker.bucket_header import SHARD
from windrow.spark.worker.bucket_state import BucketState
from windrow.spark.worker.clock import NEVER
from windrow.spark.worker.live_cache import PROCESS_CACHE, LiveCache
from windrow.spark.worker.live_shard import StepInput
from windrow.spark.worker.segments import Segment
from windrow.spark.worker.sent_output import sent_rows
from windrow.spark.worker.shard_output import ShardOutput
from windrow.spark.worker.tree_output import with_aside
from windrow.spark.worker.tree_step import TreeStep
from windrow.table_schema import TableSchema

__all__ = ["StageStep", "step_of"]


def step_of(
    plan_text: str,
    prints: Sequence[str],
    owner: str,
    number: int,
    receivers: int,
    tables: str,
    bucket: int,
) -> StageStep:
    """The step of a bucket, as the operator carries it; tables: those that the stage reads."""
    plan, names = tree_of(plan_text), (prints[number], owner)
    read = tables_of_text(tables)
    return StageStep(plan, names, number, receivers, bucket, PROCESS_CACHE, read)


class StageStep(TreeStep):
    """The work of one bucket of a stage in every batch.

    whole: the plan of the query. names: the fingerprint of the stage, and whose bucket it is.
    receivers: how many buckets the next stage has; none where there is none. tables: all that the
    query reads, in the first stage.
    """

    def __init__(
        self,
        whole: TreePlan,
        names: tuple[str, str],
        number: int,
        receivers: int,
        bucket: int,
        cache: LiveCache,
        tables: Sequence[TableSchema] = (),
    ) -> None:
        print_, owner = names
        owned = owner if number == 0 else f"{owner}#{number}"
        super().__init__(whole.stages[number], print_, owned, bucket, cache, tables=tables)
        self._number, self._receivers = number, receivers
        self._router = ExchangeRouter(whole.stages[number + 1], receivers) if receivers else None

    def run_batch(self, packets: Iterable[bytes], state: BucketState) -> ShardOutput:
        """Applies the packets of one batch: rows of streams, or changes."""
        run = self._run_changes if self.plan.received else super().run_batch
        output = run(packets, state)
        output.stage = self._number
        return output

    def _run_changes(self, packets: Iterable[bytes], state: BucketState) -> ShardOutput:
        header = self._read_header(state, (), SHARD)
        before = replace(header)
        came = gather_exchanged(packets)
        header.first_us = came.first_us
        header.clock_us = header.reached_us = came.clock_us
        life = life_of(self.plan, header.first_us) or NEVER
        is_last = before.clock_us < life[1] <= header.clock_us
        times = {str(number): np.array([time_us]) for number, time_us in came.below.items()}
        segment, clock_us = Segment(came.rows, times), came.clock_us
        step = StepInput(came.rows, times, clock_us, clock_us, life=life, is_last=is_last)
        output = self._applied(before, header, state, segment, step, Arrivals({}, {}))
        output.aside = with_aside({}, output.partial.header.pop("aside"))
        output.below = list(came.reports)
        return output

    def values(self, packets: Iterable[bytes], state: BucketState) -> list[bytes]:
        """The output for the driver; or one packet for each bucket of the next stage."""
        output = self.run_batch(packets, state)
        return [output.to_bytes()] if self._router is None else self._sent(output, self._router)

    def _sent(self, output: ShardOutput, router: ExchangeRouter) -> list[bytes]:
        rows, below = sent_rows(output.partial)
        place = (self.bucket, output.clock_us, output.first_us)
        packets = [ExchangePacket(*place, below=below) for _ in range(self._receivers)]
        for number, changes in rows.items():
            if self.bucket and self._is_alone(number):
                continue  # the first bucket has all that there is
            for packet, own in zip(packets, router.parts(number, changes), strict=True):
                if own.num_rows:
                    packet.rows[number] = own
        reports, output.below, output.partial = output.below, [], Parts({"pieces": []}, [])
        packets[self.bucket % self._receivers].reports = [output.to_bytes(), *reports]
        return [packet.to_bytes() for packet in packets]

    def _is_alone(self, number: int) -> bool:
        root = self.plan.relation
        assert isinstance(root, Sent)
        return root.alone[number]
