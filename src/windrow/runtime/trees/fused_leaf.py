"""A leaf that is a block: a shard of its own, or one for each part of a union, and a publisher."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from windrow.errors import DataError
from windrow.event_time import START_OF_TIME
from windrow.operators.partial import Partial, final_states
from windrow.operators.relations.changes import Changes, merged_changes, no_changes
from windrow.output.publish import Publisher, PublisherMark
from windrow.plan.model import QueryPlan
from windrow.plan.relations.blocks import Block
from windrow.rows.faults import FaultError
from windrow.rows.prepared_rows import PreparedRows
from windrow.rows.shape import shape_of
from windrow.runtime.shard import Shard, ShardMark
from windrow.runtime.trees.leaves import Leaf
from windrow.windows.instants import NO_INSTANTS
from windrow.windows.window import Window

__all__ = ["FusedLeaf"]


class LeafMark(NamedTuple):
    """How a leaf was before a step."""

    shards: list[ShardMark]
    publisher: PublisherMark
    shows_nothing: bool | None


class FusedLeaf(Leaf):
    """A block that shards run; the changes of its result are those of the relation."""

    def __init__(self, block: Block, grid_us: int) -> None:
        self.plan, self._plans = block.plan, block.plans
        assert len({shape_of(plan).kinds for plan in self._plans}) == 1, "states do not add up"
        self._grid_us = grid_us
        self._shards = [Shard(plan, grid_us) for plan in self._plans]
        self._owners = [
            (place, own)
            for place, plan in enumerate(self._plans)
            for own in range(len(plan.inputs))
        ]
        self._publisher = Publisher(self.plan)
        # An aggregate without groups has a row before anything has come.
        self._shows_nothing: bool | None = None

    @property
    def algorithm(self) -> str:
        """The algorithm that it runs by now."""
        return self._shards[0].algorithm

    @property
    def plans(self) -> tuple[QueryPlan, ...]:
        """One for each shard."""
        return self._plans

    def plan_of(self, input_index: int) -> tuple[QueryPlan, int]:
        """The plan that an input belongs to, and its number there."""
        place, own = self._owners[input_index]
        return self._plans[place], own

    @property
    def _is_whole(self) -> bool:
        return self.plan.kind == "aggregate" and not self.plan.group_by

    def append(self, rows: Mapping[int, PreparedRows]) -> None:
        """Rows wait for the clock."""
        for number, each in rows.items():
            place, own = self._owners[number]
            self._shards[place].append({own: each})

    def partials(self, until: int) -> list[Partial]:
        """What each of the shards gives up to `until`, for somebody else to publish."""
        return [shard.advance({}, until) for shard in self._shards]

    def run(self, until: int) -> Changes:
        """What changes in the result."""
        parts = []
        if self._is_whole and self._shows_nothing is None:
            parts.append(self._nothing(START_OF_TIME, 1))
            self._shows_nothing = True
        self._publisher.absorb([*enumerate(self.partials(until))], NO_INSTANTS, until)
        self._publisher.drop_answers()
        found = self._told()
        if found.size and self._shows_nothing:
            parts.append(self._nothing(int(found.at[0]), -1))
            self._shows_nothing = False
        return merged_changes([*parts, found], self.types)

    def _nothing(self, at: int, weight: int) -> Changes:
        """The row of an aggregate over nothing, which comes or goes."""
        table = Publisher(self.plan).result()
        return replace(_changes_of(table, at), weight=np.array([weight], np.int64))

    def _told(self) -> Changes:
        try:
            table = self._publisher.changes()
        except DataError as error:
            # A group without a value (a sum beyond its digits) leaves the relation without a row.
            raise FaultError(error.code, error.message, hint=error.hint) from None
        if not table.num_rows:
            return no_changes(self.types)
        at, change, *columns = (column.combine_chunks() for column in table.columns)
        weight = change.to_numpy(zero_copy_only=False).astype(np.int64)
        return Changes(at.cast(pa.int64()).to_numpy(), weight, tuple(columns))

    def held(self, at: int) -> Changes:
        """The result."""
        return _changes_of(self._publisher.result(), at)

    @property
    def holds_rows(self) -> bool:
        """Not those of UNBOUNDED aggregates."""
        return all(shard.held_inputs() for shard in self._shards)

    def input_rows(self, input_index: int) -> pa.RecordBatch:
        """Those of its shard."""
        place, own = self._owners[input_index]
        return self._shards[place].input_rows(self._plans[place], own)

    @property
    def windows(self) -> tuple[Window, ...]:
        """Those of the shards."""
        return tuple(window for shard in self._shards for window in shard.windows)

    def mark(self, appending: Iterable[int]) -> LeafMark:
        """The shards, and what they have published; rows are its own."""
        del appending
        shards = [shard.mark() for shard in self._shards]
        return LeafMark(shards, self._publisher.mark(), self._shows_nothing)

    def keep(self, mark: LeafMark) -> None:
        """The step is whole."""
        for shard, own in zip(self._shards, mark.shards, strict=True):
            shard.keep(own)

    def rewind(self, mark: LeafMark) -> None:
        """Back to the mark."""
        self._shows_nothing = mark.shows_nothing
        self._publisher.rewind(mark.publisher)
        for shard, own in zip(self._shards, mark.shards, strict=True):
            shard.rewind(own)
            shard.keep(own)

    def saved(self) -> dict[str, pa.Table | pa.RecordBatch]:
        """The shards and the publisher, as bytes."""
        begun = {"begun": [self._shows_nothing]}
        shards = {f"shard{i}": _as_table(each.snapshot()) for i, each in enumerate(self._shards)}
        return {
            **shards,
            "publisher": _as_table(self._publisher.snapshot()),
            "begun": pa.table(begun, schema=pa.schema([("begun", pa.bool_())])),
        }

    def load(self, tables: Mapping[str, pa.Table], clock: int) -> None:
        """Back from saved()."""
        del clock
        self._shards = [
            Shard.restore(plan, _bytes_of(tables[f"shard{number}"]), self._grid_us)
            for number, plan in enumerate(self._plans)
        ]
        self._publisher = Publisher.restore(self.plan, _bytes_of(tables["publisher"]))
        self._shows_nothing = tables["begun"].column(0)[0].as_py()

    def load_rows(self, rows: Mapping[int, pa.Table], clock: int) -> None:
        """The shards run to the clock at once; only what they end with is published."""
        found = [self._rebuilt(place, rows, clock) for place in range(len(self._plans))]
        self._shards = [shard for shard, _ in found]
        states = [final_states(partial, clock) for _, partial in found]
        self._publisher.absorb([*enumerate(states)], NO_INSTANTS, clock)
        self._publisher.drop_answers()
        self._publisher.drop_changes()
        self._shows_nothing = self._is_whole and not any(state.size for state in states)

    def _rebuilt(
        self, place: int, rows: Mapping[int, pa.Table], clock: int
    ) -> tuple[Shard, Partial]:
        plan = self._plans[place]
        owned = [(number, own) for number, (at, own) in enumerate(self._owners) if at == place]
        given = {own: rows[number] for number, own in owned if number in rows}
        return Shard.rebuilt(plan, given, clock, self._grid_us)

    @property
    def nbytes(self) -> int:
        """Bytes of windows, sums and the result."""
        return sum(shard.nbytes for shard in self._shards) + self._publisher.nbytes

    def growth_bytes(self, rows: int) -> int:
        """Peak bytes beside the windows."""
        shards = sum(shard.growth_bytes(rows) for shard in self._shards)
        return shards + self._publisher.growth_bytes(rows)

    def close(self) -> None:
        """Nothing is run any more."""
        for shard in self._shards:
            shard.close()


def _changes_of(table: pa.Table, at: int) -> Changes:
    size = table.num_rows
    columns = tuple(column.combine_chunks() for column in table.columns)
    return Changes(np.full(size, at, np.int64), np.ones(size, np.int64), columns)


def _as_table(data: bytes) -> pa.Table:
    return pa.table({"bytes": pa.array([data], pa.large_binary())})


def _bytes_of(table: pa.Table) -> bytes:
    data: bytes = table.column(0)[0].as_py()
    return data
