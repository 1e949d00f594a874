"""A batch of rows as kernels take it: sorted by group and time, values as words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.history.arrays import BatchArrays
from windrow.history.cells.arena import Longs
from windrow.history.leaves.order_kernels import DIGIT_BITS, sort_by_digit
from windrow.windows.codes import Codes
from windrow.windows.column_words import read_only, words_of_array
from windrow.windows.kernels import is_sorted

__all__ = ["Batch", "Flags", "batch_of"]

Flags = NDArray[np.uint8]


@dataclass(frozen=True)
class Batch:
    """Rows of some series, one series behind the other, each in order of time.

    firsts: where each series begins, and the end. valid has no columns where all is valid.
    """

    codes: Longs
    firsts: Longs
    times: Longs
    words: Longs
    valid: Flags

    @property
    def arrays(self) -> BatchArrays:
        """The rows, as kernels take them."""
        firsts, times, words = (read_only(each) for each in (self.firsts, self.times, self.words))
        return BatchArrays(firsts, times, words, words.view(np.float64), read_only(self.valid))

    @property
    def size(self) -> int:
        """Rows."""
        return self.times.size


def batch_of(times: Longs, codes: Codes | None, measures: Sequence[pa.Array]) -> Batch:
    """Rows in any order, those of equal time stay in it; without codes all are of series 0."""
    words, valid = _words(measures, times.size)
    order = _order(times, codes)
    if order is not None:
        # Indexing would give matrices that lie column by column.
        times, words = times[order], words.take(order, axis=1)
        valid = valid.take(order, axis=1) if valid.shape[1] else valid
        codes = None if codes is None else codes[order]
    if codes is None:
        present = np.zeros(min(times.size, 1), np.int64)
        firsts = np.array([0, times.size] if times.size else [0])
    else:
        firsts = np.flatnonzero(np.diff(codes, prepend=-1, append=-1))
        present = codes[firsts[:-1]].astype(np.int64)
    return Batch(present, firsts, times, words, valid)


def _words(measures: Sequence[pa.Array], size: int) -> tuple[Longs, Flags]:
    pairs = [words_of_array(column) for column in measures]
    if len(pairs) == 1 and pairs[0][0].flags.c_contiguous:
        words = pairs[0][0].reshape(1, -1)
    else:
        words = np.empty((len(pairs), size), np.int64)
        for place, (each, _) in enumerate(pairs):
            words[place] = each
    if not any(flags.size for _, flags in pairs):
        return words, np.empty((len(pairs), 0), np.uint8)
    valid = np.ones((len(pairs), size), np.uint8)
    for place, (_, flags) in enumerate(pairs):
        if flags.size:
            valid[place] = flags
    return words, valid


def _order(times: Longs, codes: Codes | None) -> Longs | None:
    """The order by series and time; None where rows are in it already."""
    order = None if is_sorted(read_only(times)) else np.argsort(times, kind="stable")
    if codes is None:
        return order
    if order is None:
        order = np.arange(times.size)
    spare, counts = np.empty_like(order), np.empty(1 << DIGIT_BITS, np.int64)
    shift, most = 0, int(codes.max(initial=0))
    while most >> shift:
        sort_by_digit(codes, shift, order, spare, counts)
        order, spare = spare, order
        shift += DIGIT_BITS
    return order
