"""What the kernels of a history work on: structures of arrays, each one argument of a kernel."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "BatchArrays",
    "BlockArrays",
    "CellArrays",
    "LeafArrays",
    "LeafRows",
    "NodeArrays",
    "ReadingArrays",
    "RowArrays",
]

Longs = NDArray[np.int64]
Reals = NDArray[np.float64]
Bytes = NDArray[np.uint8]


class CellArrays(NamedTuple):
    """Cells of all series: where each series lies; states and shapes by cell."""

    series: Longs
    whole: Longs
    real: Reals
    shape: Bytes


class BlockArrays(NamedTuple):
    """States of blocks, where those of each height begin, how many heights there are.

    runs: room for a range that is cut into runs.
    """

    whole: Longs
    real: Reals
    places: Longs
    heights: int
    runs: Longs


class RowArrays(NamedTuple):
    """Rows that leaves keep: where each series lies; words and, the same seen as doubles, values.

    valid: flags of validity, without columns where all is valid.
    """

    series: Longs
    times: Longs
    words: Longs
    values: Reals
    valid: Bytes


class BatchArrays(NamedTuple):
    """Rows of some series, one behind the other: where each begins, and the end."""

    firsts: Longs
    times: Longs
    words: Longs
    values: Reals
    valid: Bytes


class LeafArrays(NamedTuple):
    """Leaves of some series that are made anew, one series behind the other: ends[i] to [i + 1]."""

    ends: Longs
    whole: Longs
    real: Reals
    shape: Bytes


class LeafRows(NamedTuple):
    """The rows that such leaves keep, series by series as well."""

    ends: Longs
    times: Longs
    words: Longs
    valid: Bytes


class NodeArrays(NamedTuple):
    """Nodes that a region passes on: of which series, with which states and shapes."""

    codes: Longs
    whole: Longs
    real: Reals
    shape: Bytes


class ReadingArrays(NamedTuple):
    """States of an interval for some groups, PARTS of them each, and the nodes that are cut."""

    codes: Longs
    whole: Longs
    real: Reals
    cuts: Longs
