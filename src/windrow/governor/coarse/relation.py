"""Joins of cells: rows of codes with lanes, in two worlds at once.

A relation has a code in each of its columns (a join variable, or a part of the groups) and lanes
for the rows that have these codes, without and with the panes that are cut (the last axis). Rows
that join multiply: sums of one input count once for each row of the others. Columns that nothing
asks for any more are projected away, and rows that are then equal become one: so no more is formed
than keys meet, never the pairs of rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from windrow.governor.coarse.cell_form import ROWS, CellForm, Codes, Lanes, reduced

__all__ = ["Relation", "joined_cells"]

Places = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Relation:
    """columns: codes by name. lanes[row, lane, world]. steps: additions that one is made of."""

    columns: dict[str, Codes]
    lanes: Lanes
    form: CellForm
    steps: int

    @property
    def size(self) -> int:
        """Rows."""
        return int(self.lanes.shape[0])

    def onto(self, names: Sequence[str]) -> Relation:
        """Only these columns, each row once."""
        kept = {name: self.columns[name] for name in names if name in self.columns}
        codes = _one_code([list(kept.values())], [self.size])[0]
        _, places = np.unique(codes, return_index=True)
        _, lanes = reduced(codes, self.lanes, self.form.is_extreme)
        if not kept and not self.size:
            return Relation({}, lanes, self.form, self.steps)
        found = {name: column[places] for name, column in kept.items()}
        return Relation(found, lanes, self.form, self.steps + self.size)

    def joined(self, other: Relation) -> Relation:
        """The rows that agree in the columns of both."""
        shared = [name for name in self.columns if name in other.columns]
        keys = [[each.columns[name] for name in shared] for each in (self, other)]
        left, right = _one_code(keys, [self.size, other.size])
        mine, theirs = _matches(left, right)
        columns = {name: column[mine] for name, column in self.columns.items()}
        columns |= {name: column[theirs] for name, column in other.columns.items()}
        own, others = self.lanes[mine], other.lanes[theirs]
        rows = own[:, :1] * others[:, :1]
        form = self.form.joined(other.form)
        lanes = np.concatenate([rows, own[:, 1:], others[:, 1:]], axis=1)
        is_extreme, none = form.is_extreme, rows[:, 0] == 0
        is_extreme[ROWS] = False
        for number in range(1, form.width):
            if is_extreme[number]:
                lanes[:, number][none] = np.inf
            else:
                factor = others if number < self.form.width else own
                lanes[:, number] *= factor[:, ROWS]
        return Relation(columns, lanes, form, self.steps + other.steps + 1)


def joined_cells(inputs: Sequence[Relation], groups: Sequence[str]) -> Relation:
    """The join of all inputs, by groups; each input shares a column with one before it."""
    left = list(inputs)
    found = left.pop(0).onto(_needed(inputs[0], left, groups))
    while left:
        place = next(
            (i for i, each in enumerate(left) if found.columns.keys() & each.columns.keys()), 0
        )
        other = left.pop(place)
        found = found.joined(other)
        found = found.onto(_needed(found, left, groups))
    return found


def _needed(found: Relation, left: Sequence[Relation], groups: Sequence[str]) -> list[str]:
    wanted = set(groups).union(*(each.columns for each in left))
    return [name for name in found.columns if name in wanted]


def _one_code(keys: Sequence[Sequence[Codes]], sizes: Sequence[int]) -> list[Codes]:
    """Rows of several tables by one number each: equal where all columns are."""
    out = [np.zeros(size, np.int64) for size in sizes]
    span = 1
    for column in range(len(keys[0])):
        codes = [key[column] for key in keys]
        width = 1 + max(int(each.max(initial=0)) for each in codes)
        if span * width >= 1 << 62:
            _, dense = np.unique(np.concatenate(out), return_inverse=True)
            out = np.split(dense.reshape(-1), np.cumsum([each.size for each in out])[:-1])
            span = 1 + max(int(each.max(initial=0)) for each in out)
        out = [number * width + own for number, own in zip(out, codes, strict=True)]
        span *= width
    return out


def _matches(left: Codes, right: Codes) -> tuple[Places, Places]:
    """The places of all pairs with equal codes."""
    order = np.argsort(right, kind="stable")
    ordered = right[order]
    first: NDArray[Any] = np.searchsorted(ordered, left, side="left")
    count = np.searchsorted(ordered, left, side="right") - first
    mine = np.repeat(np.arange(left.size), count)
    begun = np.cumsum(count) - count
    within = np.arange(mine.size) - np.repeat(begun, count)
    return mine, order[np.repeat(first, count) + within]
