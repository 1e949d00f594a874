"""One PostgreSQL server for all tests of this folder, and a database of its own for each."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from pyspark.sql import SparkSession

from support.servers.postgres_database import Database
from support.servers.postgres_server import Server, programs
from support.spark.stream_files import Files, Sessions
from windrow.spark.settings import local_session


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    found = programs()
    if found is None:
        pytest.skip("no PostgreSQL server is installed; `make test-postgres` says how to get one")
    made = Server.start(found)
    yield made
    made.stop()


@pytest.fixture
def database(server: Server) -> Iterator[Database]:
    name = f"db_{uuid.uuid4().hex[:8]}"
    with server.connect() as connection:
        connection.execute(f'CREATE DATABASE "{name}"')  # type: ignore[call-overload]  # our own text
    url = f"host={server.folder} dbname={name} user=tester"
    with psycopg.connect(url, autocommit=True) as connection:
        yield Database(url, connection)


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
