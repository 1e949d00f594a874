"""Joins by looking at every combination of rows: the slow twin of the pair algorithms."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from windrow.aggregate_functions import Form
from windrow.exact.kernels import LIMB_BITS, LOWEST_BIT
from windrow.operators.lanes import read_value
from windrow.operators.partial import Partial
from windrow.operators.ranks import values_of_ranks
from windrow.rows.shape import QueryShape

Row = dict[str, Any]
Joined = tuple[Row, ...]
State = tuple[object, ...]


@dataclass(frozen=True)
class Case:
    """A query, and the same in Python: which rows meet, their group, what each aggregate takes.

    arguments: (reading's kind, value of a joined row); windows: kind and numbers of each input.
    negated: for each of the last windows, whether a row of it matches a joined row, which is out
    then.
    """

    text: str
    windows: tuple[tuple[str, int, int], ...]
    meets: Callable[[Joined], bool]
    arguments: tuple[tuple[str, Callable[[Joined], object]], ...]
    group: Callable[[Joined], tuple[object, ...]] = lambda _: ()
    negated: tuple[Callable[[Joined, Row], bool], ...] = ()


def held(rows: Sequence[tuple[int, Row]], window: tuple[str, int, int], now: int) -> list[Row]:
    """The rows of one window, given in order of arrival."""
    kind, length, other = window
    if kind == "time":
        return [row for at, row in rows if now - length <= at <= now]
    if kind == "slide":
        entries = [(-(-at // other) * other, row) for at, row in rows]
        return [row for entry, row in entries if entry <= now < entry + length]
    came = [row for _, row in sorted((pair for pair in rows if pair[0] <= now), key=lambda p: p[0])]
    if kind == "rows":
        return came[-length:]
    assert kind == "partition"
    return [
        row
        for place, row in enumerate(came)
        if sum(later["k"] == row["k"] for later in came[place + 1 :]) < length
    ]


def states(case: Case, windows: Sequence[list[Row]]) -> dict[tuple[object, ...], State]:
    """The state of every group: the count of joined rows, and what each aggregate comes to."""
    groups: dict[tuple[object, ...], list[Joined]] = {}
    count = len(windows) - len(case.negated)
    against = list(zip(case.negated, windows[count:], strict=True))
    for joined in product(*windows[:count]):
        is_out = any(matches(joined, row) for matches, rows in against for row in rows)
        if case.meets(joined) and not is_out:
            groups.setdefault(case.group(joined), []).append(joined)
    return {group: (len(rows), *_aggregates(case, rows)) for group, rows in groups.items()}


def _aggregates(case: Case, rows: list[Joined]) -> list[object]:
    return [_made(kind, [value(row) for row in rows]) for kind, value in case.arguments]


def _made(kind: str, values: list[Any]) -> object:
    present = [value for value in values if value is not None]
    if kind == "count":
        return len(values)
    if kind == "tally":
        return len(set(present))
    if kind in ("min", "max"):
        best = min if kind == "min" else max
        return best(present, key=_height) if present else None
    special = [part for part in present if isinstance(part, float) and not math.isfinite(part)]
    if special:
        return len(present), repr(sum(special))
    return len(present), sum((Fraction(part) for part in present), Fraction(0))


def _height(value: object) -> tuple[bool, object]:
    is_nan = isinstance(value, float) and math.isnan(value)
    return is_nan, 0 if is_nan else value


class Shown:
    """The groups as the updates of partial results leave them."""

    def __init__(self, shape: QueryShape) -> None:
        self._shape = shape
        self.groups: dict[tuple[object, ...], State] = {}
        self._waiting: list[tuple[int, tuple[object, ...], State]] = []

    def take(self, partial: Partial) -> None:
        """Keep the updates of one step."""
        names = [tuple(row.values()) for row in partial.groups.to_pylist()] or [()]
        columns = [self._column(partial, place) for place in range(len(self._shape.readings))]
        order = list(partial.at)
        assert order == sorted(order)
        for update in range(partial.size):
            state = (int(partial.count[update]), *(column[update] for column in columns))
            name = names[partial.group[update]]
            self._waiting.append((int(partial.at[update]), name, state))
        updated = [(at, name) for at, name, _ in self._waiting]
        assert len(set(updated)) == len(updated), "one update an instant and group"

    def run(self, now: int) -> None:
        """Show the states at this instant."""
        for _, name, state in [each for each in self._waiting if each[0] <= now]:
            self.groups.pop(name, None)
            if state[0]:
                self.groups[name] = state
            else:
                assert not any(_bare(value) for value in state[1:]), "a group that is gone is empty"
        self._waiting = [each for each in self._waiting if each[0] > now]

    def _column(self, partial: Partial, place: int) -> list[object]:
        reading, shape = self._shape.readings[place], self._shape
        if reading.form is Form.ROWS:
            return [int(count) for count in partial.count]
        if reading.form is Form.DISTINCT:
            return [int(each) for each in partial.extras[:, reading.indexes[0]]]
        if reading.form is Form.EXTREME:
            number, first = reading.indexes[0], len(shape.distincts)
            rank = partial.extras[:, first + number].copy()
            present = partial.extras[:, first + len(shape.extremes) + number] != 0
            extreme = shape.extremes[number]
            kind = extreme.argument.type.arrow
            return list(values_of_ranks(rank, present, kind, is_max=extreme.is_max).to_pylist())
        return [self._sum(partial, reading.indexes[0], update) for update in range(partial.size)]

    def _sum(self, partial: Partial, value: int, update: int) -> object:
        rows = slice(update, update + 1)
        read = read_value(partial.lanes[rows], partial.count[rows], partial.layout, value)
        valid = int(read.valid[0])
        if read.special.size and read.special.any():
            nan, plus, minus = (int(each) > 0 for each in read.special[0])
            kinds = [math.nan] * nan + [math.inf] * plus + [-math.inf] * minus
            return valid, repr(sum(kinds))
        if read.narrow is not None:
            return valid, Fraction(int(read.narrow[0]))
        weights = LIMB_BITS * (np.arange(read.limbs.shape[1]) + read.low_limb) + LOWEST_BIT
        return valid, sum(
            Fraction(int(limb)) * Fraction(2) ** int(weight)
            for limb, weight in zip(read.limbs[0], weights, strict=True)
        )


def _bare(value: object) -> bool:
    return any(value) if isinstance(value, tuple) else bool(value)
