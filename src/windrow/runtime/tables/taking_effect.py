"""When changes of a table take effect: from which instant on each of its versions holds."""

from __future__ import annotations

import numpy as np

from windrow.operators.relations.changes import Vector
from windrow.rows.given_table_rows import GivenVersions

__all__ = ["instants_of_versions"]


def instants_of_versions(
    given: GivenVersions, reached: int, following: int
) -> tuple[Vector, Vector, int]:
    """From when each row holds, its own time, and how many are late.

    reached: up to here everything is told; following: after all rows that have come.
    """
    if given.times is None:
        at = np.full(given.size, following, np.int64)
        return at, at, 0
    times = np.where(given.is_untimed, following, given.times)
    is_late = times <= reached
    return np.where(is_late, reached + 1, times), times, int(is_late.sum())
