"""The plan of a query that is a tree: what runs, and what runners ask of any plan."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from windrow.deferred import deferred
from windrow.plan.expressions import ColumnRef
from windrow.plan.fingerprint import fingerprint
from windrow.plan.model import OutputColumn, PlanInput, QueryPlan, WindowSpec
from windrow.plan.relations.algebra import (
    AnswerWindow,
    Field,
    OrderKey,
    Relation,
    TableScan,
    VersionScan,
    ViewScan,
    walk_relations,
)
from windrow.plan.relations.blocks import Block
from windrow.plan.relations.exchange_algebra import Received, Sent
from windrow.schema import TIMESTAMP, Column, StreamSchema
from windrow.sql.statements import OnError
from windrow.window_kinds import UNBOUNDED

if TYPE_CHECKING:
    from windrow.plan.relations.stages import stages_of
    from windrow.plan.relations.tree_partitioning import TreePartitioning, tree_partitioning
else:
    stages_of = deferred("windrow.plan.relations.stages", "stages_of")
    tree_partitioning = deferred("windrow.plan.relations.tree_partitioning", "tree_partitioning")

__all__ = ["RunnablePlan", "TreePlan", "first_stage", "grid_of"]


@dataclass(frozen=True)
class TreePlan:
    """A query over relations.

    bound: as it was written; relation: after all rules, with blocks as leaves. outputs: its columns
    under the names that readers see. order: how result() is sorted; () as rows are. hidden: columns
    behind these that only the order reads. closes: as QueryPlan has it.
    closing: with sessions and without EVERY, what the answers are: the query over the sessions that
    end at an instant, with blocks as leaves.
    combined: where it is nothing but a union block, how the states of its parts are published.
    """

    text: str
    bound: Relation
    relation: Relation
    outputs: tuple[Field, ...]
    order: tuple[OrderKey, ...] = ()
    every_us: int | None = None
    duration: tuple[tuple[str, int], tuple[str, int]] | None = None
    hidden: tuple[Field, ...] = ()
    closes: tuple[int, int] | None = None
    closing: Relation | None = None
    on_error: OnError = "fail"
    combined: QueryPlan | None = None

    kind = "tree"
    algorithm = "tree"
    store = "auto"
    error_percent = None

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """Its leaves with windows, each different one once."""
        whole = [self.relation] if self.closing is None else [self.relation, self.closing]
        nodes = (each for relation in whole for each in walk_relations(relation))
        return tuple(dict.fromkeys(each for each in nodes if isinstance(each, Block)))

    @property
    def plans(self) -> list[QueryPlan]:
        """Those of its blocks, which have the inputs."""
        return [plan for block in self.blocks for plan in block.plans]

    @cached_property
    def places(self) -> tuple[tuple[QueryPlan, int], ...]:
        """Of each input the plan that it belongs to, and its number there."""
        return tuple((plan, own) for plan in self.plans for own in range(len(plan.inputs)))

    @cached_property
    def inputs(self) -> tuple[PlanInput, ...]:
        """All windows, those of each block together; a name that comes again has a number."""
        found: list[PlanInput] = []
        seen: dict[str, int] = {}
        for entry in (entry for block in self.blocks for entry in block.entries):
            count = seen[entry.alias] = seen.get(entry.alias, 0) + 1
            alias = entry.alias if count == 1 else f"{entry.alias}#{count}"
            found.append(replace(entry, alias=alias))
        return tuple(found)

    @cached_property
    def grid_us(self) -> int:
        """Its relations change at multiples of this only; those of the answer, at the ticks."""
        return grid_of(self.relation, self.every_us)

    @cached_property
    def entered(self) -> frozenset[Relation]:
        """The blocks, views, tables and answer windows into which rows enter as into streams.

        What is read to make the answers of a query inside it is not among them.
        """
        return frozenset(_entered(self.relation))

    @cached_property
    def answering(self) -> tuple[bool, ...]:
        """Of each input, whether an answer is due when a row enters it."""
        return tuple(
            block in self.entered and not entry.window.traits.enters_later
            for block in self.blocks
            for entry in block.entries
        )

    @cached_property
    def view_scans(self) -> tuple[ViewScan, ...]:
        """Its leaves that read views, each different one once."""
        found = (each for each in walk_relations(self.relation) if isinstance(each, ViewScan))
        return tuple(dict.fromkeys(found))

    @cached_property
    def answer_windows(self) -> tuple[AnswerWindow, ...]:
        """Its windows over the answers of queries."""
        nodes = walk_relations(self.bound)
        return tuple(each for each in nodes if isinstance(each, AnswerWindow))

    @cached_property
    def views(self) -> tuple[str, ...]:
        """The views that it reads, each once; not those that these read."""
        return tuple(dict.fromkeys(scan.view for scan in self.view_scans))

    @cached_property
    def table_scans(self) -> tuple[TableScan | VersionScan, ...]:
        """Its leaves that read tables, each different one once."""
        nodes = walk_relations(self.relation)
        found = (each for each in nodes if isinstance(each, TableScan | VersionScan))
        return tuple(dict.fromkeys(found))

    @cached_property
    def own_tables(self) -> tuple[str, ...]:
        """The tables that it reads, each once; not those that its views read."""
        return tuple(dict.fromkeys(scan.table for scan in self.table_scans))

    @cached_property
    def tables(self) -> tuple[str, ...]:
        """The tables read, also by its views, each once."""
        inner = (name for scan in self.view_scans for name in scan.tables)
        return tuple(dict.fromkeys([*self.own_tables, *inner]))

    @cached_property
    def streams(self) -> tuple[str, ...]:
        """The streams read, also by its views, each once."""
        found: list[str] = []
        for node in walk_relations(self.relation):
            if isinstance(node, Block):
                found += [entry.stream.name for entry in node.entries]
            elif isinstance(node, ViewScan):
                found += node.streams
        return tuple(dict.fromkeys(found))

    @cached_property
    def inputs_of(self) -> Mapping[str, tuple[int, ...]]:
        """The numbers of the inputs that read each stream: none where only a view does."""
        named = [(entry.stream.name, i) for i, entry in enumerate(self.inputs)]
        return {stream: tuple(i for name, i in named if name == stream) for stream in self.streams}

    @cached_property
    def growing(self) -> tuple[str, ...]:
        """The names of windows that never lose a row and keep all of them."""
        found = (
            entry.alias
            for block in self.blocks
            for entry in block.plan.inputs
            if block.is_scan and entry.window.traits.is_endless
        )
        return tuple(dict.fromkeys(found))

    @cached_property
    def follows_from_rows(self) -> bool:
        """Whether the rows in its windows say all: else what rows gave is remembered beyond them.

        Answers in a window are no longer rows, nor are sums of rows that are never let go, nor what
        a stage receives. Windows that count rows, and sessions, need the order in which rows came,
        and those that have left. Rows of tables never leave by themselves.
        """
        kinds = [entry.window.traits for entry in self.inputs]
        leave = all(each.leaves_by_time and not each.is_endless for each in kinds)
        remembers = any(isinstance(each, AnswerWindow) for each in walk_relations(self.relation))
        return leave and not (remembers or self.received or self.own_tables)

    @cached_property
    def partitioning(self) -> TreePartitioning:
        """How its rows may be partitioned into buckets."""
        return tree_partitioning(self)

    @cached_property
    def stages(self) -> tuple[TreePlan, ...]:
        """The plans that run one above the other where there are several buckets."""
        return stages_of(self)

    @property
    def is_sharded(self) -> bool:
        """Whether there may be several buckets."""
        return self.partitioning.is_sharded or len(self.stages) > 1

    @cached_property
    def received(self) -> tuple[Received, ...]:
        """What it is given by the stage below, each different relation once."""
        nodes = (each for each in walk_relations(self.relation) if isinstance(each, Received))
        return tuple(dict.fromkeys(nodes))

    @cached_property
    def select(self) -> tuple[OutputColumn, ...]:
        """The columns of the answer."""
        return tuple(
            OutputColumn(field.name, ColumnRef(0, field.name, field.type), field.type)
            for field in self.outputs
        )

    @cached_property
    def fingerprint(self) -> str:
        """Equal for plans that mean the same rows."""
        return fingerprint(self)

    @cached_property
    def published(self) -> QueryPlan:
        """How its rows are published: as those of a select, counted."""
        if self.combined is not None:
            return self.combined
        columns = [Column(field.name, field.type) for field in self.outputs]
        # No column of an answer has an empty name.
        rows = StreamSchema("rows", (*columns, Column("", TIMESTAMP)), "")
        entry = PlanInput(rows, "rows", WindowSpec(UNBOUNDED.name))
        return QueryPlan(
            self.text, "select", (entry,), self.select, every_us=self.every_us, algorithm="scan",
            closes=self.closes,
        )  # fmt: skip


def first_stage(plan: TreePlan, buckets: int) -> TreePlan:
    """What takes the rows of streams: the plan itself where there is nothing to exchange."""
    return plan.stages[0] if buckets > 1 else plan


def grid_of(relation: Relation, every_us: int | None) -> int:
    """The span such that every tick, of the query and of queries inside it, is a multiple of it."""
    if every_us is None:
        return 1
    nodes = list(walk_relations(relation))
    inner = [node.every_us for node in nodes if isinstance(node, AnswerWindow)]
    inner += [node.grid_us for node in nodes if isinstance(node, Sent)]
    return math.gcd(every_us, *inner)


def _entered(relation: Relation) -> Iterator[Relation]:
    if isinstance(relation, (Block, AnswerWindow, ViewScan, TableScan, Received)):
        yield relation
    elif isinstance(relation, Sent):
        for part, is_entered in zip(relation.parts, relation.entered, strict=True):
            if is_entered:
                yield from _entered(part)
    else:
        for part in relation.inputs:
            yield from _entered(part)


# What a session runs.
RunnablePlan = QueryPlan | TreePlan
