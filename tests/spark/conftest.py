"""One Spark session for all tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from support.spark.stream_files import Files, Sessions
from windrow.spark.settings import local_session


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    session = local_session(cores=2)
    yield session
    session.stop()


@pytest.fixture
def files(spark: SparkSession, tmp_path: Path) -> Files:
    return Files(spark, tmp_path / "in")


@pytest.fixture
def sessions(spark: SparkSession, tmp_path: Path) -> Iterator[Sessions]:
    made = Sessions(spark, tmp_path / "checkpoint")
    yield made
    for session in made.opened:
        session.stop()
