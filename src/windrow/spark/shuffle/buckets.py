"""Bucket ids that Spark's hash partitioner spreads evenly over the shuffle partitions.

Spark sends a group to partition murmur3(id) modulo partitions; ids 0, 1, 2, ... would leave some
partitions empty and pile others up.
"""

from __future__ import annotations

import itertools

__all__ = ["MAX_BUCKETS", "bucket_ids", "spark_hash"]

MAX_BUCKETS = 4_096

_MASK = 0xFFFFFFFF
_SEED = 42


def bucket_ids(buckets: int, partitions: int) -> tuple[int, ...]:
    """As many ids as buckets; bucket i falls into partition i modulo partitions.

    >>> [spark_hash(i) % 4 for i in bucket_ids(8, 4)]
    [0, 1, 2, 3, 0, 1, 2, 3]
    """
    found: list[list[int]] = [[] for _ in range(partitions)]
    wanted = -(-buckets // partitions)
    missing = partitions * wanted
    for candidate in itertools.count():
        if missing == 0:
            break
        partition = found[spark_hash(candidate) % partitions]
        if len(partition) < wanted:
            partition.append(candidate)
            missing -= 1
    return tuple(found[i % partitions][i // partitions] for i in range(buckets))


def spark_hash(value: int) -> int:
    """Spark's murmur3 of an INT column, as a signed 32-bit number."""
    mixed = _rotate((value & _MASK) * 0xCC9E2D51 & _MASK, 15) * 0x1B873593 & _MASK
    digest = (_rotate(_SEED ^ mixed, 13) * 5 + 0xE6546B64) & _MASK
    digest ^= 4  # the length of an INT in bytes
    digest = (digest ^ digest >> 16) * 0x85EBCA6B & _MASK
    digest = (digest ^ digest >> 13) * 0xC2B2AE35 & _MASK
    digest ^= digest >> 16
    return digest - (1 << 32) if digest >> 31 else digest


def _rotate(value: int, bits: int) -> int:
    return (value << bits | value >> (32 - bits)) & _MASK
