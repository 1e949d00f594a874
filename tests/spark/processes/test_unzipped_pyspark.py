"""Python workers read PySpark's compiled files, where they find them."""

from __future__ import annotations

import importlib

import pyspark
import pytest
from pyspark.sql import SparkSession

from windrow.spark.processes.unzipped_pyspark import is_found_by_workers, spare_archive


@pytest.mark.spark
def test_workers_do_not_read_the_archive(spark: SparkSession) -> None:
    def place(_: int) -> str:
        return str(importlib.import_module("pyspark").__file__)

    (found,) = set(spark.sparkContext.parallelize([1, 2], 2).map(place).collect())
    assert is_found_by_workers()
    assert ".zip" not in found


@pytest.mark.spark
def test_where_workers_would_not_find_it_the_archive_stays(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pyspark, "__file__", "/elsewhere/pyspark/__init__.py")
    assert not spare_archive(spark)
