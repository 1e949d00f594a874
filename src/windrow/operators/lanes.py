"""The layout of lanes: which numbers are kept for each cell and group, and how wide they are.

Narrow, while no sum can leave 62 bits: one lane a value, and one that counts its valid rows once a
NULL was seen. Digits: the same with a few lanes a value, none of which can leave 62 bits
(digits.py). Wide: the exact lanes of `exact.kernels` for every value, limbs only from the lowest to
the highest in use. A state moves to a wider layout when the rows ask for it; nothing is lost on the
way.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from windrow.exact.digit_kernels import limbs_to_digits
from windrow.exact.kernels import (
    COUNTER_LANES,
    DOUBLE,
    HEADROOM_LIMBS,
    INTEGER,
    INTEGER_LIMB,
    LIMB_BITS,
    LIMB_MASK,
    VALID_LANE,
)
from windrow.operators.digits import DigitForm, DigitLanes, forms_holding, limb_span

__all__ = ["LaneLayout", "ValueLanes", "moved", "read_value"]

Matrix = NDArray[np.int64]
Vector = NDArray[np.int64]

# Bits of the one digit that a narrow lane is.
LARGEST_DIGIT = 62


@dataclass(frozen=True)
class ValueLanes:
    """One value of many rows: how many rows are valid, special ones counted, and the sum.

    The sum is `narrow`, or limbs from low_limb on (narrow is None).
    """

    valid: Vector
    special: Matrix  # columns: NaN, +infinity, -infinity; no columns when there cannot be any
    narrow: Vector | None
    limbs: Matrix
    low_limb: int

    def taken(self, rows: Vector) -> ValueLanes:
        """Those of some rows."""
        narrow = None if self.narrow is None else self.narrow[rows]
        return replace(
            self,
            valid=self.valid[rows],
            special=self.special[rows],
            narrow=narrow,
            limbs=self.limbs[rows],
        )


@dataclass(frozen=True)
class LaneLayout:
    """kinds: per input, per value, exact.kernels.INTEGER or DOUBLE.

    is_nullable: rows that are NULL (or, in wide lanes, special) are counted separately.
    forms: per value, its digits of digit_bits bits; no forms where values are not in digits.
    """

    kinds: tuple[tuple[int, ...], ...]
    is_wide: bool = False
    is_nullable: bool = False
    low_limb: int = INTEGER_LIMB
    limb_count: int = 2 + HEADROOM_LIMBS
    digit_bits: int = LARGEST_DIGIT
    forms: tuple[DigitForm, ...] = ()

    @classmethod
    def smallest(cls, kinds: tuple[tuple[int, ...], ...]) -> LaneLayout:
        """The layout to begin with: narrow where all values are integers."""
        return cls(kinds, is_wide=any(DOUBLE in of_input for of_input in kinds))

    @classmethod
    def fewest(cls, kinds: tuple[tuple[int, ...], ...]) -> LaneLayout:
        """The same where doubles can be in digits: none yet."""
        layout = cls(kinds)
        if any(DOUBLE in of_input for of_input in kinds):
            layout = layout.with_digits(LARGEST_DIGIT, (DigitForm(0, 0),) * layout.value_count)
        return layout

    def to_json(self) -> dict[str, Any]:
        """The fields, as JSON takes them."""
        return asdict(self)

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> LaneLayout:
        """Back from to_json()."""
        kinds = tuple(tuple(of_input) for of_input in fields["kinds"])
        forms = tuple(DigitForm(*form) for form in fields.get("forms", ()))
        return cls(**{**fields, "kinds": kinds, "forms": forms})

    @property
    def flat_kinds(self) -> tuple[int, ...]:
        """The kinds of all values."""
        return tuple(kind for of_input in self.kinds for kind in of_input)

    @cached_property
    def is_plain(self) -> bool:
        """Whether every value is one lane, as it is."""
        return not self.is_wide and not self.forms

    @property
    def value_count(self) -> int:
        """Values of all inputs."""
        return sum(len(of_input) for of_input in self.kinds)

    @property
    def width(self) -> int:
        """Lanes of a wide value."""
        return self.counters + self.limb_count

    @property
    def counters(self) -> int:
        """Lanes of a wide value before its limbs."""
        return COUNTER_LANES if self.is_nullable else 0

    @property
    def lane_count(self) -> int:
        """Lanes of a cell or group."""
        if self.is_wide:
            return self.value_count * self.width
        return self.digit_count + (self.value_count if self.is_nullable else 0)

    @property
    def digit_count(self) -> int:
        """Lanes of a cell or group that are not wide, without those that count valid rows."""
        return sum(form.digits for form in self.forms) if self.forms else self.value_count

    def first_digit(self, value: int) -> int:
        """The lane of a value's lowest digit."""
        return sum(form.digits for form in self.forms[:value]) if self.forms else value

    def first_value(self, input_index: int) -> int:
        """The number of an input's first value among all values."""
        return sum(len(kinds) for kinds in self.kinds[:input_index])

    @cached_property
    def masks(self) -> Vector:
        """What each lane keeps when its carry goes to the next; empty when no lane carries."""
        if not self.is_wide:
            return np.empty(0, np.int64)
        one = [-1] * self.counters + [LIMB_MASK] * (self.limb_count - 1) + [-1]
        return np.array(one * self.value_count, np.int64)

    def nullable(self) -> LaneLayout:
        """The same layout, able to count valid and special rows."""
        return replace(self, is_nullable=True)

    def reaching(self, low: int, high: int) -> LaneLayout:
        """A wide layout that holds limbs low to high - 1, and all that this one holds."""
        own_low, own_high = self.limb_span
        if low >= high:  # nothing finite to hold
            low, high = own_low, own_high
        low, high = min(low, own_low), max(high, own_high)
        wide = replace(self, is_wide=True, digit_bits=LARGEST_DIGIT, forms=())
        return replace(wide, low_limb=low, limb_count=high - low + HEADROOM_LIMBS)

    @property
    def limb_span(self) -> tuple[int, int]:
        """The limbs that hold its values: the lowest, and one more than the highest."""
        if self.is_wide:
            return self.low_limb, self.low_limb + self.limb_count - HEADROOM_LIMBS
        if any(form.digits for form in self.forms):
            return limb_span(self.forms, self.digit_bits)
        return INTEGER_LIMB, INTEGER_LIMB + 2

    def with_digits(self, bits: int, forms: tuple[DigitForm, ...]) -> LaneLayout:
        """The same with values in these digits."""
        return replace(self, digit_bits=bits, forms=forms)

    def holding(self, other: LaneLayout) -> LaneLayout:
        """The smallest layout that holds what both hold."""
        layout = self.nullable() if other.is_nullable else self
        if other.is_wide or self.is_wide:
            return layout if other.is_plain else layout.reaching(*other.limb_span)
        if self.forms == other.forms and self.digit_bits == other.digit_bits:
            return layout
        return layout.with_digits(*forms_holding(self._digits, other._digits))

    @property
    def _digits(self) -> tuple[int, tuple[DigitForm, ...]]:
        return self.digit_bits, self.forms or (DigitForm(1, 0),) * self.value_count


