"""The shard of a query that is a tree: leaves with windows, operators above them, and the result.

It is asked what a shard of a single query is asked. Operators remember nothing but what follows
from the relations of the leaves: a step that fails is undone in the leaves, and all operators are
made anew from what these hold.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple, Self

import numpy as np
import pyarrow as pa

from windrow.errors import CheckpointError, DataError
from windrow.event_time import MIN_EVENT_TIME, START_OF_TIME
from windrow.operators.partial import Partial
from windrow.operators.relations.changes import Changes, Vector, no_changes
from windrow.operators.relations.operator import NO_LIMIT
from windrow.operators.relations.registry import read_by_number
from windrow.operators.relations.result import TreeResult
from windrow.plan.expressions import ColumnRef, Expr
from windrow.plan.model import QueryPlan
from windrow.plan.relations.algebra import Relation, walk_relations
from windrow.plan.relations.blocks import Block, SessionBlock
from windrow.plan.relations.tree_plan import TreePlan
from windrow.rows.faults import FaultError
from windrow.rows.frames import pack, unpack
from windrow.rows.prepared_rows import PreparedRows
from windrow.runtime.trees.closing_tree import ClosedSessions, ClosingTree
from windrow.runtime.trees.fused_leaf import FusedLeaf
from windrow.runtime.trees.leaf_of_block import leaf_of
from windrow.runtime.trees.leaves import Leaf
from windrow.runtime.trees.operator_tree import LEAVES, OperatorTree
from windrow.runtime.trees.received_leaf import ReceivedLeaf
from windrow.runtime.trees.table_leaf import ReadTable, table_leaf
from windrow.runtime.trees.view_leaf import ReadView, ViewLeaf
from windrow.windows.instants import NO_INSTANTS, merged
from windrow.windows.lifetime import Lifetime
from windrow.windows.marks import DeepMark, Mark
from windrow.windows.window import Window

__all__ = ["TreeMark", "TreeShard"]


class TreeMark(NamedTuple):
    """How a tree was before a step."""

    own: Mark
    leaves: list[Any]
    windows: list[DeepMark]


class TreeShard:
    """Runs a plan; with EVERY its relations change at the ticks only."""

    algorithm = "tree"
    # Rows of a tree cannot be let go early: what they gave is in operators above.
    fixes_lifetimes = True

    def __init__(
        self,
        plan: TreePlan,
        clock: int = START_OF_TIME,
        views: Mapping[str, ReadView] | None = None,
        tables: Mapping[str, ReadTable] | None = None,
    ) -> None:
        self.plan = plan
        self.clock = START_OF_TIME
        self._every_us = plan.every_us or 1
        self._ran_until = START_OF_TIME
        self._has_run = False
        self._first_us: list[int | None] = [None] * len(plan.inputs)  # of each input
        by_number = read_by_number(plan.relation) if plan.closing is None else frozenset()
        self._leaves: dict[Relation, Leaf] = {
            block: leaf_of(block, plan.grid_us, by_number=block in by_number)
            for block in plan.blocks
        }
        self._owners = [
            (leaf, number)
            for leaf in self._leaves.values()
            for number in range(sum(len(plan.inputs) for plan in leaf.plans))
        ]
        self.view_leaves = {
            scan: ViewLeaf(scan, (views or {})[scan.view], plan.grid_us, clock)
            for scan in plan.view_scans
        }
        self._leaves |= [(scan, leaf) for scan, leaf in self.view_leaves.items()]
        self.table_leaves = {
            scan: table_leaf(scan, (tables or {})[scan.table], plan.grid_us, clock)
            for scan in plan.table_scans
        }
        self._leaves |= [(scan, each) for scan, each in self.table_leaves.items()]
        self._received = {node: ReceivedLeaf(node) for node in plan.received}
        self._leaves |= [(node, each) for node, each in self._received.items()]
        self._types = [field.type.arrow for field in plan.outputs]
        self._tree = OperatorTree(plan.relation)
        self._closing = None if plan.closing is None else ClosingTree(plan.closing, self._types)
        self.closed: ClosedSessions | None = None
        self._is_first_result = True
        self._begin_result()
        # What the last step changes in the rows with the columns that only order them.
        self.whole: Partial | None = None
        self.entered = NO_INSTANTS
        self.most_changes = NO_LIMIT
        # Relations are compared by all that they say: leaves are found by the nodes themselves.
        self._leaf_of_node: dict[int, Leaf] = {}
        # Sizes change with rows and steps only, and are asked for by every push to any stream.
        self._held_bytes: int | None = None
        self._growth: dict[int, int] = {}

    def _leaf(self, node: Relation) -> Leaf:
        found = self._leaf_of_node.get(id(node))
        if found is None:
            found = self._leaf_of_node[id(node)] = self._leaves[node]
        return found

    def _forget_sizes(self) -> None:
        self._held_bytes = None
        self._growth = {}

    def _begin_result(self) -> None:
        self._result = TreeResult(self._types)
        # With columns that only order it the result is held once more, with these.
        fields = self.plan.relation.fields
        self._whole = TreeResult([each.type.arrow for each in fields]) if self.plan.hidden else None

    # ---- a step

    def append(self, changes: Mapping[int, PreparedRows]) -> None:
        """Prepared rows, all later than the clock, wait for it."""
        self._forget_sizes()
        for number, rows in changes.items():
            leaf, own = self._owners[number]
            leaf.append({own: rows})
            if rows.size:
                first, before = int(rows.times.min()), self._first_us[number]
                self._first_us[number] = first if before is None else min(before, first)

    def receive(self, changes: Mapping[int, Changes], first_us: Mapping[int, int]) -> None:
        """Changes of what another stage sends, by number; first_us: of the rows below it."""
        self._forget_sizes()
        for node, leaf in self._received.items():
            given = changes.get(node.number, no_changes(leaf.types))
            leaf.receive(given, first_us.get(node.number))

    def advance(self, changes: Mapping[int, PreparedRows], until: int) -> Partial:
        """Take prepared rows and run to `until`, inclusive."""
        if changes:
            self.append(changes)
        self.clock = max(self.clock, until)
        self._forget_sizes()
        return self._run(self._last_tick(self.clock))

    def _last_tick(self, instant: int) -> int:
        return instant // self._every_us * self._every_us

    def _run(self, until: int) -> Partial:
        self._begin_windows()
        found: dict[Leaf, Changes] = {}

        def changes_of(node: Relation) -> Changes:
            """What a leaf gives, which both trees may read."""
            leaf = self._leaf(node)
            if leaf not in found:
                found[leaf] = leaf.run(until)
            return found[leaf]

        try:
            changes = self._tree.advance(changes_of, until, self.most_changes)
            if self._closing is not None:
                partial = self._closing.advance(changes_of, until, self.most_changes)
                self.closed = ClosedSessions(partial, self._closed_at())
        except FaultError as fault:
            raise fault.in_words(self._named) from None
        except DataError as error:
            # Rows that have no answer end the query, as a value that an expression lacks does.
            raise FaultError(error.code, error.message, hint=error.hint) from None
        self._ran_until, self._has_run = until, True
        self.entered = self._entered()
        partial = self._absorb(changes)
        return partial if self._is_first_result else replace(partial, codes=None)

    def _begin_windows(self) -> None:
        """A query inside this one answers from the first row of its own streams on."""
        for node, window in self._tree.windows.items():
            first = self._first_of(node)
            if first is not None:
                window.begin(first)

    def _first_of(self, node: Relation) -> int | None:
        """The time of the first row of any stream below a node, if one has come."""
        leaves = {each for each in walk_relations(node) if isinstance(each, LEAVES)}
        owned = [block in leaves for block in self.plan.blocks for _ in block.entries]
        found = zip(self._first_us, owned, strict=True)
        first = [time for time, is_own in found if is_own]
        first += [leaf.first_us for scan, leaf in self._reading if scan in leaves]
        return min((time for time in first if time is not None), default=None)

    @property
    def _reading(self) -> list[tuple[Relation, ViewLeaf | ReceivedLeaf]]:
        """The leaves that have no windows."""
        return [*self.view_leaves.items(), *self.table_leaves.items(), *self._received.items()]

    def _entered(self) -> Vector:
        """The instants at which answers of queries inside this one entered its windows.

        And those at which rows did that had waited for others.
        """
        found = NO_INSTANTS
        for node in self.plan.entered:
            if isinstance(node, Block):
                found = merged(found, self._leaf(node).entered)
        for node, window in self._tree.windows.items():
            if node in self.plan.entered:
                found = merged(found, window.entered)
        return found

    def _closed_at(self) -> Vector:
        """The instants at which sessions closed."""
        found = NO_INSTANTS
        for block in self.plan.blocks:
            if isinstance(block, SessionBlock) and block.mode == "closing":
                found = merged(found, self._leaves[block].entered)
        return found

    def _absorb(self, changes: Changes) -> Partial:
        """The result changes at ticks only, wherever what it is made of does."""
        changes = self._at_ticks(from_the_beginning(changes))
        if self._whole is not None:
            self.whole = self._whole.absorb(changes)
        shown = changes.columns[: len(self._types)]
        return self._result.absorb(replace(changes, columns=shown))

    def _at_ticks(self, changes: Changes) -> Changes:
        if self._every_us == 1:
            return changes
        later = -(-changes.at // self._every_us) * self._every_us
        return replace(changes, at=np.where(changes.at > START_OF_TIME, later, changes.at))

    def nothing(self) -> Partial:
        """What a step gives in which nothing changes, not even at the beginning of time."""
        none = TreeResult(self._types).absorb(no_changes(self._types))
        self.entered = NO_INSTANTS
        if self._closing is not None:
            self.closed = ClosedSessions(none, NO_INSTANTS)
        if self._whole is not None:
            types = [field.type.arrow for field in self.plan.relation.fields]
            self.whole = TreeResult(types).absorb(no_changes(types))
        return none

    def rows(self) -> pa.Table:
        """The rows of the result with the columns that order it."""
        columns = (self._whole or self._result).rows()
        names = [field.id for field in self.plan.relation.fields]
        return pa.Table.from_arrays(list(columns), names=names)

    def _named(self, leaf: Expr) -> str:
        """The name of a column in the text, or in the answer of the query within."""
        assert isinstance(leaf, ColumnRef)
        nodes = walk_relations(self.plan.relation)
        fields = (field for node in nodes for field in node.fields if field.id == leaf.column)
        return next((field.name for field in fields), leaf.column)

    @property
    def has_run(self) -> bool:
        """Whether it has been run to any instant."""
        return self._has_run

    @property
    def first_us(self) -> int | None:
        """The time of the first row of any of its streams, if one has come."""
        found = [*self._first_us, *(leaf.first_us for _, leaf in self._reading)]
        return min((each for each in found if each is not None), default=None)

    @property
    def step_changes(self) -> int:
        """The most changes that any part of the last step had."""
        return self._tree.most_changes

    def next_stop(self, until: int, events: int) -> int:
        """How far the clock may go, at most to `until`, for about so many events of a window."""
        for leaf in self._leaves.values():
            until = leaf.next_stop(until, events)
        return until

    def event_count(self) -> int:
        """A number that has grown by about one for each event of a window meanwhile."""
        return sum(leaf.event_count for leaf in self._leaves.values())

    # ---- undone, or saved and restored

    def mark(self, taking: Iterable[int] = ()) -> TreeMark:
        """How it is now: rewind() goes back to it until keep() is called."""
        del taking  # rows are not shared with other queries
        windows = [DeepMark(window) for window in self._tree.windows.values()]
        leaves = [leaf.mark(()) for leaf in self._leaves.values()]
        return TreeMark(Mark(self), leaves, windows)

    def keep(self, mark: TreeMark) -> None:
        """The step since the mark is whole."""
        for leaf, own in zip(self._leaves.values(), mark.leaves, strict=True):
            leaf.keep(own)

    def rewind(self, mark: TreeMark) -> None:
        """Roll back to the mark: operators are made anew from what the leaves hold."""
        mark.own.rewind()
        self._forget_sizes()
        for leaf, own in zip(self._leaves.values(), mark.leaves, strict=True):
            leaf.rewind(own)
        for window in mark.windows:
            window.rewind()
        self._rebuild()

    def _rebuild(self) -> None:
        """Operators and the result from the relations of the leaves, at the instant run to."""
        self._tree = OperatorTree(self.plan.relation, self._tree.windows)
        self._begin_result()
        self._is_first_result = False
        at = self._ran_until
        if self._has_run:
            self._absorb(self._tree.rebuild(lambda block: self._held(block, at), at))
        if self._closing is not None and self.plan.closing is not None:
            self._closing = ClosingTree(self.plan.closing, self._types, is_first=False)
            if self._has_run:
                self._closing.rebuild(lambda block: self._held(block, at), at)

    def _held(self, node: Relation, at: int) -> Changes:
        return self._leaves[node].held(at)

    def snapshot(self) -> bytes:
        """The rows of all leaves; everything else follows from them."""
        header: dict[str, Any] = {
            "plan": self.plan.fingerprint,
            "clock": self.clock,
            "ran_until": self._ran_until,
            "has_run": self._has_run,
            "first_us": self._first_us,
        }
        tables = {
            f"{number}.{name}": table
            for number, leaf in enumerate(self._leaves.values())
            for name, table in leaf.saved().items()
        }
        for number, window in enumerate(self._tree.windows.values()):
            tables |= {f"w{number}.{name}": each for name, each in window.saved().items()}
        return pack("tree", header, tables)

    @classmethod
    def restore(
        cls,
        plan: TreePlan,
        data: bytes,
        tables: Mapping[str, ReadTable] | None = None,
        views: Mapping[str, ReadView] | None = None,
    ) -> Self:
        """The shard that snapshot() saved; tables, views: that it reads, as they were then."""
        header, saved = unpack("tree", data)
        if header["plan"] != plan.fingerprint:
            raise CheckpointError(
                "WC105",
                "the saved state belongs to another query",
                hint="start the changed query with a new checkpoint",
            )
        shard = cls(plan, views=views, tables=tables)
        shard.clock, shard._ran_until = header["clock"], header["ran_until"]
        shard._has_run, shard._first_us = header["has_run"], header["first_us"]
        for number, leaf in enumerate(shard._leaves.values()):
            leaf.load(_named(saved, f"{number}."), shard._ran_until)
        for number, window in enumerate(shard._tree.windows.values()):
            window.load(_named(saved, f"w{number}."))
        shard._rebuild()
        return shard

    @classmethod
    def rebuild(cls, plan: TreePlan, rows: Mapping[int, pa.Table], clock: int) -> Self:
        """A shard at `clock` from prepared rows in order of arrival; rows that left do no harm.

        Only where rows suffice (TreePlan.follows_from_rows), and all that had not left at the last
        tick are there.
        """
        shard = cls(plan)
        shard.clock, shard._ran_until, shard._has_run = clock, shard._last_tick(clock), True
        given: dict[Leaf, dict[int, pa.Table]] = {leaf: {} for leaf in shard._leaves.values()}
        for number, table in rows.items():
            leaf, own = shard._owners[number]
            given[leaf][own] = table
        for leaf, own_rows in given.items():
            leaf.load_rows(own_rows, shard._ran_until)
        shard._rebuild()
        return shard

    # ---- what is so

    def lifetime(self, input_index: int) -> Lifetime:
        """How long rows of an input stay."""
        leaf, own = self._owners[input_index]
        return leaf.lifetime(own)

    def change_lifetimes(self, lifetimes: Mapping[int, Lifetime]) -> None:
        """Windows of a tree keep their width: its answers are exact."""
        raise AssertionError(f"windows {sorted(lifetimes)} of a tree cannot be narrowed")

    def close(self) -> None:
        """Nothing is run any more."""
        for leaf in self._leaves.values():
            leaf.close()

    def held_inputs(self) -> list[tuple[QueryPlan, int]]:
        """The inputs whose rows are held: the plans that they belong to, and their numbers."""
        return [leaf.plan_of(own) for leaf, own in self._owners if leaf.holds_rows]

    def input_rows(self, plan: QueryPlan, input_index: int) -> pa.RecordBatch:
        """The rows of an input of a block, held and waiting, as prepared rows."""
        owners = ((leaf, own, *leaf.plan_of(own)) for leaf, own in self._owners)
        return next(
            leaf.input_rows(own)
            for leaf, own, its, number in owners
            if its is plan and number == input_index
        )

    @property
    def windows(self) -> tuple[Window, ...]:
        """The windows of all inputs."""
        return tuple(window for leaf in self._leaves.values() for window in leaf.windows)

    def window_statistics(self) -> list[tuple[int, int, int]]:
        """Per input: its number, rows held, bytes (rows, and its part of everything else)."""
        windows = self.windows
        beside = (self.nbytes - sum(window.nbytes for window in windows)) // max(1, len(windows))
        return [
            (number, window.row_count, window.nbytes + beside)
            for number, window in enumerate(windows)
        ]

    @property
    def nbytes(self) -> int:
        """Bytes of leaves, operators and the result."""
        if self._held_bytes is None:
            self._held_bytes = self._bytes_now()
        return self._held_bytes

    def _bytes_now(self) -> int:
        leaves = sum(leaf.nbytes for leaf in self._leaves.values())
        whole = 0 if self._whole is None else self._whole.nbytes
        closing = 0 if self._closing is None else self._closing.nbytes
        return leaves + self._tree.nbytes + self._result.nbytes + whole + closing

    def growth_bytes(self, rows: int) -> int:
        """Peak bytes, in addition to the windows, that this many rows may need."""
        if rows not in self._growth:
            self._growth[rows] = self._growth_now(rows)
        return self._growth[rows]

    def _growth_now(self, rows: int) -> int:
        leaves = sum(leaf.growth_bytes(rows) for leaf in self._leaves.values())
        shown = self._result.growth_bytes(self._tree.root_changes(2 * rows))
        if self._whole is not None:
            shown += self._whole.growth_bytes(self._tree.root_changes(2 * rows))
        if self._closing is not None:
            leaves += self._closing.growth_bytes(2 * rows)
        return leaves + max(self._tree.growth_bytes(2 * rows), shown)

    def prepared(self, input_index: int, batch: pa.RecordBatch) -> PreparedRows:
        """Rows of an input that were saved or shuffled as a batch."""
        leaf, own = self._owners[input_index]
        return leaf.prepared(own, batch)

    def sizes(self) -> list[tuple[Relation, int]]:
        """Every node of the tree, and the bytes that it remembers."""
        leaves = [(block, leaf.nbytes) for block, leaf in self._leaves.items()]
        return [*leaves, *self._tree.sizes()]

    def algorithms(self) -> dict[Relation, str]:
        """The algorithm by which each block that is more than a window runs now."""
        fused = ((block, self._leaves[block]) for block in self.plan.blocks)
        return {block: leaf.algorithm for block, leaf in fused if isinstance(leaf, FusedLeaf)}


def _named(tables: Mapping[str, pa.Table], prefix: str) -> dict[str, pa.Table]:
    return {
        name.removeprefix(prefix): table
        for name, table in tables.items()
        if name.startswith(prefix)
    }


def from_the_beginning(changes: Changes) -> Changes:
    """What tables held before the first event holds since the beginning of time."""
    if not changes.size or changes.at[0] >= MIN_EVENT_TIME:
        return changes
    return replace(changes, at=np.where(changes.at < MIN_EVENT_TIME, START_OF_TIME, changes.at))
