"""Rows dealt out to buckets: rows that may meet in an answer go to the same one."""

from __future__ import annotations

from datetime import UTC, datetime

import pyarrow as pa
import pytest

from windrow.plan.binder import bind
from windrow.plan.catalog import Catalog
from windrow.rows.prepare import Preparer, bucket_of
from windrow.schema import StreamSchema, columns_of
from windrow.sql import parse_query

CATALOG = Catalog(
    StreamSchema("a", columns_of("ts timestamp, s string, k int, x double"), "ts"),
    StreamSchema("b", columns_of("ts timestamp, s string, k bigint, x double"), "ts"),
    StreamSchema("c", columns_of("ts timestamp, s string, k smallint, x double"), "ts"),
)
BUCKETS = 7
NUMBERS = list(range(60))


def owners(text: str) -> list[dict[int, set[int]]]:
    """For each input the buckets in which each value of k is found; s and x vary beside it."""
    plan = bind(parse_query(text), CATALOG)
    found = []
    for input_index, entry in enumerate(plan.inputs):
        keys = [key for key in NUMBERS for _ in range(3)]
        batch = pa.RecordBatch.from_pydict(
            {
                "ts": [datetime(2026, 1, 1, tzinfo=UTC)] * len(keys),
                "s": [f"{input_index}{i % 3}" for i in range(len(keys))],
                "k": keys,
                "x": [float(i) for i in range(len(keys))],
            },
            schema=entry.stream.arrow,
        )
        prepared = Preparer(plan, input_index).prepared_batch(batch)
        buckets = bucket_of(plan, input_index, prepared, BUCKETS).tolist()
        places: dict[int, set[int]] = {}
        for key, bucket in zip(keys, buckets, strict=True):
            places.setdefault(key, set()).add(bucket)
        found.append(places)
    return found


@pytest.mark.parametrize(
    "text",
    [
        "SELECT COUNT(*) AS n FROM a [5], b [5], c [5] WHERE a.k = b.k AND b.k = c.k",
        # In b and c the common key is the second one.
        "SELECT COUNT(*) AS n FROM a [5], b [5], c [5] "
        "WHERE b.s = c.s AND a.k = b.k AND b.k = c.k AND a.x > c.x",
        # Dealt by k alone, though s joins too.
        "SELECT COUNT(DISTINCT a.k) AS n FROM a [5], b [5] WHERE a.s = b.s AND a.k = b.k",
        "SELECT b.k, COUNT(DISTINCT a.x) AS n FROM a [5], b [PARTITION BY s, k ROWS 2] "
        "WHERE a.s = b.s AND a.k = b.k GROUP BY b.k",
        "SELECT k, COUNT(DISTINCT x) AS n FROM a [PARTITION BY s, k ROWS 2] GROUP BY k",
    ],
)
def test_equal_keys_meet_in_one_bucket(text: str) -> None:
    first, *others = owners(text)
    assert all(len(buckets) == 1 for buckets in first.values())
    assert all(other == first for other in others)
    assert len(set.union(*first.values())) == BUCKETS


def test_rows_that_cannot_be_dealt_out_stay_together() -> None:
    for places in owners("SELECT COUNT(*) AS n FROM a [5], b [5] WHERE a.x > b.x"):
        assert set.union(*places.values()) == {0}
