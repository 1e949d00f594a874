"""A checkpoint in an S3-like store: resumed, and partitioned anew, it gives what it would have."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow.dataset as ds
import pytest
from pyarrow import fs
from pyspark.sql import SparkSession

from support.servers.s3_store import S3Store
from support.spark.stream_files import Files, embedded, random_batches
from windrow import sinks
from windrow.spark.driver.session import SparkWindrowSession
from windrow.spark.settings import local_session

pytestmark = [pytest.mark.s3, pytest.mark.spark]

FETCHED = Path(__file__).parents[3] / ".venv" / "s3"
BUCKET = "windrow"
JOIN = """SELECT h.room, COUNT(*) AS n FROM h [8 SECONDS], c [5 SECONDS]
          WHERE h.room = c.room GROUP BY h.room"""


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Iterator[S3Store]:
    if not (FETCHED / "jars").exists():
        pytest.skip("what S3 needs is fetched by `make test-s3`")
    store = S3Store(FETCHED / "server", BUCKET)
    monkeypatch.setenv("AWS_ENDPOINT_URL", store.address)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "someone")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "something")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    try:
        yield store
    finally:
        store.stop()


@pytest.fixture
def spark(store: S3Store) -> Iterator[SparkSession]:
    session = local_session(cores=2, jars=[str(FETCHED / "jars")])
    settings = session.sparkContext._jsc.hadoopConfiguration()
    settings.set("fs.s3a.endpoint", store.address)
    settings.set("fs.s3a.endpoint.region", "us-east-1")
    settings.set("fs.s3a.path.style.access", "true")
    settings.set("fs.s3a.connection.ssl.enabled", "false")
    settings.set("fs.s3a.connection.expect.continue", "false")
    yield session
    session.stop()


def test_a_query_is_resumed_from_a_store(spark: SparkSession, tmp_path: Path) -> None:
    files, batches = Files(spark, tmp_path), random_batches(3, seed=91)

    def run(buckets: int, *, is_last: bool = False) -> None:
        session = SparkWindrowSession(spark, checkpoint=f"s3a://{BUCKET}/state", buckets=buckets)
        for stream in ("h", "c"):
            session.stream(stream, files.stream(stream), time="ts")
        sink = sinks.parquet(f"s3a://{BUCKET}/out")
        session.query(JOIN, name="q").start(sink, trigger="available").await_end()
        if is_last:
            session.finish()
        session.stop()

    files.put_all(batches[:1])
    run(2)
    files.put_all(batches[1:2])
    run(2)
    files.put_all(batches[2:])
    run(3, is_last=True)
    bucket, folder = fs.FileSystem.from_uri(f"s3://{BUCKET}/out")
    found = ds.dataset(folder, filesystem=bucket).to_table()
    expected, _ = embedded(JOIN, batches)
    assert found.sort_by([("at", "ascending"), ("room", "ascending")]).to_pylist() == (
        expected.answers().sort_by([("at", "ascending"), ("room", "ascending")]).to_pylist()
    )
