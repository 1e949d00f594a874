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
from windrow.plan.relations.algebra import Relation, TableScan, Values, VersionScan, ViewScan
from windrow.plan.relations.blocks import Block
from windrow.plan.relations.exchange_algebra import Received

__all__ = ["LEAVES", "OperatorTree"]

# Nodes without operators: they have windows, read a view or a table, or are received.
LEAVES = (Block, ViewScan, TableScan, VersionScan, Received)

# Changes that a node gives are remembered from step to step, less and less.
FADING = 0.9
# Bytes of a change on its way to the next node.
_CHANGE_BYTES = 64
# In the place of an input, where a node is compared without what it reads.
_ANYTHING = Values((), ())


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
        self._place: dict[tuple[Relation, tuple[int, ...]], int] = {}
        # Sizes change with steps only, and are asked for by every push to any stream.
        self._held_bytes: int | None = None
        self._growth: dict[int, int] = {}
        self._add(relation, windows or {})
        self.most_changes = 0  # that any node gave in the last step
        # Changes that each node gives for one of a leaf: few steps ago at most, or now.
        self._shares = [1.0] * len(self._nodes)

    def _add(self, relation: Relation, windows: Mapping[Relation, AnswerWindowOperator]) -> int:
        inputs = tuple(self._add(part, windows) for part in relation.inputs)
        # Equal nodes over the same inputs: to compare whole trees at every node costs their square.
        own = relation.with_inputs(*(_ANYTHING,) * len(inputs)) if inputs else relation
        known = self._place.get((own, inputs))
        if known is not None:
            return known
        operator = None
        if not isinstance(relation, LEAVES):
            held = windows.get(relation) if windows else None
            operator = held or operator_of(relation)
        self._nodes.append(relation)
        self._operators.append(operator)
        self._inputs.append(inputs)
        self._place[own, inputs] = len(self._nodes) - 1
        return len(self._nodes) - 1

    def advance(
        self, changes_of: Callable[[Relation], Changes], until: int, limit: int = NO_LIMIT
    ) -> Changes:
        """The changes of the root up to `until`; changes_of: those of a leaf; limit: of a node."""
        found: list[Changes] = []
        self._forget_sizes()
        self.most_changes = 0
        for node, operator, inputs in zip(self._nodes, self._operators, self._inputs, strict=True):
            if isinstance(node, LEAVES):
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
        events = sum(size for node, size in pairs if isinstance(node, LEAVES))
        if events:
            self._shares = [
                max(FADING * before, size / events)
                for before, size in zip(self._shares, sizes, strict=True)
            ]

    def rebuild(self, held_in: Callable[[Relation], Changes], at: int) -> Changes:
        """Make new operators know what leaves hold, as if it had come at that instant.

        Operators that remember more than that know it already, and are asked what they hold.
        """
        found: list[Changes] = []
        self._forget_sizes()
        for node, operator, inputs in zip(self._nodes, self._operators, self._inputs, strict=True):
            if isinstance(node, LEAVES):
                found.append(held_in(node))
            elif isinstance(operator, AnswerWindowOperator):
                found.append(operator.held(at))
            else:
                assert operator is not None
                found.append(operator.advance([found[place] for place in inputs], at))
        return found[-1]

    @property
    def root(self) -> RelationOperator | None:
        """The operator of the last node, if it has one."""
        return self._operators[-1]

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
        if self._held_bytes is None:
            self._held_bytes = sum(each.nbytes for each in self._operators if each is not None)
        return self._held_bytes

    def growth_bytes(self, changes: int) -> int:
        """Peak of additional bytes for this many changes: one operator works at a time."""
        if changes not in self._growth:
            given = self._given(changes)
            grown = [
                each.growth_bytes(max([given[place] for place in inputs], default=0))
                + _CHANGE_BYTES * own
                for each, inputs, own in zip(self._operators, self._inputs, given, strict=True)
                if each is not None
            ]
            self._growth[changes] = max(grown, default=0)
        return self._growth[changes]

    def root_changes(self, changes: int) -> int:
        """How many changes of the root that many of leaves may bring."""
        return self._given(changes)[-1]

    def _given(self, changes: int) -> list[int]:
        return [int(changes * share) + 1 for share in self._shares]

    def _forget_sizes(self) -> None:
        self._held_bytes = None
        self._growth = {}
