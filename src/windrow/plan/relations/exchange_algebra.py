"""Nodes at the ends of the stages of a tree: what a stage sends to the next one, and what it gets.

On Spark a tree is cut into stages where rows must be partitioned anew. Between two of them travel
the changes of relations, so what a stage receives is a relation like any other.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from windrow.plan.relations.algebra import Aggregate, TopRows
from windrow.plan.relations.relation import Field, Relation

__all__ = ["LocalAggregate", "LocalTopRows", "Received", "Sent"]


@dataclass(frozen=True)
class Received(Relation):
    """The relation of this number that the stage below sends, as all its buckets have it.

    begins: whether it may have rows before any row of a stream has come. is_small: whether no
    bucket of the stage below sends more than one row of it.
    """

    number: int
    given: tuple[Field, ...]
    begins: bool = False
    is_small: bool = False

    @property
    def fields(self) -> tuple[Field, ...]:
        """Those of the relation that is sent."""
        return self.given


@dataclass(frozen=True)
class Sent(Relation):
    """All relations that a stage sends, by number; it is the root of its tree.

    entered: of each, whether rows that enter it ask for answers, as rows of streams do. alone:
    whether all its rows are in the first bucket. grid_us: as the whole tree has it.
    """

    parts: tuple[Relation, ...]
    entered: tuple[bool, ...]
    alone: tuple[bool, ...]
    grid_us: int = 1

    @property
    def inputs(self) -> tuple[Relation, ...]:
        """What is sent."""
        return self.parts

    @property
    def fields(self) -> tuple[Field, ...]:
        """None: each part has its own."""
        return ()

    def with_inputs(self, *inputs: Relation) -> Relation:
        """The same of others."""
        return replace(self, parts=inputs)


@dataclass(frozen=True)
class LocalTopRows(TopRows):
    """The first rows of those in a bucket: the first of all are among them."""


@dataclass(frozen=True)
class LocalAggregate(Aggregate):
    """The groups of a bucket's rows, which are put together with those of the other buckets."""