def read_value(
    lanes: Matrix, counts: Vector, layout: LaneLayout, value: int
) -> ValueLanes | DigitLanes:
    """One value out of rows of lanes; counts holds the rows behind each of them."""
    if layout.is_wide:
        first = value * layout.width
        block = lanes[:, first : first + layout.width]
        limbs = block[:, layout.counters :]
        valid = block[:, VALID_LANE] if layout.is_nullable else counts
        special = block[:, VALID_LANE + 1 : layout.counters]
        return ValueLanes(valid, special, None, limbs, layout.low_limb)
    valid = lanes[:, layout.digit_count + value] if layout.is_nullable else counts
    if layout.forms:
        first, (count, low_bit) = layout.first_digit(value), layout.forms[value]
        is_integer = layout.flat_kinds[value] == INTEGER
        digits = lanes[:, first : first + count]
        return DigitLanes(valid, digits, layout.digit_bits, low_bit, is_integer)
    none = np.empty((counts.size, 0), np.int64)
    return ValueLanes(valid, none, lanes[:, value], none, INTEGER_LIMB)


def moved(lanes: Matrix, counts: Matrix, old: LaneLayout, new: LaneLayout) -> Matrix:
    """Rows of lanes in another layout; counts[:, value] holds the rows behind each value."""
    out = np.zeros((lanes.shape[0], new.lane_count), np.int64)
    for value in range(old.value_count):
        read = read_value(lanes, counts[:, value], old, value)
        if not new.is_wide:
            _move_digits(read, out, new, value)
            continue
        first = value * new.width
        if new.is_nullable:
            special = first + VALID_LANE + 1
            out[:, first + VALID_LANE] = read.valid
            out[:, special : special + read.special.shape[1]] = read.special
        limbs, low = _limbs(read)
        at = first + new.counters + low - new.low_limb
        out[:, at : at + limbs.shape[1]] = limbs
    return out


def _move_digits(
    read: ValueLanes | DigitLanes, out: Matrix, layout: LaneLayout, value: int
) -> None:
    """Write the sums of a value into the lanes of a layout that is not wide."""
    if layout.is_nullable:
        out[:, layout.digit_count + value] = read.valid
    if not layout.forms:
        assert read.narrow is not None
        out[:, value] = read.narrow
        return
    first, (count, low_bit) = layout.first_digit(value), layout.forms[value]
    if count:
        limbs, low = _limbs(read)
        digits = np.zeros((out.shape[0], count), np.int64)
        limbs_to_digits(limbs, low, layout.digit_bits, low_bit, digits)
        out[:, first : first + count] = digits


def _limbs(read: ValueLanes | DigitLanes) -> tuple[Matrix, int]:
    """The sums in limbs, and the number of the lowest limb."""
    if isinstance(read, DigitLanes) and not read.digits.shape[1]:
        return read.digits, INTEGER_LIMB
    if read.narrow is None:
        return np.ascontiguousarray(read.limbs), read.low_limb
    return np.stack([read.narrow & LIMB_MASK, read.narrow >> LIMB_BITS], axis=1), INTEGER_LIMB
