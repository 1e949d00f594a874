"""Loops over the bytes of texts: finding those that were seen before.

A text is known by its code: starts[code] is where its words are kept, lengths[code] how many bytes
it has (FORGOTTEN: the code means another text now, or none). `slots` is a table of hashes; a text
that is not found in a few slots from its own on is not known, which is never wrong.

Texts are read by words of eight bytes; the last word has zeros behind the text, and there always is
one, if only of zeros.
"""

from __future__ import annotations

import numpy as np
from numpy import uint64

from windrow.compiling.kernels import inlined, intrinsic, njit
from windrow.windows.kernels import EMPTY

FORGOTTEN = -1
# So many slots are looked at for a text.
PROBES = 4
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)
_WORD = 8


@intrinsic
def load_word(numba, array, place):
    """The eight bytes from this place on, the first one lowest; all of them are in the array."""
    ir = numba.ir

    def emit(context, builder, signature, arguments):
        view = numba.cgutils.create_struct_proxy(signature.args[0])(context, builder, arguments[0])
        index = context.cast(builder, arguments[1], signature.args[1], numba.types.intp)
        address = builder.gep(view.data, [index])
        word = builder.bitcast(address, ir.IntType(64).as_pointer())
        return builder.load(word, align=1)

    return numba.types.uint64(array, place), emit


@inlined
def last_word(data, first, length):
    """The bytes behind the last whole word of a text."""
    place = first + (length >> 3 << 3)
    rest = length & 7
    if place + _WORD <= data.size:
        return load_word(data, place) & ((uint64(1) << uint64(8 * rest)) - uint64(1))
    word = uint64(0)
    for number in range(rest):
        word |= uint64(data[uint64(place + number)]) << uint64(8 * number)
    return word


@inlined
def mixed_with(mixed, word):
    """A hash with one more word in it."""
    mixed = (mixed ^ word) * _MULTIPLIER
    return mixed ^ (mixed >> _SHIFT)


@inlined
def slot_of_text(data, first, length, last, mask):
    """The slot at which the search for a text begins."""
    mixed = uint64(length)
    for number in range(length >> 3):
        mixed = mixed_with(mixed, load_word(data, first + _WORD * number))
    mixed = mixed_with(mixed, last) * _MULTIPLIER
    return np.int64(mixed >> uint64(32)) & mask


@njit(cache=True)
def known_texts(offsets, data, slots, starts, lengths, words, out):
    """The code of each text that is known, EMPTY for others; returns how many are not."""
    mask = slots.size - 1
    unknown = 0
    for index in range(offsets.size - 1):
        first = np.int64(offsets[uint64(index)])
        length = np.int64(offsets[uint64(index + 1)]) - first
        last = last_word(data, first, length)
        slot = slot_of_text(data, first, length, last, mask)
        found = EMPTY
        for _ in range(PROBES):
            code = np.int64(slots[uint64(slot)])
            if code != EMPTY and lengths[uint64(code)] == length:
                start = starts[uint64(code)]
                whole = length >> 3
                same = words[uint64(start + whole)] == last
                for number in range(whole):
                    word = load_word(data, first + _WORD * number)
                    same &= words[uint64(start + number)] == word
                if same:
                    found = code
                    break
            slot = (slot + 1) & mask
        out[uint64(index)] = found
        unknown += found == EMPTY
    return unknown


@njit(cache=True)
def learn_texts(offsets, data, codes, longest, slots, starts, lengths, words, used, most):
    """Know these texts by these codes, as far as there is room; returns how many words are used.

    starts and lengths are as long as codes may be high; most: of the slots are filled.
    used: words, and slots.
    """
    mask = slots.size - 1
    for index in range(codes.size):
        code = np.int64(codes[index])
        first = np.int64(offsets[index])
        length = np.int64(offsets[index + 1]) - first
        whole = length >> 3
        if code >= lengths.size or length > longest:
            continue
        if used[0] + whole + 1 > words.size or used[1] >= most:
            continue
        last = last_word(data, first, length)
        slot = slot_of_text(data, first, length, last, mask)
        for _ in range(PROBES):
            if slots[slot] == EMPTY or lengths[slots[slot]] == FORGOTTEN:
                used[1] += slots[slot] == EMPTY
                slots[slot] = code
                starts[code] = used[0]
                lengths[code] = length
                for number in range(whole):
                    words[used[0] + number] = load_word(data, first + _WORD * number)
                words[used[0] + whole] = last
                used[0] += whole + 1
                break
            slot = (slot + 1) & mask
