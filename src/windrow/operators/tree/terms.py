"""Sums over joined rows as terms: products of one weight a row of every input.

Term 0 counts the joined rows. A measure has a term for each of its products; once a NULL was seen
also one that counts the joined rows in which it has a value, and where it is a double of one input
three that count NaN and the infinities.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from windrow.exact.kernels import DOUBLE, INTEGER_LIMB, LIMB_BITS, LIMB_MASK
from windrow.operators.lanes import LaneLayout, Matrix, Vector

__all__ = ["COUNT", "ROLES", "SUM", "VALID", "MeasureTerms", "Term", "TermLayout", "moved_terms"]

# What a term is for; the special roles follow those of wide/kernels.py.
COUNT = "count"
SUM = "sum"
VALID = "valid"
SPECIAL = ("nan", "plus infinity", "minus infinity")
ROLES = (SUM, *SPECIAL)

_SIGN_BIT = 1 << (LIMB_BITS - 1)

Factor = tuple[int, int]  # input, number of its value


@dataclass(frozen=True)
class MeasureTerms:
    """A measure: INTEGER or DOUBLE, and the products that it is the sum of."""

    kind: int
    products: tuple[tuple[Factor, ...], ...]

    @property
    def factors(self) -> frozenset[Factor]:
        """All its values."""
        return frozenset(factor for product in self.products for factor in product)

    @property
    def is_single(self) -> bool:
        """Whether it is the value of one input."""
        return len(self.products) == 1 and len(self.products[0]) == 1


@dataclass(frozen=True)
class Term:
    """One term; measure: whose values must all be there for a joined row to count (-1: none)."""

    role: str
    measure: int
    factors: tuple[Factor, ...] = ()


@dataclass(frozen=True)
class TermLayout:
    """The terms and how wide they are.

    digits: of each term, of 32 bits; () where every term is one word. lows: the lowest limb of each
    double value, the others are whole numbers.
    """

    measures: tuple[MeasureTerms, ...]
    lanes: LaneLayout
    digits: tuple[int, ...] = ()
    lows: tuple[tuple[Factor, int], ...] = ()

    @cached_property
    def terms(self) -> tuple[Term, ...]:
        """All terms, the count first."""
        found = [Term(COUNT, -1)]
        for index, measure in enumerate(self.measures):
            found += [Term(SUM, index, product) for product in measure.products]
        if self.lanes.is_nullable:
            found += [Term(VALID, index) for index in range(len(self.measures))]
            for index, measure in enumerate(self.measures):
                if self.is_wide and measure.is_single and measure.kind == DOUBLE:
                    found += [Term(role, index, measure.products[0]) for role in SPECIAL]
        return tuple(found)

    @property
    def is_wide(self) -> bool:
        """Whether terms are digits."""
        return self.lanes.is_wide

    @property
    def width(self) -> int:
        """Words or digits of all terms."""
        return sum(self.digits) if self.is_wide else len(self.terms)

    @cached_property
    def first_digit(self) -> Vector:
        """The place of each term's first digit."""
        return np.cumsum([0, *self.digits[:-1]], dtype=np.int64)

    @cached_property
    def digit_count(self) -> Vector:
        """The digits of each term."""
        return np.array(self.digits, np.int64)

    def low(self, factor: Factor) -> int:
        """The lowest limb of a value."""
        return dict(self.lows).get(factor, INTEGER_LIMB)

    def scale(self, term: Term, inputs: frozenset[int]) -> int:
        """A sum over these inputs counts in 2**(32 * scale)."""
        if term.role != SUM:
            return 0
        return sum(self.low(each) - INTEGER_LIMB for each in term.factors if each[0] in inputs)

    def total_scale(self, term: Term) -> int:
        """The scale of a sum over all inputs."""
        return self.scale(term, frozenset(input_index for input_index, _ in term.factors))

    def block(self, term: int) -> slice:
        """The digits of a term."""
        first = int(self.first_digit[term])
        return slice(first, first + self.digits[term])

    def words(self, numbers: Matrix, term: int) -> Vector:
        """A term that is a count, as one word."""
        if not self.is_wide:
            return np.ascontiguousarray(numbers[:, term])
        digits = numbers[:, self.block(term)]
        return digits[:, 0] | (digits[:, 1] << LIMB_BITS)

    def read(self, numbers: Matrix) -> tuple[Vector, Matrix]:
        """Counts and lanes of rows of terms of a whole join."""
        lanes = np.zeros((numbers.shape[0], self.lanes.lane_count), np.int64)
        for index, term in enumerate(self.terms):
            if term.role == COUNT:
                continue
            if term.role == SUM and self.is_wide:
                self._add_limbs(numbers, index, term, lanes)
            else:
                lanes[:, self._lane(term)] += self.words(numbers, index)
        return self.words(numbers, 0), lanes

    def _lane(self, term: Term) -> int:
        layout = self.lanes
        if not layout.is_wide:
            return term.measure + (layout.value_count if term.role == VALID else 0)
        beside = (VALID, *SPECIAL).index(term.role)
        return term.measure * layout.width + beside

    def _add_limbs(self, numbers: Matrix, index: int, term: Term, lanes: Matrix) -> None:
        layout = self.lanes
        digits = numbers[:, self.block(index)].copy()
        digits[:, -1] = (digits[:, -1] ^ _SIGN_BIT) - _SIGN_BIT  # the highest one has the sign
        first = term.measure * layout.width + layout.counters
        first += INTEGER_LIMB + self.total_scale(term) - layout.low_limb
        lanes[:, first : first + digits.shape[1]] += digits


