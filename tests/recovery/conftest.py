"""What tests of this folder need besides the jobs that they kill: Spark, PostgreSQL, Kafka."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from connectors.kafka.conftest import FETCHED, broker
from connectors.postgres.conftest import database, server
from support.recovery.recovered_job import SETTINGS
from windrow.spark.settings import local_session

__all__ = ["broker", "database", "server"]


@pytest.fixture(scope="session")
def jars() -> list[str]:
    found = sorted(map(str, (FETCHED / "connector").glob("*.jar")))
    if not found:
        pytest.skip("Kafka's jars are fetched by `make test-kafka`")
    return found


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    session = local_session(cores=2, jars=sorted(map(str, FETCHED.glob("connector/*.jar"))))
    for name, value in SETTINGS.items():
        session.conf.set(name, value)
    yield session
    session.stop()
