"""The indexes that joined rows are found by, and the order in which an input probes the others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from windrow.operators.pairs import index_kernels
from windrow.operators.pairs.arrays import IndexArrays, ProbeArrays
from windrow.windows.codes import Codes
from windrow.windows.growing import enlarged, enlarging_bytes, next_size
from windrow.windows.kernels import EMPTY

__all__ = ["JoinIndex", "Variable", "join_variables"]

SMALLEST = 64
# Below this many look-ups an index's measured matches say little; rows over codes are used instead.
FEW_LOOKUPS = 256
# Old figures fade: from this many look-ups on, they count half at each new choice.
MANY_LOOKUPS = 1 << 20

# For each input that has the variable: which of its keys make it up, in the same order in all.
Variable = dict[int, tuple[int, ...]]


def join_variables(variables: Sequence[Sequence[int]]) -> list[Variable]:
    """The variables of each input's keys, those of the same inputs taken together as one.

    Inputs that hang together by no variable get one without keys: all their rows match.

    >>> join_variables([(0, 1), (0, 1, 2), (2,)])
    [{0: (0, 1), 1: (0, 1)}, {1: (2,), 2: (0,)}]
    """
    sharers: dict[frozenset[int], list[int]] = {}
    for variable in sorted({each for keys in variables for each in keys}):
        having = frozenset(i for i, keys in enumerate(variables) if variable in keys)
        if len(having) > 1:
            sharers.setdefault(having, []).append(variable)
    found = [
        {i: tuple(list(variables[i]).index(each) for each in shared) for i in sorted(having)}
        for having, shared in sharers.items()
    ]
    if not _is_connected(len(variables), found):
        found.append({i: () for i in range(len(variables))})
    return found


def _is_connected(inputs: int, variables: list[Variable]) -> bool:
    reached = {0}
    for _ in range(inputs):
        for variable in variables:
            if reached & set(variable):
                reached |= set(variable)
    return len(reached) == inputs


class JoinIndex:
    """The arrays of the probing kernels."""

    def __init__(self, inputs: int, variables: list[Variable]) -> None:
        self._inputs = inputs
        self._variables = variables
        self._is_ordered = False
        # (input, variable) of each index, those of an input side by side
        self.places = [
            (i, v) for i in range(inputs) for v, variable in enumerate(variables) if i in variable
        ]
        count = len(self.places)
        firsts = [sum(1 for place in self.places if place[0] < i) for i in range(inputs + 1)]
        runs = np.full((SMALLEST, count, index_kernels.RUN_ENTRIES), 0, np.int32)
        runs[:, :, index_kernels.ROOM] = EMPTY
        self.arrays = IndexArrays(
            code_of=np.zeros((SMALLEST, count), np.int32),
            position=np.zeros((SMALLEST, count), np.int32),
            runs=runs,
            arena=np.empty(SMALLEST, np.int32),
            arena_control=np.full(index_kernels.ARENA_ENTRIES, EMPTY, np.int64),
        )
        self.arrays.arena_control[index_kernels.ARENA_END] = 0
        steps = (inputs, max(inputs - 1, 0))
        self.probing = ProbeArrays(
            first_index=np.array(firsts, np.int64),
            index_input=np.array([place[0] for place in self.places], np.int64),
            step_input=np.zeros(steps, np.int64),
            step_index=np.zeros(steps, np.int64),
            step_code=np.zeros(steps, np.int64),
            check_count=np.zeros(steps, np.int64),
            checks=np.zeros((*steps, max(len(variables), 1), 2), np.int64),
            statistics=np.zeros((count, 2), np.int64),
        )

    def reserve(self, slots: int, codes: int) -> None:
        """Have room for slots and codes below these."""
        code_of, position, runs, arena, arena_control = self.arrays
        # Who says how many slots and codes there are has some to spare already.
        code_of, position = enlarged(code_of, slots), enlarged(position, slots)
        before = runs.shape[0]
        runs = enlarged(runs, codes)
        runs[before:, :, index_kernels.ROOM] = EMPTY
        self.arrays = IndexArrays(code_of, position, runs, arena, arena_control)

    def growth_bytes(self, slots: int, codes: int, rows: int) -> int:
        """Peak of additional bytes with slots and codes below these, for so many more rows."""
        arrays = self.arrays
        more = enlarging_bytes((arrays.code_of, arrays.position), slots)
        more += enlarging_bytes((arrays.runs,), codes)
        # A run that is full moves to a place twice as long, and leaves its own for others.
        return more + enlarging_bytes((arrays.arena,), arrays.arena.size + 2 * rows)

    def place(
        self, input_index: int, variable: int, slots: NDArray[np.int64], codes: Codes
    ) -> None:
        """The codes of rows that are to enter."""
        self.arrays.code_of[slots, self.places.index((input_index, variable))] = codes

    def codes_of(self, input_index: int, variable: int, slots: NDArray[np.int64]) -> Codes:
        """The codes of rows."""
        codes: Codes = self.arrays.code_of[slots, self.places.index((input_index, variable))]
        return codes

    def grow_arena(self) -> None:
        """Have more room for runs."""
        arena = self.arrays.arena
        longer = enlarged(arena, next_size(arena.size, arena.size + 1))
        self.arrays = self.arrays._replace(arena=longer)

    def choose_orders(self, rows: Sequence[int], codes: Sequence[int]) -> None:
        """Order the probes of every input, the most restrictive first.

        rows: held by each input; codes: in use of each variable.
        """
        if self._inputs == 2 and self._is_ordered:
            return  # there is but one order
        self._is_ordered = True
        statistics = self.probing.statistics
        usual = []
        for index, (input_index, variable) in enumerate(self.places):
            lookups, found = (int(each) for each in statistics[index])
            if lookups < FEW_LOOKUPS:
                lookups, found = max(codes[variable], 1), rows[input_index]
            usual.append(found / lookups)
        for input_index in range(self._inputs):
            self._choose_order(input_index, rows, usual)
        statistics[statistics[:, 0] > MANY_LOOKUPS] //= 2

    def _choose_order(self, first: int, rows: Sequence[int], usual: list[float]) -> None:
        bound = [first]
        for depth in range(self._inputs - 1):
            best = min(
                self._candidates(bound, rows, usual), key=lambda each: (each[0], each[1], each[2])
            )
            _, input_index, index, source, checks = best
            self.probing.step_input[first, depth] = input_index
            self.probing.step_index[first, depth] = index
            self.probing.step_code[first, depth] = source
            self.probing.check_count[first, depth] = len(checks)
            for place, pair in enumerate(checks):
                self.probing.checks[first, depth, place] = pair
            bound.append(input_index)

    def _candidates(
        self, bound: list[int], rows: Sequence[int], usual: list[float]
    ) -> list[tuple[float, int, int, int, list[tuple[int, int]]]]:
        """Inputs to probe next: expected matches, input, index, whence its code, checks."""
        found = []
        for input_index in range(self._inputs):
            if input_index in bound:
                continue
            shared = self._shared(input_index, bound)
            if not shared:
                continue
            shared.sort(key=lambda pair: (usual[pair[0]], pair[0]))
            expected = usual[shared[0][0]]
            for index, _ in shared[1:]:
                expected *= usual[index] / max(rows[input_index], 1)
            found.append((expected, input_index, *shared[0], shared[1:]))
        return found

    def _shared(self, input_index: int, bound: list[int]) -> list[tuple[int, int]]:
        """Pairs of indexes, of this input and of a bound one, of every variable they share."""
        pairs = []
        for index, (owner, variable) in enumerate(self.places):
            if owner != input_index:
                continue
            sources = [
                other for other, place in enumerate(self.places)
                if place[1] == variable and place[0] in bound
            ]  # fmt: skip
            if sources:
                pairs.append((index, sources[0]))
        # The variable without keys is there for inputs that share no other.
        telling = [pair for pair in pairs if self._variables[self.places[pair[0]][1]][input_index]]
        return telling or pairs

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return sum(array.nbytes for array in (*self.arrays, *self.probing))
