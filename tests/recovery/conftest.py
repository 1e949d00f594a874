"""A Spark session for the tests of this folder that need one of their own process."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from recovery.recovered_job import SETTINGS
from windrow.spark.settings import local_session


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    session = local_session(cores=2)
    for name, value in SETTINGS.items():
        session.conf.set(name, value)
    yield session
    session.stop()
