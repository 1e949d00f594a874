"""What all nodes of the relational algebra have: their inputs, and the columns that they give."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from windrow.plan.expressions import ColumnRef, Expr
from windrow.schema import ColumnType

__all__ = ["Field", "Item", "Relation", "Unary", "walk_relations"]


@dataclass(frozen=True)
class Field:
    """A column of a relation. id: unique in the tree; name: what the text calls it."""

    id: str
    name: str
    type: ColumnType

    @property
    def ref(self) -> ColumnRef:
        """The expression that reads it."""
        return ColumnRef(0, self.id, self.type)


@dataclass(frozen=True)
class Item:
    """A column that is computed: its field, and from what."""

    field: Field
    expression: Expr


@dataclass(frozen=True)
class Relation:
    """What all nodes have: `inputs`, the relations that they read, and `fields`, what they give."""

    @property
    def inputs(self) -> tuple[Relation, ...]:
        """The relations that it reads."""
        return ()

    @property
    def fields(self) -> tuple[Field, ...]:
        """Its columns."""
        raise AssertionError(f"{type(self).__name__} has no fields")

    def with_inputs(self, *inputs: Relation) -> Relation:
        """The same node over other inputs, which have the fields that it reads."""
        assert not inputs
        return self


@dataclass(frozen=True)
class Unary(Relation):
    """A node with one input."""

    input: Relation

    @property
    def inputs(self) -> tuple[Relation, ...]:
        """The input."""
        return (self.input,)

    @property
    def fields(self) -> tuple[Field, ...]:
        """Those of the input, unless it says otherwise."""
        return self.input.fields

    def with_inputs(self, *inputs: Relation) -> Relation:
        """The same over another input."""
        (only,) = inputs
        return replace(self, input=only)


def walk_relations(relation: Relation) -> Iterator[Relation]:
    """The relation and all that it is made of, parents first."""
    yield relation
    for part in relation.inputs:
        yield from walk_relations(part)
