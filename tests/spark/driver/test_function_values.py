"""Spark itself still says of every scalar function what the kept file says."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from support.function_cases import CASES
from support.spark_function_values import ask_spark, golden

pytestmark = pytest.mark.long_spark


@pytest.fixture
def utc() -> Iterator[None]:
    """Python's own zone is UTC, in which Spark hands over times."""
    before = os.environ.get("TZ")
    os.environ["TZ"] = "UTC"
    time.tzset()
    yield
    if before is None:
        del os.environ["TZ"]
    else:
        os.environ["TZ"] = before
    time.tzset()


@pytest.mark.usefixtures("utc")
def test_spark_says_what_is_kept(spark: SparkSession) -> None:
    kept, found = golden(), ask_spark(spark, CASES)
    assert set(kept) == set(found)
    assert [text for text in kept if repr(kept[text]) != repr(found[text])] == []
