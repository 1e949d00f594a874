"""Values that cannot be, on Spark: the batch ends before anything of it is published or saved."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from support.spark.driven_job import DrivenJob, heartbeat
from support.streams import CATALOG, batch_of, instant, plan_of
from windrow.errors import DataError
from windrow.plan.relations.on_spark import plan_on_spark
from windrow.plan.relations.tree_plan import RunnablePlan, TreePlan
from windrow.sql import parse_query

SECOND_US = 1_000_000


def batch(second: int, **values: object) -> pa.RecordBatch:
    return batch_of("a", ({"ts": instant(second * SECOND_US), **values},))


def refused(job: DrivenJob, second: int, **values: object) -> DataError:
    with pytest.raises(DataError) as told:
        job.batch({"a": batch(second, **values)}, [heartbeat("a", second * SECOND_US)])
    return told.value


@pytest.mark.parametrize("buckets", [1, 2])
def test_a_sum_beyond_64_bits_ends_the_batch(tmp_path: Path, buckets: int) -> None:
    plan = plan_of("SELECT s, SUM(l) AS n FROM a [9 SECONDS] GROUP BY s")
    job = DrivenJob(plan, tmp_path, buckets)
    job.batch({"a": batch(1, s="x", l=2**62)}, [heartbeat("a", SECOND_US)])
    error = refused(job, 2, s="x", l=2**62)
    assert error.code == "WD302"
    assert "SUM(a.l) is beyond 64 bits where a.s is 'x', at " in error.message
    assert job.publication.last_saved == 0


def test_a_row_without_a_value_ends_the_batch(tmp_path: Path) -> None:
    job = DrivenJob(plan_of("SELECT MAX(l + 1) AS n FROM a [9 SECONDS]"), tmp_path)
    error = refused(job, 1, l=2**63 - 1)
    assert (error.code, "l + 1 has no value of type BIGINT" in error.message) == ("WD304", True)
    assert job.publication.last_saved == -1


def planned(text: str) -> RunnablePlan:
    return plan_on_spark(parse_query(text), CATALOG, "auto", "auto")


def test_a_row_without_a_value_within_a_tree_ends_the_batch(tmp_path: Path) -> None:
    text = "SELECT 6 DIV (n - 1) AS x FROM (SELECT COUNT(*) AS n FROM a [9 SECONDS]) AS q"
    job = DrivenJob(planned(text), tmp_path)
    assert isinstance(job.plan, TreePlan) or job.plan.kind == "aggregate"
    error = refused(job, 1, l=1)
    assert (error.code, job.publication.last_saved) == ("WD304", -1)
