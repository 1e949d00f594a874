"""Changes with numbers of rows, as windows give them, for operators that take such."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

import numpy as np

from support.relation_changes import Change, Row, in_columns, plain_changes
from windrow.operators.relations.changes import Changes
from windrow.operators.relations.operator import RelationOperator
from windrow.operators.relations.row_numbers import RowNumbers
from windrow.plan.relations.algebra import Relation


class Numbered(RelationOperator):
    """The operator, given each copy of a row of its one input with a number of its own."""

    def __init__(self, operator: RelationOperator, node: Relation) -> None:
        self._operator = operator
        self._input = node.inputs[0]
        self._numbers = RowNumbers()
        self._held: dict[str, deque[int]] = {}

    def advance(self, inputs: Sequence[Changes], until: int) -> Changes:
        """Numbers of rows that left are used again in the next step, not in this one."""
        changes, numbers, gone = [], [], []
        for at, now in groupby(plain_changes(inputs[0]), key=lambda change: change.at):
            net: Counter[str] = Counter()
            rows: dict[str, Row] = {}
            for change in now:
                net[repr(change.row)] += change.weight
                rows[repr(change.row)] = change.row
            for name, count in net.items():
                own = self._held.setdefault(name, deque())
                for _ in range(abs(count)):
                    number = int(self._numbers.take(1)[0]) if count > 0 else own.popleft()
                    (own if count > 0 else gone).append(number)
                    numbers.append(number)
                    changes.append(Change(at, 1 if count > 0 else -1, rows[name]))
        given = in_columns(changes, self._input)
        found = self._operator.advance([replace(given, numbers=np.array(numbers, np.int32))], until)
        self._numbers.give_back(np.array(gone, np.int32))
        return found

    @property
    def nbytes(self) -> int:
        """That of the operator."""
        return self._operator.nbytes

    def growth_bytes(self, changes: int) -> int:
        """That of the operator."""
        return self._operator.growth_bytes(changes)
