"""Changes of a batch net per key, for sinks that keep a table elsewhere equal to the result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa

from windrow.output.upserts import check_unique, is_key_certain, net_upserts, upsert_key
from windrow.plan.model import QueryPlan

__all__ = ["NetChanges"]


class NetChanges:
    """Rows to put in place and rows to remove; the feeds that it needs are the writer's.

    key: the columns that tell rows apart; None: those that must.
    """

    def __init__(self, plan: QueryPlan, key: Sequence[str] | None) -> None:
        self.key = upsert_key(plan, key)
        is_certain = is_key_certain(plan, self.key)
        self.feeds: tuple[str, ...] = ("changes",) if is_certain else ("changes", "result")

    def of(self, tables: Mapping[str, pa.Table]) -> tuple[pa.Table, pa.Table]:
        """Those of a batch; refused when two rows of the result have the same key."""
        changes = tables["changes"]
        if "result" in self.feeds and changes.num_rows:
            check_unique(tables["result"], self.key)
        return net_upserts(changes, self.key)
