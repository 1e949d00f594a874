"""The shard of a view: it tells its changes to a log instead of a publisher."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from windrow.operators.partial import Partial
from windrow.operators.relations.changes import Changes, no_changes
from windrow.operators.relations.counted_relation import CountedRelation
from windrow.operators.relations.result import TreeResult
from windrow.plan.relations.tree_plan import TreePlan
from windrow.runtime.trees.tree_shard import TreeMark, TreeShard
from windrow.runtime.trees.view_leaf import ReadView
from windrow.runtime.trees.view_log import ViewLog
from windrow.windows.marks import Mark

__all__ = ["ViewShard"]


class ViewShard(TreeShard):
    """Runs the plan of a view; what it has told is undone with the step that told it."""

    def __init__(
        self, plan: TreePlan, clock: int, views: Mapping[str, ReadView] | None = None
    ) -> None:
        types = [field.type.arrow for field in plan.outputs]
        self.log = ViewLog(types, plan.every_us or 1)
        self._nothing = TreeResult(types).absorb(no_changes(types))
        super().__init__(plan, clock, views)

    def _new_result(self) -> CountedRelation:
        return CountedRelation(self._types)

    def _given(self, changes: Changes) -> Partial:
        self.log.append(self._relation.absorb(changes))
        return self._nothing

    @property
    def _relation(self) -> CountedRelation:
        assert isinstance(self._result, CountedRelation)
        return self._result

    def held(self, at: int) -> Changes:
        """The relation as it is, as if all rows had entered at that instant."""
        return self._relation.held(at)

    def mark(self, taking: Iterable[int] = ()) -> TreeMark:
        """The log goes back with everything else."""
        return super().mark(taking)._replace(own=Mark(self, self.log))
