"""The operators of a tree, wired: changes of leaves go up, node by node, all to one instant.

No operator is run before all its inputs are, and all are run to the same instant: so whatever a
tree shows at an instant holds at that instant in every branch. Equal parts of a tree are one node,
which all that read it share.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from windrow.operators.relations.answer_window import AnswerWindowOperator
from windrow.operators.relations.changes import Changes
from windrow.operators.relations.operator import NO_LIMIT, RelationOperator
from windrow.operators.relations.registry import operator_of
from windrow.plan.relations.algebra import Relation
from windrow.plan.relations.blocks import Block

__all__ = ["OperatorTree"]

# Changes that a node gives are remembered from step to step, less and less.
FADING = 0.9
# Bytes of a change on its way to the next node.
_CHANGE_BYTES = 64


class OperatorTree:
    """Operators in an order in which inputs come first; the last one is the root.

    windows: operators that remember more than their input holds now, taken over from before.
    """

    def __init__(
        self, relation: Relation, windows: Mapping[Relation, AnswerWindowOperator] | None = None
    ) -> None:
        self._nodes: list[Relation] = []
        self._operators: list[RelationOperator | None] = []
        self._inputs: list[tuple[int, ...]] = []
        self._place: dict[Relation, int] = {}
        self._add(relation, windows or {})
        self.most_changes = 0  # that any node gave in the last step
        # Changes that each node gives for one of a leaf: few steps ago at most, or now.
        self._shares = [1.0] * len(self._nodes)

    def _add(self, relation: Relation, windows: Mapping[Relation, AnswerWindowOperator]) -> int:
        known = self._place.get(relation)
        if known is not None:
            return known
        inputs = tuple(self._add(part, windows) for part in relation.inputs)
        operator = None
        if not isinstance(relation, Block):
            operator = windows.get(relation) or operator_of(relation)
        self._nodes.append(relation)
        self._operators.append(operator)
        self._inputs.append(inputs)
        self._place[relation] = len(self._nodes) - 1
        return self._place[relation]

    def advance(
        self, changes_of: Callable[[Block], Changes], until: int, limit: int = NO_LIMIT
    ) -> Changes:
        """The changes of the root up to `until`; changes_of: those of a leaf; limit: of a node."""
        found: list[Changes] = []
        self.most_changes = 0
        for node, operator, inputs in zip(self._nodes, self._operators, self._inputs, strict=True):
            if isinstance(node, Block):
                found.append(changes_of(node))
            else:
                assert operator is not None
                operator.restrict(limit)
                found.append(operator.advance([found[place] for place in inputs], until))
            self.most_changes = max(self.most_changes, found[-1].size)
        self._learn([changes.size for changes in found])
        return found[-1]

    def _learn(self, sizes: Sequence[int]) -> None:
        pairs = zip(self._nodes, sizes, strict=True)
        events = sum(size for node, size in pairs if isinstance(node, Block))
        if events:
            self._shares = [
                max(FADING * before, size / events)
                for before, size in zip(self._shares, sizes, strict=True)
            ]

    def rebuild(self, held_in: Callable[[Block], Changes], at: int) -> Changes:
        """Make new operators know what leaves hold, as if it had come at that instant.

        Operators that remember more than that know it already, and are asked what they hold.
        """
        found: list[Changes] = []
        for node, operator, inputs in zip(self._nodes, self._operators, self._inputs, strict=True):
            if isinstance(node, Block):
                found.append(held_in(node))
            elif isinstance(operator, AnswerWindowOperator):
                found.append(operator.held(at))
            else:
                assert operator is not None
                found.append(operator.advance([found[place] for place in inputs], at))
        return found[-1]

    @property
    def windows(self) -> dict[Relation, AnswerWindowOperator]:
        """The operators that remember more than their input holds now."""
        pairs = zip(self._nodes, self._operators, strict=True)
        return {node: each for node, each in pairs if isinstance(each, AnswerWindowOperator)}

    def sizes(self) -> Sequence[tuple[Relation, int]]:
        """Every node with an operator, and the bytes that this remembers."""
        pairs = zip(self._nodes, self._operators, strict=True)
        return [(node, each.nbytes) for node, each in pairs if each is not None]

    @property
    def nbytes(self) -> int:
        """Bytes of all operators."""
        return sum(each.nbytes for each in self._operators if each is not None)

    def growth_bytes(self, changes: int) -> int:
        """Peak of additional bytes for this many changes: one operator works at a time."""
        grown = [
            each.growth_bytes(self._expected(changes, inputs)) + _CHANGE_BYTES * own
            for each, inputs, own in zip(
                self._operators, self._inputs, self._given(changes), strict=True
            )
            if each is not None
        ]
        return max(grown, default=0)

    def root_changes(self, changes: int) -> int:
        """How many changes of the root that many of leaves may bring."""
        return self._given(changes)[-1]

    def _given(self, changes: int) -> list[int]:
        return [int(changes * share) + 1 for share in self._shares]

    def _expected(self, changes: int, inputs: tuple[int, ...]) -> int:
        given = self._given(changes)
        return max([given[place] for place in inputs], default=0)
