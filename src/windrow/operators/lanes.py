"""The layout of lanes: which numbers are kept for each cell and group, and how wide they are.

Narrow, while no sum can leave 62 bits: one lane a value, and one that counts its valid rows once a
NULL was seen. Wide: the exact lanes of `exact.kernels` for every value, limbs only from the lowest
to the highest in use. A state moves to a wider layout when the rows ask for it; nothing is lost on
the way.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from windrow.exact.kernels import (
    COUNTER_LANES,
    DOUBLE,
    HEADROOM_LIMBS,
    INTEGER_LIMB,
    LIMB_BITS,
    LIMB_MASK,
    VALID_LANE,
)

__all__ = ["LaneLayout", "ValueLanes", "moved", "read_value"]

Matrix = NDArray[np.int64]
Vector = NDArray[np.int64]


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


@dataclass(frozen=True)
class LaneLayout:
    """kinds: per input, per value, exact.kernels.INTEGER or DOUBLE.

    is_nullable: rows that are NULL (or, in wide lanes, special) are counted separately.
    """

    kinds: tuple[tuple[int, ...], ...]
    is_wide: bool = False
    is_nullable: bool = False
    low_limb: int = INTEGER_LIMB
    limb_count: int = 2 + HEADROOM_LIMBS

    @classmethod
    def smallest(cls, kinds: tuple[tuple[int, ...], ...]) -> LaneLayout:
        """The layout to begin with: narrow where all values are integers."""
        return cls(kinds, is_wide=any(DOUBLE in of_input for of_input in kinds))

    def to_json(self) -> dict[str, Any]:
        """The fields, as JSON takes them."""
        return asdict(self)

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> LaneLayout:
        """Back from to_json()."""
        kinds = tuple(tuple(of_input) for of_input in fields["kinds"])
        return cls(**{**fields, "kinds": kinds})

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
        return self.value_count * (2 if self.is_nullable else 1)

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
        if low >= high:  # nothing finite to hold
            low, high = self.low_limb, self.low_limb
        if self.is_wide:
            low = min(low, self.low_limb)
            high = max(high, self.low_limb + self.limb_count - HEADROOM_LIMBS)
        else:
            low = min(low, INTEGER_LIMB)
            high = max(high, INTEGER_LIMB + 2)
        return replace(self, is_wide=True, low_limb=low, limb_count=high - low + HEADROOM_LIMBS)

    def holding(self, other: LaneLayout) -> LaneLayout:
        """The smallest layout that holds what both hold."""
        layout = self.nullable() if other.is_nullable else self
        if not other.is_wide:
            return layout
        return layout.reaching(other.low_limb, other.low_limb + other.limb_count - HEADROOM_LIMBS)


def read_value(lanes: Matrix, counts: Vector, layout: LaneLayout, value: int) -> ValueLanes:
    """One value out of rows of lanes; counts holds the rows behind each of them."""
    if layout.is_wide:
        first = value * layout.width
        block = lanes[:, first : first + layout.width]
        limbs = block[:, layout.counters :]
        valid = block[:, VALID_LANE] if layout.is_nullable else counts
        special = block[:, VALID_LANE + 1 : layout.counters]
        return ValueLanes(valid, special, None, limbs, layout.low_limb)
    none = np.empty((counts.size, 0), np.int64)
    valid = lanes[:, layout.value_count + value] if layout.is_nullable else counts
    return ValueLanes(valid, none, lanes[:, value], none, INTEGER_LIMB)


def moved(lanes: Matrix, counts: Matrix, old: LaneLayout, new: LaneLayout) -> Matrix:
    """Rows of lanes in another layout; counts[:, value] holds the rows behind each value."""
    out = np.zeros((lanes.shape[0], new.lane_count), np.int64)
    for value in range(old.value_count):
        read = read_value(lanes, counts[:, value], old, value)
        if not new.is_wide:
            assert read.narrow is not None
            out[:, value] = read.narrow
            if new.is_nullable:
                out[:, new.value_count + value] = read.valid
            continue
        first = value * new.width
        if new.is_nullable:
            special = first + VALID_LANE + 1
            out[:, first + VALID_LANE] = read.valid
            out[:, special : special + read.special.shape[1]] = read.special
        limbs, low = read.limbs, read.low_limb
        if read.narrow is not None:
            limbs = np.stack([read.narrow & LIMB_MASK, read.narrow >> LIMB_BITS], axis=1)
        at = first + new.counters + low - new.low_limb
        out[:, at : at + limbs.shape[1]] = limbs
    return out
