"""Texts as words of eight bytes whose order as signed integers is that of the texts."""

from __future__ import annotations

import numpy as np

from windrow.compiling.kernels import njit

LOWEST_WORD = np.int64(-(1 << 63))
_BYTES = 8


@njit(cache=True)
def text_words(offsets, data, valid, out):
    """Write each text's UTF-8, padded with NUL; last, how many NUL letters the text ends with.

    The first byte is the highest, and the sign is flipped, as bytes have none. NULL is as ''.
    """
    count = out.shape[1] - 1
    for row in range(out.shape[0]):
        begin, end = offsets[row], offsets[row + 1]
        if valid.size > 0 and valid[row] == 0:
            end = begin
        for place in range(count):
            word = np.int64(0)
            first = begin + place * _BYTES
            for at in range(first, first + _BYTES):
                word = (word << 8) | (np.int64(data[at]) if at < end else 0)
            out[row, place] = word ^ LOWEST_WORD
        tail = 0
        while end - tail > begin and data[end - tail - 1] == 0:
            tail += 1
        out[row, count] = tail
