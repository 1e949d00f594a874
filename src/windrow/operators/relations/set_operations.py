"""UNION ALL, INTERSECT and EXCEPT."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from windrow.operators.relations import count_kernels as rules
from windrow.operators.relations.changes import Changes, merged_changes
from windrow.operators.relations.counted_rows import CountedRows
from windrow.operators.relations.expressions_of_rows import columns_by_field, evaluated
from windrow.operators.relations.operator import RelationOperator
from windrow.plan.expressions import Expr
from windrow.plan.relations.algebra import Relation, SetOperation
from windrow.plan.types import convert

__all__ = ["ExceptOperator", "IntersectOperator", "UnionOperator", "set_operator"]


def set_operator(node: SetOperation) -> RelationOperator:
    """The operator of that kind."""
    return _OPERATORS[node.kind](node)


class UnionOperator(RelationOperator):
    """UNION ALL: the changes of all inputs, in time order."""

    def __init__(self, node: SetOperation) -> None:
        self._types = [field.type.arrow for field in node.fields]
        self._parts = [_Converted(part, node) for part in node.parts]

    def advance(self, inputs: Sequence[Changes], until: int) -> Changes:
        """All changes, of the types of the union."""
        del until
        converted = [part.of(changes) for part, changes in zip(self._parts, inputs, strict=True)]
        return merged_changes(converted, self._types)

    @property
    def nbytes(self) -> int:
        """Nothing is remembered."""
        return 0


class _CountingOperator(RelationOperator):
    """A set operation by the counts of each different row in both inputs."""

    def __init__(self, node: SetOperation, rule: int) -> None:
        types = [field.type.arrow for field in node.fields]
        self._parts = [_Converted(part, node) for part in node.parts]
        self._rows = CountedRows(rule, types, len(node.parts))

    def advance(self, inputs: Sequence[Changes], until: int) -> Changes:
        """What the counts of the rows that change make of them, net at each instant."""
        del until
        return self._rows.advance(
            [part.of(changes) for part, changes in zip(self._parts, inputs, strict=True)]
        )

    @property
    def nbytes(self) -> int:
        """Bytes of the different rows of both inputs and their counts."""
        return self._rows.nbytes

    def growth_bytes(self, changes: int) -> int:
        """Peak of additional bytes."""
        return self._rows.growth_bytes(changes)


class IntersectOperator(_CountingOperator):
    """Rows that both inputs have; ALL: as often as the one that has fewer."""

    def __init__(self, node: SetOperation) -> None:
        super().__init__(node, rules.INTERSECT_ALL if node.is_all else rules.INTERSECT)


class ExceptOperator(_CountingOperator):
    """Rows of the first input that the second has not; ALL: as many as the first has more."""

    def __init__(self, node: SetOperation) -> None:
        super().__init__(node, rules.EXCEPT_ALL if node.is_all else rules.EXCEPT)


_OPERATORS: dict[str, Callable[[SetOperation], RelationOperator]] = {
    "union": UnionOperator,
    "intersect": IntersectOperator,
    "except": ExceptOperator,
}


class _Converted:
    """Changes of one input with the types that the set operation gives its columns."""

    def __init__(self, part: Relation, node: SetOperation) -> None:
        self._fields = part.fields
        self._expressions: list[Expr] = [
            own.ref if own.type == common.type else convert(own.ref, common.type)
            for own, common in zip(part.fields, node.fields, strict=True)
        ]

    def of(self, changes: Changes) -> Changes:
        """The changes, converted."""
        leaf = columns_by_field(self._fields, changes.columns)
        columns = tuple(evaluated(part, leaf, changes.size) for part in self._expressions)
        return Changes(changes.at, changes.weight, columns)
