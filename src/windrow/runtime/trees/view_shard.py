"""The shard of a view: it tells its changes to a log instead of a publisher."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import pyarrow as pa

from windrow.event_time import START_OF_TIME
from windrow.operators.partial import Partial
from windrow.operators.relations.changes import Changes, no_changes
from windrow.operators.relations.result import TreeResult
from windrow.plan.relations.tree_plan import TreePlan
from windrow.runtime.trees.table_leaf import ReadTable
from windrow.runtime.trees.tree_shard import TreeMark, TreeShard
from windrow.runtime.trees.view_leaf import ReadView
from windrow.runtime.trees.view_log import ViewLog
from windrow.windows.marks import Mark

__all__ = ["ViewShard"]


class ViewShard(TreeShard):
    """Runs the plan of a view; what it has told is undone with the step that told it."""

    def __init__(
        self,
        plan: TreePlan,
        clock: int = START_OF_TIME,
        views: Mapping[str, ReadView] | None = None,
        tables: Mapping[str, ReadTable] | None = None,
    ) -> None:
        types = [field.type.arrow for field in plan.outputs]
        self.log = ViewLog(types, plan.every_us or 1)
        self._told = no_changes(types)  # by the last run
        self._nothing = TreeResult(types).absorb(self._told)
        super().__init__(plan, clock, views, tables)

    def _begin_result(self) -> None:
        """No reader sees columns that only order it."""
        self._result, self._whole = TreeResult(self._types), None

    def _run(self, until: int) -> Partial:
        partial = super()._run(until)
        self.log.append(self._told)
        self._told = no_changes(self._types)
        return partial

    def _absorb(self, changes: Changes) -> Partial:
        shown = changes.columns[: len(self._types)]
        self._told = self._result.counted(replace(self._at_ticks(changes), columns=shown))
        return self._nothing

    def _rebuild(self) -> None:
        """What is made anew was told before."""
        super()._rebuild()
        self._told = no_changes(self._types)

    def rows(self) -> pa.Table:
        """The rows of the relation."""
        names = [field.name for field in self.plan.outputs]
        return pa.Table.from_arrays(self._result.rows(), names=names)

    @property
    def row_count(self) -> int:
        """How many rows the relation has."""
        return self._result.row_count

    def held(self, at: int) -> Changes:
        """The relation as it is, as if all rows had entered at that instant."""
        return self._result.held(at)

    def mark(self, taking: Iterable[int] = ()) -> TreeMark:
        """The log goes back with everything else."""
        return super().mark(taking)._replace(own=Mark(self, self.log))
