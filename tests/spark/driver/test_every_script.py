"""Every script of the examples and of the documentation answers on Spark as it does in process."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from support.every_script import GAPS, SCRIPTS, Seen, small_job
from windrow.embedded.job import run_embedded
from windrow.spark.driver import job as spark_job

pytestmark = [pytest.mark.spark, pytest.mark.long_spark]


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_answers_alike_on_spark(
    name: str, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name in GAPS:
        pytest.xfail(GAPS[name])
    job = small_job(SCRIPTS[name], tmp_path)
    if not job.queries and not job.questions:
        return
    here, there = Seen(), Seen()
    run_embedded(job, here)
    # One Spark for all tests.
    monkeypatch.setattr(spark_job, "local_session", lambda **_: spark)
    monkeypatch.setattr(SparkSession, "stop", lambda _: None)
    spark_job.run_on_spark(job, there)
    assert there.told() == here.told()