def moved_terms(
    numbers: Matrix, old: TermLayout, new: TermLayout, inputs: frozenset[int]
) -> Matrix:
    """Rows of sums over the rows of these inputs, in another layout that holds all they hold.

    Where valid rows were not counted apart all were valid: their count starts as that of all. So
    does the count of special values over inputs that do not have the value: each row of theirs
    joins with every special one.
    """
    out = np.zeros((numbers.shape[0], new.width), np.int64)
    for index, term in enumerate(new.terms):
        if term in old.terms:
            source = old.terms.index(term)
        elif term.role == VALID or _weighs_one(term, inputs):
            source = 0
        else:
            continue
        if _all_zero(term, old, new, inputs):
            continue
        if not new.is_wide:
            out[:, index] = numbers[:, source]
            continue
        digits = numbers[:, old.block(source)] if old.is_wide else _digits(numbers[:, source])
        moved_by = old.scale(old.terms[source], inputs) - new.scale(term, inputs)
        out[:, new.block(index)] = _extended(digits, moved_by, new.digits[index])
    return out


def _weighs_one(term: Term, inputs: frozenset[int]) -> bool:
    return term.role in SPECIAL and not any(
        input_index in inputs for input_index, _ in term.factors
    )


def _all_zero(term: Term, old: TermLayout, new: TermLayout, inputs: frozenset[int]) -> bool:
    """Whether a double of the term had no value but 0 so far: then it had no scale yet either."""
    fresh = dict(new.lows).keys() - dict(old.lows).keys()
    return term.role == SUM and any(each in fresh and each[0] in inputs for each in term.factors)


def _digits(words: Vector) -> Matrix:
    return np.stack([words & LIMB_MASK, (words >> LIMB_BITS) & LIMB_MASK], axis=1)


def _extended(digits: Matrix, moved_by: int, count: int) -> Matrix:
    """The same numbers, times 2**(32 * moved_by), in more digits."""
    out = np.zeros((digits.shape[0], count), np.int64)
    end = moved_by + digits.shape[1]
    assert moved_by >= 0, "scales only become finer"
    out[:, moved_by:end] = digits[:, : count - moved_by]
    negative = digits[:, -1] >= _SIGN_BIT
    out[negative, end:] = LIMB_MASK
    return out


def term_columns(
    layout: TermLayout, input_index: int, value_count: int
) -> tuple[Vector, Matrix, Sequence[int]]:
    """For each term: this input's value (or -1), which values guard it, and its lowest limb."""
    column = np.full(len(layout.terms), -1, np.int64)
    guards = np.zeros((len(layout.terms), value_count), np.int64)
    lows = []
    for index, term in enumerate(layout.terms):
        own = [value for there, value in term.factors if there == input_index]
        if own:
            column[index] = own[0]
        lows.append(layout.low((input_index, own[0])) if own else INTEGER_LIMB)
        if term.measure >= 0:
            guarding = layout.measures[term.measure].factors
            guards[index, [value for there, value in guarding if there == input_index]] = 1
    return column, guards, lows
