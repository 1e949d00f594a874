"""A broker and a Spark session with Kafka's connector, for all tests of this folder."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from support.servers.kafka_broker import Broker
from support.servers.kafka_topics import Topics
from support.servers.live_topics import LiveTopics
from support.spark.stream_files import Sessions
from windrow.spark.settings import local_session

FETCHED = Path(__file__).parents[3] / ".venv" / "kafka"


@pytest.fixture(scope="session")
def jars() -> list[str]:
    found = sorted(map(str, (FETCHED / "connector").glob("*.jar")))
    if not found:
        pytest.skip("Kafka's jars are fetched by `make test-kafka`")
    return found


@pytest.fixture(scope="session")
def broker(jars: list[str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:  # noqa: ARG001 - both come together
    made = Broker(FETCHED / "broker", tmp_path_factory.mktemp("broker"))
    try:
        made.start()
        yield made
    finally:
        made.stop()


@pytest.fixture(scope="session")
def spark(jars: list[str]) -> Iterator[SparkSession]:
    session = local_session(cores=2, jars=jars)
    yield session
    session.stop()


@pytest.fixture
def live_topics(broker: Broker) -> LiveTopics:
    return LiveTopics(broker.servers, uuid.uuid4().hex[:8])


@pytest.fixture
def topics(spark: SparkSession, broker: Broker) -> Topics:
    return Topics(spark, broker.servers, uuid.uuid4().hex[:8])


@pytest.fixture
def sessions(spark: SparkSession, tmp_path: Path) -> Iterator[Sessions]:
    made = Sessions(spark, tmp_path / "checkpoint")
    yield made
    for session in made.opened:
        session.stop()
