"""The lifetime of a query with DURATION: between which instants it sees rows and answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from windrow.event_time import END_OF_TIME, START_OF_TIME

if TYPE_CHECKING:
    from windrow.plan.relations.tree_plan import RunnablePlan

__all__ = ["ALWAYS", "in_life", "life_of"]

ALWAYS = (START_OF_TIME, END_OF_TIME)

_SECOND_US = 1_000_000


def life_of(plan: RunnablePlan, first_us: int | None) -> tuple[int, int] | None:
    """First and last instant; None while they depend on a first row that has not come.

    first_us: the time of the first row that arrived on the query's first stream.
    """
    if plan.duration is None:
        return ALWAYS
    moments = [_instant(kind, value, first_us) for kind, value in plan.duration]
    begin, end = moments
    return None if begin is None or end is None else (begin, end)


def _instant(kind: str, value: int, first_us: int | None) -> int | None:
    if kind == "instant":
        return value
    return None if first_us is None else first_us + value * _SECOND_US


def in_life(times_us: NDArray[np.int64], life: tuple[int, int]) -> NDArray[np.bool_]:
    """Which rows are of that time, both ends included.

    >>> in_life(np.array([1, 2, 5, 6]), (2, 5)).tolist()
    [False, True, True, False]
    """
    return (times_us >= life[0]) & (times_us <= life[1])
