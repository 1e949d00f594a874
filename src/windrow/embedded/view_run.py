"""A view at work: it runs once, however many queries read it, and tells its changes to a log."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from windrow.deferred import deferred
from windrow.embedded.query import EmbeddedQuery
from windrow.errors import DataError
from windrow.operators.partial import Partial
from windrow.operators.relations.changes import Changes

if TYPE_CHECKING:
    from windrow.plan.relations.tree_plan import TreePlan
    from windrow.runtime.trees.tree_shard import TreeShard
    from windrow.runtime.trees.view_log import ViewLog
    from windrow.runtime.trees.view_shard import ViewShard
else:
    ViewShard = deferred("windrow.runtime.trees.view_shard", "ViewShard")

__all__ = ["ViewRun"]


class ViewRun(EmbeddedQuery):
    """The hidden query of a view: it takes rows, time and faults as any other.

    Nothing of it is published: queries that read it have their place in its log.
    """

    def _new_tree(self, plan: TreePlan, clock: int) -> TreeShard:
        tables = {table.name: table for table in self.tables}
        return ViewShard(plan, clock, {view.name: view for view in self.views}, tables)

    @property
    def _view_shard(self) -> ViewShard:
        assert isinstance(self._shard, ViewShard)
        return self._shard

    @property
    def log(self) -> ViewLog:
        """What it tells its readers."""
        return self._view_shard.log

    def keep_log(self, log: ViewLog) -> None:
        """Go on with a log in which readers have their places, after it was loaded."""
        self._view_shard.log = log

    @property
    def first_us(self) -> int | None:
        """The time of the first row of any of its streams, if one has come."""
        return self._view_shard.first_us

    @property
    def row_count(self) -> int:
        """The rows of its relation, equal ones as often as there are."""
        return self._view_shard.row_count

    def held(self, at: int) -> Changes:
        """Its relation as it is, as if all rows had entered at that instant."""
        return self._view_shard.held(at)

    def be_whole(self) -> None:
        """Roll back an interrupted part of a step, if there is one."""
        if self._mark is not None:
            self.repair()

    def _drop_answers(self) -> None:
        """Nothing of it is published."""

    def drop(self) -> None:
        """Nobody reads it any more."""
        self._end()

    def fail(self, error: DataError) -> None:
        """Stop for good; all that read it stop with it, and tell why."""
        self._failure = DataError(
            error.code, f"in view {self.name!r}: {error.message}",
            hint=error.hint, place=error.place,
        )  # fmt: skip

    @property
    def _answers_at_ticks(self) -> bool:
        """Queries that read it are told of every instant."""
        return False

    def _publish(self, partial: Partial, clock: int) -> None:
        """The shard has told its log what has changed; the instants are told next to it."""
        del partial
        self.log.enter(self._entered(clock))

    def _result(self) -> pa.Table:
        """Its relation now, each row as often as it occurs."""
        self._be_ready()
        return self._view_shard.rows()

    @property
    def published_bytes(self) -> int:
        """Bytes of what some readers have not read, and of instants to come."""
        return self.log.nbytes + sum(waiting.nbytes for waiting in self._entries)

    def published_growth(self, rows: int) -> int:
        """Peak bytes that the log may need for this many rows."""
        return self.log.growth_bytes(rows)

    @property
    def unread_bytes(self) -> int:
        """None that could be dropped: queries read all of it."""
        return 0

    def shrink_unread(self, limit_bytes: int) -> None:
        """Nothing is dropped before all queries have read it."""
        del limit_bytes
