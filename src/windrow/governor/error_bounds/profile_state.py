"""What an arrival profile is made of, as a snapshot keeps it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windrow.governor.error_bounds.intervals import Floats

__all__ = ["ProfileState"]


@dataclass(frozen=True)
class ProfileState:
    """The cells in use (slot of the ring, group, lanes), and where time stands.

    newest: the number of the newest pane; arrivals: rows of all groups by slot.
    """

    pane_us: int
    newest: int | None
    earliest_us: int | None
    arrivals: NDArray[np.int64]
    slot: NDArray[np.int32]
    group: NDArray[np.int32]
    cells: Floats
