"""How evenly a query's rows and bytes are spread over its buckets."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Any

__all__ = ["fullest_bucket", "median_ratio", "skew_of"]


def skew_of(bucket_rows: Sequence[int]) -> float | None:
    """Rows of the fullest bucket by the mean of all; None while no bucket holds any."""
    total = sum(bucket_rows)
    return max(bucket_rows) * len(bucket_rows) / total if total else None


def median_ratio(sizes: Sequence[int]) -> float | None:
    """The largest by the median; None where the median is nothing.

    >>> median_ratio([10, 10, 40]), median_ratio([0, 0, 40])
    (4.0, None)
    """
    middle = median(sizes) if sizes else 0
    return max(sizes) / middle if middle else None


def fullest_bucket(
    bucket_rows: Sequence[int], bucket_bytes: Sequence[int]
) -> dict[str, Any] | None:
    """The bucket with most bytes beside the median; None before the first batch.

    >>> fullest_bucket([1, 5, 2], [100, 500, 100])["bucket"]
    1
    """
    if not bucket_bytes:
        return None
    place = max(range(len(bucket_bytes)), key=bucket_bytes.__getitem__)
    return {
        "bucket": place,
        "rows": bucket_rows[place],
        "median_rows": median(bucket_rows),
        "bytes": bucket_bytes[place],
        "median_bytes": median(bucket_bytes),
    }
