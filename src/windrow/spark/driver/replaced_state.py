"""The state of a query on Spark becomes that of a changed one, in its checkpoint.

It is written as a new generation, which is the checkpoint's with its last write. A query that
shared an operator leaves it then, and goes on by itself; were it to break off in between, the
operator would still have it, and what was written would be written again.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace

from pyspark.sql import SparkSession

from windrow.carryover.carryover import Carryover
from windrow.carryover.differences import DIFFERENCES, warn_begins_anew
from windrow.carryover.fitting import fitted
from windrow.errors import CheckpointError
from windrow.plan.fingerprint import fingerprint
from windrow.plan.history_plan import HistoryPlan
from windrow.plan.relations.tree_plan import RunnablePlan
from windrow.plan.serialise import plan_from_json
from windrow.spark.checkpoint.owner import CheckpointOwner
from windrow.spark.checkpoint.query_checkpoint import QueryCheckpoint
from windrow.spark.checkpoint.spark_part import last_commit, last_offsets
from windrow.spark.driver.begun_checkpoint import begin_next, bucket_count
from windrow.spark.driver.bundle import Bundle
from windrow.spark.driver.taken_state import carryover_of

__all__ = ["Moving", "is_of"]


def is_of(owner: CheckpointOwner, plan: RunnablePlan | HistoryPlan) -> bool:
    """Whether a checkpoint is of this plan."""
    if isinstance(plan, HistoryPlan):
        return False
    return fingerprint(plan_from_json(json.dumps(owner.plan))) == fingerprint(plan)


@dataclass(frozen=True)
class Moving:
    """Into the checkpoint of a query, by its plan; who calls is its driver.

    wanted: in how many buckets. begin_anew: where windows do not agree it begins without state.
    """

    spark: SparkSession
    checkpoint: QueryCheckpoint
    plan: RunnablePlan
    wanted: int
    time_zone: str
    begin_anew: bool = False

    def over(self) -> None:
        """From the query that the checkpoint is of."""
        checkpoint, owner = self.checkpoint, self.checkpoint.owner()
        if owner is None or is_of(owner, self.plan):
            return  # there is nothing to be moved, or it was moved before
        done, begun = last_commit(checkpoint.spark_part), last_offsets(checkpoint.spark_part)
        if done < 0 and begun < 0 and not owner.goes_on:
            checkpoint.give_up()
            return
        if done < begun or done < 0:
            raise _not_over(checkpoint.query)
        buckets = min(owner.buckets, bucket_count(self.plan, owner.buckets))
        first = owner.first_batch + done
        self._go_on(lambda: carryover_of(self.spark, checkpoint, self.time_zone), buckets, first)

    def out_of(self, bundle: Bundle) -> None:
        """From one that shares an operator, which it leaves."""
        name = self.checkpoint.query
        place, done = bundle.checkpoint_of(name), bundle.last_commit
        if bundle.has_pending:
            raise _not_over(name)
        if place.is_begun():
            self.checkpoint.take_identity(place.identity())
            buckets = bucket_count(self.plan, bundle.bucket_count())
            self._go_on(lambda: self._taken(bundle), buckets, done)
        bundle.let_go(name)

    def _taken(self, bundle: Bundle) -> Carryover:
        carried = bundle.taken(self.checkpoint.query, self.time_zone)
        assert carried.positions is not None
        return replace(carried, positions=carried.positions.elsewhere)

    def _go_on(self, taken: Callable[[], Carryover], buckets: int, first_batch: int) -> None:
        checkpoint = self.checkpoint
        try:
            given = fitted(taken(), self.plan)
            begin_next(checkpoint, given, buckets, grid_us=0, first_batch=first_batch)
        except CheckpointError as error:
            if not self.begin_anew or error.code not in DIFFERENCES:
                raise
            checkpoint.begin_anew(fingerprint(self.plan), self.wanted, self.plan, first_batch + 1)
            warn_begins_anew(checkpoint.query, error.message)


def _not_over(name: str) -> CheckpointError:
    return CheckpointError(
        "WC436",
        f"query {name!r} cannot be replaced: its last batch was begun, and is not over",
        hint="start it once more as it was, until that batch is over",
    )
