"""A query in this process that hands over what it holds, or goes on from what another one held."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from windrow.deferred import deferred
from windrow.embedded.query_parts import QueryStep
from windrow.embedded.query_run import QueryRun
from windrow.event_time import START_OF_TIME
from windrow.output.publish import Publisher
from windrow.output.session_publisher import SessionPublisher
from windrow.plan.model import QueryPlan
from windrow.runtime.shard import Shard
from windrow.windows.instants import NO_INSTANTS

if TYPE_CHECKING:
    from windrow.carryover.carryover import (
        CLOSED,
        RESULT,
        CarriedStream,
        Carryover,
        follows_from_rows,
        not_carried,
        not_in_buckets,
        places_of,
    )
    from windrow.runtime.trees.tree_shard import TreeShard
    from windrow.runtime.trees.union_shard import UnionShard
else:
    _HOME = "windrow.carryover.carryover"
    Carryover = deferred(_HOME, "Carryover")
    follows_from_rows = deferred(_HOME, "follows_from_rows")
    not_carried = deferred(_HOME, "not_carried")
    not_in_buckets = deferred(_HOME, "not_in_buckets")
    places_of = deferred(_HOME, "places_of")
    TreeShard = deferred("windrow.runtime.trees.tree_shard", "TreeShard")
    UnionShard = deferred("windrow.runtime.trees.union_shard", "UnionShard")
    RESULT, CLOSED = "result", "closed"

__all__ = ["CarriedQuery"]


class CarriedQuery(QueryRun):
    """What an EmbeddedQuery does when its state is taken, or given to it."""

    name: str
    begun_us: int

    def carryover(
        self, streams: Mapping[str, CarriedStream], time_zone: str, *, is_by_arrival: bool
    ) -> Carryover:
        """All that another run needs to go on from here; streams: those that it reads."""
        self._check_carried()
        waiting = [
            waiting.listed()
            for waiting, is_answering in zip(self._entries, self.plan.answering, strict=True)
            if is_answering
        ]
        due = np.unique(np.array([at for instants in waiting for at in instants], np.int64))
        counts = (dict(self._ledger.rows_in), dict(self._ledger.set_aside))
        rows, shards, publishers = self._held()
        return Carryover(
            self.name,
            self.plan,
            self._shard.clock,
            streams,
            rows,
            due,
            self._publisher.first_instant,
            self.begun_us,
            shards,
            publishers,
            *counts,
            is_by_arrival=is_by_arrival,
            time_zone=time_zone,
        )

    def _check_carried(self) -> None:
        """Refuses what does not go into a file: each with what to do."""
        if self._bounded is not None:
            why = "a query with ERROR knows of rows that its window no longer holds"
            raise not_carried(self.name, why, "register it anew where it shall go on")
        if self.views or (not isinstance(self.plan, QueryPlan) and self.plan.tables):
            why = "it reads a view or a table, whose rows belong to the session"
            raise not_carried(self.name, why, "write the view into the query, as WITH ... AS")
        if self.lacks_rows() or self._has_missed:
            why = "its answers lack rows that were refused for lack of memory"
            hint = "register it anew, with more memory or shorter windows"
            raise not_carried(self.name, why, hint)
        shard = self._shard
        if isinstance(shard, Shard) and shard.held_inputs() and not shard.is_plain:
            why = "its windows were made narrower for lack of memory"
            raise not_carried(self.name, why, "register it anew, with more memory")

    def _held(self) -> tuple[dict[int, pa.Table], tuple[bytes, ...], dict[str, bytes]]:
        """Its rows; or, where these do not say all, its shard and its publishers as saved."""
        shard = self._shard
        assert isinstance(shard, (Shard, TreeShard))
        if follows_from_rows(self.plan):
            places = enumerate(places_of(self.plan))
            tables = {
                number: pa.Table.from_batches([shard.input_rows(plan, own)])
                for number, (plan, own) in places
            }
            return {number: each for number, each in tables.items() if each.num_rows}, (), {}
        publisher = self._publisher
        found = publisher.both if isinstance(publisher, SessionPublisher) else (publisher,)
        names = (RESULT, CLOSED)
        saved = {name: each.snapshot() for name, each in zip(names, found, strict=False)}
        return {}, (shard.snapshot(),), saved

    def carry_on(self, carried: Carryover) -> None:
        """Go on from what is handed over; this query has seen nothing yet."""
        if carried.shards:
            self._load(carried)
        else:
            self._replay(carried)
        self._publisher.drop_answers()
        self._publisher.drop_changes()
        first = next((i for i, is_own in enumerate(self.plan.answering) if is_own), None)
        if first is not None:
            self._entries[first].add(carried.due)
        for counts, given in (
            (self._ledger.rows_in, carried.rows_in),
            (self._ledger.set_aside, carried.set_aside),
        ):
            counts.update({name: given.get(name, 0) for name in counts})
        self.begun_us = carried.began_us

    def _replay(self, carried: Carryover) -> None:
        """Rows that are held give the result again; what that changes was told before."""
        shard = self._shard
        assert isinstance(shard, (Shard, TreeShard))
        assert isinstance(self._publisher, Publisher)
        self._publisher.stand_at(carried.clock_us, carried.answered_us)
        batches = {
            number: table.combine_chunks().to_batches()[0] for number, table in carried.rows.items()
        }
        rows = {number: shard.prepared(number, batch) for number, batch in batches.items()}
        with self._part(rows):
            shard.append(rows)
            if carried.clock_us == START_OF_TIME:
                # No step goes there; a tree has a result before any row has come.
                self._absorb(shard.advance({}, START_OF_TIME), NO_INSTANTS, START_OF_TIME)
        self.apply(QueryStep(-1, carried.clock_us))

    def _load(self, carried: Carryover) -> None:
        """What was saved takes the place of what is there."""
        if len(carried.shards) > 1:
            raise not_in_buckets(carried, 1)
        (saved,) = carried.shards
        before, plan = self._shard, self.plan
        if isinstance(plan, QueryPlan):
            self._shard = Shard.restore(plan, saved)
            self._publisher = Publisher.restore(plan, carried.publishers[RESULT])
        else:
            kind = TreeShard if plan.combined is None else UnionShard
            self._shard = kind.restore(plan, saved)
            found = {
                name: Publisher.restore(plan.published, each)
                for name, each in carried.publishers.items()
                if name in (RESULT, CLOSED)
            }
            self._publisher = found[RESULT]
            if CLOSED in found:
                self._publisher = SessionPublisher.of(plan.published, found[RESULT], found[CLOSED])
        before.close()
