from __future__ import annotations

from collections import Counter

import pytest

from windrow.spark.shuffle.buckets import bucket_ids, spark_hash


# What Spark's hash() gives for these INTs.
@pytest.mark.parametrize(("value", "expected"), [(0, 933211791), (1, -559580957), (42, 29417773)])
def test_the_hash_is_sparks(value: int, expected: int) -> None:
    assert spark_hash(value) == expected


@pytest.mark.parametrize(("buckets", "partitions"), [(1, 1), (2, 2), (8, 2), (7, 3), (64, 64)])
def test_buckets_spread_evenly(buckets: int, partitions: int) -> None:
    ids = bucket_ids(buckets, partitions)
    assert len(set(ids)) == buckets
    counts = Counter(spark_hash(bucket) % partitions for bucket in ids)
    assert max(counts.values()) - min(counts.get(p, 0) for p in range(partitions)) <= 1
