"""The publisher: partial results of shards become the answers, changes and result of a query."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from windrow.engine.aggregate_values import aggregate_values
from windrow.engine.combine import Combiner, EntityTouches, with_gone
from windrow.engine.evaluate import evaluate, evaluate_filter
from windrow.engine.feed import Feed
from windrow.engine.frames import pack, unpack
from windrow.engine.kernels import is_increasing
from windrow.engine.partial import Partial
from windrow.engine.shape import shape_of
from windrow.engine.whole_feed import WholeFeed
from windrow.errors import CheckpointError
from windrow.event_time import END_OF_TIME, START_OF_TIME
from windrow.joins.lanes import LaneLayout, Vector
from windrow.plan.expressions import AggregateRef, Expr, GroupRef
from windrow.plan.fingerprint import fingerprint
from windrow.plan.model import QueryPlan
from windrow.windows.kernels import renumber
from windrow.windows.key_coder import KeyCoder

__all__ = ["Publisher"]

# Entities that nothing refers to are forgotten when there are this many more than twice those in
# use.
IDLE_ENTITIES = 10_000
# A step of the clock over more ticks than this answers at the newest ones and counts the others.
TICKS_LIMIT = 1_000_000


class Publisher:
    """Takes what all shards of a query give for each step of the clock."""

    def __init__(self, plan: QueryPlan) -> None:
        self._plan = plan
        self._shape = shape_of(plan)
        group_types = [column.type.arrow for column in self._shape.group_columns]
        self._entities = KeyCoder(group_types) if group_types else None
        self._listed = plan.group_by
        if self._shape.is_select:
            self._listed = tuple(column.expression for column in plan.select)
        self._known = np.zeros(0, np.bool_)
        self._seen, self._stamp = np.zeros(0, np.int64), 1  # for _distinct
        self._combiner: Combiner | None = None
        self._alive = np.zeros(0, np.bool_)
        self._clock = START_OF_TIME
        self._first_instant = END_OF_TIME
        self._is_whole = not plan.group_by and not self._shape.is_select
        schema = pa.schema([(column.name, column.type.arrow) for column in plan.select])
        self._feed: Feed | WholeFeed = WholeFeed(schema)
        if not self._is_whole:
            self._feed = Feed(schema, self._rank, compares_rows=not self._shape.is_select)

    def absorb(self, partials: Sequence[tuple[int, Partial]], instants: Vector, until: int) -> None:
        """Take the (bucket, partial) of every shard for the step to `until`.

        instants: those at which rows entered in it, in any order; without EVERY an answer is due at
        each.
        """
        touches = self._touches(partials)
        if not is_increasing(instants):
            instants = np.unique(instants)
        earliest = min(
            int(instants[0]) if instants.size else END_OF_TIME,
            int(touches.at[0]) if touches.at.size else END_OF_TIME,
        )
        if earliest < self._first_instant == END_OF_TIME:
            self._first_instant = earliest
            touches = self._with_beginning(touches, earliest)
        if touches.at.size:
            self._feed.record(touches.at, touches.entity, *self._rows(touches))
        self._feed.ask(self._ticks(until) if self._plan.every_us else instants)
        self._clock = max(self._clock, until)
        self._feed.settle()
        self._forget_idle()

    def answers(self) -> pa.Table:
        """Every answer since the last call: at, level, error_bound, then the select list."""
        return self._feed.answers()

    def changes(self) -> pa.Table:
        """Rows that came (+1) and went (-1) since the last call; they add up to result()."""
        return self._feed.changes()

    def drop_answers(self) -> None:
        """Let go of the answers that are due, for a reader that takes changes only."""
        self._feed.drop_answers()

    def drop_changes(self) -> None:
        """Let go of the changes so far, for a reader that takes answers only."""
        self._feed.drop_changes()

    def result(self) -> pa.Table:
        """The answer at the clock."""
        if self._is_whole and self._first_instant == END_OF_TIME:
            many, rows = self._rows(self._nothing(START_OF_TIME))
            return rows.slice(0, int(many[0]))
        return self._feed.result()

    def snapshot(self) -> bytes:
        """Everything that the next step needs, and what nobody has read yet."""
        codes = np.flatnonzero(self._known).astype(np.int32)
        if self._entities is None:  # one entity without columns
            codes = np.zeros(1, np.int32)
        groups = [] if self._entities is None else self._entities.columns(codes)
        named = {f"g{i}": column for i, column in enumerate(groups)}
        header = {
            "fingerprint": fingerprint(self._plan),
            "clock": self._clock,
            "first_instant": self._first_instant,
            "instants_lost": self._feed.instants_lost,
            "combiner": None if self._combiner is None else self._combiner.header(),
        }
        alive = np.isin(codes, np.flatnonzero(self._alive))
        entities = pa.table({"code": codes, "alive": alive, **named})
        tables = {"entities": entities, **self._feed.tables()}
        if self._combiner is not None:
            tables["combiner"] = self._combiner.table(codes)
        return pack("publisher", header, tables)

    @classmethod
    def restore(cls, plan: QueryPlan, data: bytes) -> Publisher:
        """The publisher that snapshot() saved."""
        header, tables = unpack("publisher", data)
        if header["fingerprint"] != fingerprint(plan):
            raise CheckpointError(
                "WC106",
                "the saved results belong to another query",
                hint="start the changed query with a new checkpoint",
            )
        publisher = cls(plan)
        publisher._clock = header["clock"]
        publisher._first_instant = header["first_instant"]
        publisher._feed.instants_lost = header["instants_lost"]
        new_code, codes = publisher._recode(tables["entities"])
        publisher._feed.load(tables, new_code)
        alive = codes[tables["entities"].column("alive").to_numpy()]
        publisher._alive = np.zeros(int(codes.max(initial=-1)) + 1, np.bool_)
        publisher._alive[alive] = True
        if header["combiner"] is not None:
            publisher._combiner = Combiner.load(header["combiner"], tables["combiner"], codes)
        return publisher

    def _recode(self, entities: pa.Table) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """New codes for saved entities: by old code, and in the order saved."""
        old = entities.column("code").to_numpy()
        new_code = np.zeros(int(old.max(initial=0)) + 1, np.int32)
        codes = np.zeros(old.size, np.int32)
        if self._entities is not None and old.size:
            columns = [column.combine_chunks() for column in entities.columns[2:]]
            codes = self._entities.acquire(columns)
            self._known = np.zeros(self._entities.capacity, np.bool_)
            self._known[codes] = True
            new_code[old] = codes
        return new_code, codes

    @property
    def instants_lost(self) -> int:
        """Answers that were due but let go because nobody called answers() for too long."""
        return self._feed.instants_lost

    def _touches(self, partials: Sequence[tuple[int, Partial]]) -> EntityTouches:
        parts = [(bucket, self._of_entities(bucket, partial)) for bucket, partial in partials]
        if len(parts) == 1 and self._combiner is None:
            self._note_alive(parts[0][1])
            return parts[0][1]
        if self._combiner is None:
            self._combiner = Combiner(
                LaneLayout.smallest(self._shape.kinds),
                len(self._shape.distincts),
                len(self._shape.extremes),
            )
        return self._combiner.combine(parts)

    def _note_alive(self, touches: EntityTouches) -> None:
        """Of one shard alone: which entities have rows. Only shards on a grid are asked for it."""
        if self._plan.every_us is None or not touches.at.size:
            return
        highest = int(touches.entity.max()) + 1
        if highest > self._alive.size:
            self._alive = np.pad(self._alive, (0, 2 * highest - self._alive.size))
        self._alive[touches.entity] = touches.count != 0

    def _of_entities(self, bucket: int, partial: Partial) -> EntityTouches:
        codes = np.zeros(partial.group_count, np.int32)
        if self._entities is not None and partial.group_count:
            codes = self._entities.acquire(partial.groups.columns)
            if self._entities.capacity > self._known.size:
                more = np.zeros(self._entities.capacity - self._known.size, np.bool_)
                self._known = np.concatenate([self._known, more])
            # An entity is counted once for as long as anything refers to it.
            self._entities.release(codes[self._known[codes]])
            self._known[codes] = True
        entity = partial.entity
        if self._entities is not None and partial.group_count:
            entity = codes[entity]
        states = (partial.count, partial.lanes, partial.layout, partial.extras)
        touches = EntityTouches(partial.at, entity, *states)
        if partial.complete_at is None:
            return touches
        alive = np.flatnonzero(self._alive).astype(np.int32)
        if self._combiner is not None:
            alive = self._combiner.alive_in(bucket)
        return with_gone(touches, alive, partial.complete_at)

    def _nothing(self, at: int) -> EntityTouches:
        """The state of an ungrouped aggregate over no rows."""
        layout = LaneLayout.smallest(self._shape.kinds)
        zero = np.zeros(1, np.int64)
        lanes = np.zeros((1, layout.lane_count), np.int64)
        extras = np.zeros((1, self._shape.extra_count), np.int64)
        when, entity = np.array([at], np.int64), np.zeros(1, np.int32)
        return EntityTouches(when, entity, zero, lanes, layout, extras)

    def _with_beginning(self, touches: EntityTouches, earliest: int) -> EntityTouches:
        """An ungrouped aggregate shows its empty state from the first instant on."""
        if not self._is_whole or (touches.at.size and touches.at[0] == earliest):
            return touches
        many, rows = self._rows(self._nothing(earliest))
        self._feed.record(np.array([earliest], np.int64), np.zeros(1, np.int32), many, rows)
        return touches

    def _rows(self, touches: EntityTouches) -> tuple[Vector, pa.Table]:
        """For each touch the row of the select list, and in how many copies the result has it."""
        size = touches.at.size
        groups = self._group_columns(touches.entity)
        columns: dict[Expr, pa.Array] = {}
        for index, aggregate in enumerate(self._plan.aggregates):
            columns[AggregateRef(index, aggregate.type)] = aggregate_values(
                aggregate, self._shape.readings[index], self._shape, touches
            )
        for index, expression in enumerate(self._plan.group_by):
            columns[GroupRef(index, expression.type)] = groups[index]
        if self._shape.is_select:
            chosen = groups
        else:
            leaf = columns.__getitem__
            chosen = [evaluate(column.expression, leaf, size) for column in self._plan.select]
        names = [column.name for column in self._plan.select]
        return self._copies(touches, columns), pa.Table.from_arrays(chosen, names=names)

    def _copies(self, touches: EntityTouches, columns: dict[Expr, pa.Array]) -> Vector:
        if self._shape.is_distinct:
            return np.minimum(touches.count, 1)
        if self._shape.is_select:
            return touches.count
        many = np.ones(touches.at.size, np.int64)
        if not self._is_whole:
            many[touches.count == 0] = 0
        if self._plan.having is not None:
            many[~evaluate_filter(self._plan.having, columns.__getitem__, many.size)] = 0
        return many

    def _group_columns(self, entity: NDArray[np.int32]) -> list[pa.Array]:
        """The group columns (or select list) of each touch, in the order of the plan."""
        if not self._shape.group_places:
            return []
        distinct, places = self._distinct(entity)
        values = [] if self._entities is None else self._entities.columns(distinct)
        index = pa.array(places)
        found = iter(values)
        return [
            self._constant(number, entity.size)
            if place.kind == "constant"
            else self._typed(next(found), number).take(index)
            for number, place in enumerate(self._shape.group_places)
        ]

    def _constant(self, number: int, size: int) -> pa.Array:
        return evaluate(self._listed[number], _no_leaf, size)

    def _typed(self, column: pa.Array, number: int) -> pa.Array:
        # A group that is a join key was coded in the type that both sides of the join share.
        part = self._listed[number]
        return column if column.type == part.type.arrow else column.cast(part.type.arrow)

    def _rank(self, entity: NDArray[np.int32]) -> Vector:
        """Numbers that order entities by their group columns, NULL first."""
        if self._entities is None:
            return np.zeros(entity.size, np.int64)
        distinct, places = self._distinct(entity)
        columns = self._entities.columns(distinct)
        names = [f"g{i}" for i in range(len(columns))]
        table = pa.Table.from_arrays(columns, names=names)
        order = _sorted(table, names)
        rank = np.empty(distinct.size, np.int64)
        rank[order] = np.arange(distinct.size)
        return rank[places]

    def _distinct(self, entity: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The different entities in order of appearance, and which of them each one is."""
        highest = int(entity.max(initial=-1)) + 1
        if highest > self._seen.size:
            self._seen = np.zeros(2 * highest, np.int64)
        places, distinct = np.empty(entity.size, np.int32), np.empty(entity.size, np.int32)
        count = int(renumber(entity, self._seen, self._stamp, places, distinct))
        self._stamp += count
        return distinct[:count], places

    def _ticks(self, until: int) -> Vector:
        every = self._plan.every_us
        assert every is not None
        if self._first_instant == END_OF_TIME:
            return np.empty(0, np.int64)
        after = max(self._clock + 1, self._first_instant)
        first = -(-after // every) * every
        excess = (until - first) // every + 1 - TICKS_LIMIT
        if excess > 0:
            self._feed.instants_lost += excess
            first += excess * every
        return np.arange(first, until + 1, every, dtype=np.int64)

    def _forget_idle(self) -> None:
        if self._entities is None:
            return
        known = np.flatnonzero(self._known).astype(np.int32)
        if known.size < 2 * IDLE_ENTITIES:
            return
        used = np.zeros(self._known.size, np.bool_)
        in_use = self._feed.entities_in_use()
        used[: in_use.size] = in_use[: used.size]
        used[: self._alive.size] |= self._alive[: used.size]
        if self._combiner is not None:
            alive = self._combiner.alive()
            used[: alive.size] |= alive[: used.size]
        idle = known[~used[known]]
        if idle.size > known.size // 2:
            self._entities.release(idle)
            self._known[idle] = False


def _no_leaf(part: Expr) -> pa.Array:
    raise AssertionError(f"{part} in a constant")


def _sorted(table: pa.Table, names: list[str]) -> NDArray[np.int64]:
    """The order by these columns: NULL first, NaN last (Arrow alone would put it beside NULL)."""
    columns: list[pa.ChunkedArray] = []
    keys: list[tuple[str, str, str]] = []
    for name in names:
        column = table.column(name)
        parts = [pc.is_nan(column), column] if pa.types.is_floating(column.type) else [column]
        for part in parts:
            keys.append((str(len(columns)), "ascending", "at_start"))
            columns.append(part)
    numbered = pa.Table.from_arrays(columns, names=[name for name, *_ in keys])
    return np.asarray(pc.sort_indices(numbered, sort_keys=keys))
