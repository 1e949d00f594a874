"""Changes read a limited number at a time: cuts fall between instants where they can."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.errors import BindingError

__all__ = ["check_limit", "cut_between_instants", "first_instants", "whole_instants"]


def check_limit(limit: object) -> None:
    """Refuses a limit that lets nothing through."""
    if limit is not None and (type(limit) is not int or limit < 1):
        raise BindingError(
            "WB422",
            f"changes() cannot be limited to {limit!r} rows",
            hint="give a number of at least 1, or none",
        )


def whole_instants(times: NDArray[np.int64], limit: int) -> int:
    """How many of sorted times there are in whole instants, at most `limit`, or in the first one.

    >>> whole_instants(np.array([1, 1, 2, 3, 3]), 4), whole_instants(np.array([1, 1]), 1)
    (3, 2)
    """
    if times.size <= limit:
        return times.size
    count = int(np.searchsorted(times, times[limit]))
    return count or int(np.searchsorted(times, times[0], side="right"))


def first_instants(parts: Iterable[NDArray[np.int64]], limit: int) -> int:
    """The same for sorted times in parts, none of them empty; no more of them are looked at.

    >>> first_instants(iter([np.array([1, 1]), np.array([2, 3, 3]), np.array([4])]), 4)
    3
    """
    seen: list[NDArray[np.int64]] = []
    count = 0
    for part in parts:
        seen.append(part)
        count += part.size
        if count > limit and part[-1] > seen[0][0]:
            break
    if not seen:
        return 0
    return whole_instants(seen[0] if len(seen) == 1 else np.concatenate(seen), limit)


def cut_between_instants(changes: pa.Table, limit: int) -> int:
    """How many of the rows may be given: at most `limit`, in whole instants if there are any."""
    if changes.num_rows <= limit:
        return int(changes.num_rows)
    times = changes.column("at").cast(pa.int64()).to_numpy()
    return int(np.searchsorted(times, times[limit])) or limit
