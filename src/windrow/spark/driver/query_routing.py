"""The routing of a query in its checkpoint: hot keys are written down before rows go by them."""

from __future__ import annotations

from windrow.errors import UnsupportedError
from windrow.plan.relations.tree_plan import RunnablePlan, TreePlan
from windrow.rows.frames import read_frame, write_frame
from windrow.spark.checkpoint.query_checkpoint import ROUTING, QueryCheckpoint
from windrow.spark.monitoring.skew import skew_of
from windrow.spark.monitoring.status import QueryStatus
from windrow.spark.shuffle.heavy_keys import heavy_shares
from windrow.spark.shuffle.routing import NO_ROUTING, Routing
from windrow.spark.shuffle.splitting import Split, routing_with

__all__ = ["NO_SPLIT", "QueryRouting"]

NO_SPLIT: Split = {}

BUCKETS_SHOWN = 16


class QueryRouting:
    """What the checkpoint says of a query's hot keys."""

    def __init__(self, plan: RunnablePlan, checkpoint: QueryCheckpoint) -> None:
        self._plan, self._checkpoint = plan, checkpoint

    def stored(self) -> Routing:
        """The routing that the query runs by."""
        data = self._checkpoint.state.read(ROUTING)
        if data is None:
            return NO_ROUTING
        header, _ = read_frame("routing", data)
        return Routing.from_json(header["keys"])

    def with_split(self, split: Split, status: QueryStatus) -> Routing:
        """The routing with these keys, too, written down.

        A batch that was run and not committed is run again by the new routing. Its answers are the
        same, and as the status may know its rows already, keys are only spread later for it.
        """
        known = self.stored()
        if isinstance(self._plan, TreePlan):
            return _unsplit(split)
        complete_us = None if status.clock_us is None else status.complete_us
        routing = routing_with(self._plan, split, known, complete_us)
        if routing != known:
            self._checkpoint.state.write(
                ROUTING, write_frame("routing", {"keys": routing.to_json()})
            )
        return routing

    def shown(self, status: QueryStatus) -> list[str]:
        """Lines of EXPLAIN: how even the buckets are, heavy keys, and those that are split."""
        lines = []
        ratio = skew_of(status.bucket_rows)
        if ratio is not None and len(status.bucket_rows) > 1:
            shown = " ".join(map(str, status.bucket_rows[:BUCKETS_SHOWN]))
            more = " ..." if len(status.bucket_rows) > BUCKETS_SHOWN else ""
            lines.append(f"rows per bucket: {shown}{more} (the most is {ratio:.2f} of the mean)")
        lines += [
            f"heavy key of {each['input']}: {each['key']}, {each['share']:.0%} of its rows"
            for each in heavy_shares(self._plan, status.heavy)
        ]
        for key in self.stored().keys:
            alias = self._plan.inputs[key.position].alias
            lines.append(f"split key: {key.shown}, rows of {alias} go to all buckets")
        return lines


def _unsplit(split: Split) -> Routing:
    """No key of a tree is split: its operators need all rows of a key together."""
    if split:
        raise UnsupportedError(
            "WU460",
            f"keys of {next(iter(split))} cannot be spread: the query is a tree of relations",
            hint="omit split=, or write the join with its aggregate as a query of its own",
        )
    return NO_ROUTING
