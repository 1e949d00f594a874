"""A cluster for the tests of a module, and a session whose driver is this process."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from support.servers.spark_cluster import HOST, StandaloneCluster
from windrow.spark.cluster import cluster_settings
from windrow.spark.settings import local_session

SETTINGS = {
    **cluster_settings(),
    "spark.driver.host": HOST,
    "spark.driver.bindAddress": HOST,
    "spark.executor.memory": "700m",
    "spark.ui.enabled": "false",
    "spark.log.level": "OFF",
}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StandaloneCluster]:
    made = StandaloneCluster(tmp_path_factory.mktemp("cluster"))
    yield made
    made.stop()


@pytest.fixture(scope="module")
def spark(cluster: StandaloneCluster) -> Iterator[SparkSession]:
    # The JVM and its environment are those of a local session, whatever runs in it afterwards.
    local_session(cores=1).stop()
    builder = SparkSession.builder.master(cluster.url).appName("windrow")
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    assert session.sparkContext.master == cluster.url
    yield session
    session.stop()
