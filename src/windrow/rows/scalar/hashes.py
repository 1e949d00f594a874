"""HASH (Murmur 3) and XXHASH64 of any values, with Spark's seed; NULL leaves a hash as it is.

Numbers and times go by whole columns. Texts, bytes and wide decimals go row by row: each is hashed
with the hash of the arguments before it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from windrow.rows.scalar.values import Function, over_arrays
from windrow.schema import ColumnType

__all__ = ["HASHES"]

_SEED = 42
_MASK32, _MASK64 = 2**32 - 1, 2**64 - 1
_P1, _P2, _P3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
_P4, _P5 = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5
_DIGITS_OF_64_BITS = 18

Words = npt.NDArray[Any]


def _hash_of(
    unsigned: Any, signed: Any, of_words: Callable[[Words, Words], Words],
    of_bytes: Callable[[bytes, int], int],
) -> Function:  # fmt: skip
    def apply(arguments: list[Any], kind: ColumnType) -> Any:
        hashes: Words = np.full(len(arguments[0]), _SEED, unsigned)
        for column in arguments:
            known = column.is_valid().to_numpy(zero_copy_only=False)
            words = _words(column)
            with np.errstate(over="ignore"):
                found = (
                    _by_row(column, hashes, of_bytes) if words is None else of_words(words, hashes)
                )
            hashes = np.where(known, found, hashes).astype(unsigned)
        return pa.array(hashes.view(signed), kind.arrow)

    return over_arrays(apply)


def _words(column: pa.Array) -> Words | None:
    """The values as 32 or 64 bits without a sign, as Spark takes them; None: they are bytes."""
    kind = column.type
    if pa.types.is_timestamp(kind) or pa.types.is_duration(kind):
        column = column.cast(pa.int64())
    elif pa.types.is_date(kind) or pa.types.is_boolean(kind):
        column = column.cast(pa.int32())
    elif pa.types.is_decimal(kind):
        if kind.precision > _DIGITS_OF_64_BITS:
            return None
        unscaled = [
            int(each.scaleb(kind.scale)) if each is not None else 0 for each in column.to_pylist()
        ]
        return np.array(unscaled, np.int64).view(np.uint64)
    elif not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        return None
    values = column.fill_null(0).to_numpy(zero_copy_only=False)
    if values.dtype.kind == "f":
        # Both zeros are one value, and all NaN.
        values = np.where(np.isnan(values), np.nan, values + 0.0).astype(values.dtype)
    if values.dtype.itemsize < 4:
        values = values.astype(np.int32)
    words: Words = values.view(np.uint32 if values.dtype.itemsize == 4 else np.uint64)
    return words


def _by_row(column: pa.Array, hashes: Words, of_bytes: Callable[[bytes, int], int]) -> Words:
    if len(column) > 1 and (hashes == hashes[0]).all():
        # The first argument: equal values have equal hashes.
        encoded = column.dictionary_encode(null_encoding="encode")
        if len(encoded.dictionary) < len(column):
            seeds = hashes[: len(encoded.dictionary)]
            of_each = _by_row(encoded.dictionary, seeds, of_bytes)
            again: Words = of_each[encoded.indices.to_numpy(zero_copy_only=False)]
            return again
    found = [
        of_bytes(_bytes(value), int(seed)) if value is not None else int(seed)
        for value, seed in zip(column.to_pylist(), hashes, strict=True)
    ]
    return np.array(found, hashes.dtype)


def _bytes(value: Any) -> bytes:
    if isinstance(value, str):
        return value.encode("utf-8")
    if isinstance(value, bytes):
        return value
    exponent = value.as_tuple().exponent
    unscaled = int(value.scaleb(-exponent))
    return unscaled.to_bytes(unscaled.bit_length() // 8 + 1, "big", signed=True)


# ---- Murmur 3 ------------------------------------------------------------------------------------


def _murmur_words(words: Words, seeds: Words) -> Words:
    if words.dtype == np.uint32:
        return _finished(_mixed(seeds, words), 4)
    low, high = words.astype(np.uint32), (words >> np.uint64(32)).astype(np.uint32)
    return _finished(_mixed(_mixed(seeds, low), high), 8)


def _mixed(hashes: Words, words: Words) -> Words:
    words = _turned(words * np.uint32(0xCC9E2D51), 15) * np.uint32(0x1B873593)
    return _turned(hashes ^ words, 13) * np.uint32(5) + np.uint32(0xE6546B64)


def _turned(words: Words, by: int) -> Words:
    return (words << np.uint32(by)) | (words >> np.uint32(32 - by))


def _finished(hashes: Words, length: int) -> Words:
    hashes = hashes ^ np.uint32(length)
    hashes = (hashes ^ (hashes >> np.uint32(16))) * np.uint32(0x85EBCA6B)
    hashes = (hashes ^ (hashes >> np.uint32(13))) * np.uint32(0xC2B2AE35)
    found: Words = hashes ^ (hashes >> np.uint32(16))
    return found


def _murmur_bytes(data: bytes, seed: int) -> int:
    """As Spark does it: four bytes at a time, then each left one as a word of its own."""
    aligned = len(data) - len(data) % 4
    words = [int.from_bytes(data[place : place + 4], "little") for place in range(0, aligned, 4)]
    words += [byte - 256 & _MASK32 if byte > 127 else byte for byte in data[aligned:]]
    for word in words:
        word = word * 0xCC9E2D51 & _MASK32
        word = (word << 15 | word >> 17) * 0x1B873593 & _MASK32
        seed ^= word
        seed = ((seed << 13 | seed >> 19) * 5 + 0xE6546B64) & _MASK32
    seed ^= len(data)
    seed = (seed ^ seed >> 16) * 0x85EBCA6B & _MASK32
    seed = (seed ^ seed >> 13) * 0xC2B2AE35 & _MASK32
    return seed ^ seed >> 16


# ---- xxHash --------------------------------------------------------------------------------------


def _xx_words(words: Words, seeds: Words) -> Words:
    prime = np.uint64
    if words.dtype == np.uint32:
        found = seeds + prime(_P5) + prime(4)
        found = found ^ words.astype(np.uint64) * prime(_P1)
        found = _turned64(found, 23) * prime(_P2) + prime(_P3)
    else:
        found = seeds + prime(_P5) + prime(8)
        found = found ^ _turned64(words * prime(_P2), 31) * prime(_P1)
        found = _turned64(found, 27) * prime(_P1) + prime(_P4)
    found = (found ^ (found >> prime(33))) * prime(_P2)
    found = (found ^ (found >> prime(29))) * prime(_P3)
    return found ^ (found >> prime(32))


def _turned64(words: Words, by: int) -> Words:
    return (words << np.uint64(by)) | (words >> np.uint64(64 - by))


def _turn(word: int, by: int) -> int:
    return (word << by | word >> (64 - by)) & _MASK64


def _round(state: int, word: int) -> int:
    return _turn((state + word * _P2) & _MASK64, 31) * _P1 & _MASK64


def _xx_bytes(data: bytes, seed: int) -> int:
    place, found = _long_part(data, seed)
    found = (found + len(data)) & _MASK64
    while place + 8 <= len(data):
        found ^= _round(0, int.from_bytes(data[place : place + 8], "little"))
        found = (_turn(found, 27) * _P1 + _P4) & _MASK64
        place += 8
    if place + 4 <= len(data):
        found ^= int.from_bytes(data[place : place + 4], "little") * _P1 & _MASK64
        found = (_turn(found, 23) * _P2 + _P3) & _MASK64
        place += 4
    for byte in data[place:]:
        found ^= byte * _P5 & _MASK64
        found = _turn(found, 11) * _P1 & _MASK64
    found = (found ^ found >> 33) * _P2 & _MASK64
    found = (found ^ found >> 29) * _P3 & _MASK64
    return found ^ found >> 32


def _long_part(data: bytes, seed: int) -> tuple[int, int]:
    """How much was taken in blocks of 32 bytes, and the hash so far."""
    if len(data) < 32:
        return 0, (seed + _P5) & _MASK64
    states = [(seed + each) & _MASK64 for each in (_P1 + _P2, _P2, 0, -_P1)]
    end = len(data) - len(data) % 32
    for place in range(0, end, 8):
        word = int.from_bytes(data[place : place + 8], "little")
        lane = place // 8 % 4
        states[lane] = _round(states[lane], word)
    found = (
        sum(_turn(state, by) for state, by in zip(states, (1, 7, 12, 18), strict=True)) & _MASK64
    )
    for state in states:
        found = ((found ^ _round(0, state)) * _P1 + _P4) & _MASK64
    return end, found


HASHES: dict[str, Function] = {
    "hash": _hash_of(np.uint32, np.int32, _murmur_words, _murmur_bytes),
    "xxhash64": _hash_of(np.uint64, np.int64, _xx_words, _xx_bytes),
}
