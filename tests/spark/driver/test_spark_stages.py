"""Trees in stages on Spark, with exchanges between them, give what one process gives."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import windrow
from support.form_runners import RUNNERS, Given
from support.runners import exactly
from support.spark.spark_forms import declared
from support.spark.stream_files import Files
from windrow.plan.relations.tree_plan import TreePlan

pytestmark = [pytest.mark.spark, pytest.mark.long_spark]

STAGED = {
    "by-counts": (
        "SELECT n, COUNT(*) AS m FROM (SELECT k, COUNT(*) AS n FROM a [4 SECONDS] GROUP BY k) AS q"
        " GROUP BY n EVERY (1 SECOND)"
    ),
    "most-rows": (
        "SELECT k, n FROM (SELECT k, COUNT(*) AS n FROM a [4 SECONDS] GROUP BY k) AS q WHERE n ="
        " (SELECT MAX(n) FROM (SELECT k, COUNT(*) AS n FROM a [4 SECONDS] GROUP BY k) AS r)"
    ),
    "first-rows": "SELECT k, l, s FROM a [3 SECONDS] ORDER BY d DESC, l LIMIT 3 OFFSET 1",
    "other-keys": (
        "SELECT q.s, COUNT(*) AS n, MAX(q.x) AS x FROM (SELECT a.s, c.x FROM a [2 SECONDS] LEFT"
        " JOIN b [2 SECONDS] ON a.k = b.k LEFT JOIN c [3 SECONDS] ON b.l = c.x) AS q GROUP BY q.s"
    ),
}


@pytest.mark.parametrize("name", STAGED)
def test_stages_give_what_one_process_gives(name: str, spark: SparkSession, tmp_path: Path) -> None:
    given: list[Given] = []
    files = Files(spark, tmp_path / "in")
    session = windrow.connect(spark, checkpoint=tmp_path / "checkpoint", buckets=2)
    try:
        declared(session, files)
        query = session.query(STAGED[name], name=name).start("memory", trigger="available")
        assert isinstance(query.plan, TreePlan)
        stages = len(query.plan.stages)
        assert stages > 1
        query.await_end()
        given.append(Given(query.answers(), query.changes(), query.result()))
        session.finish()  # begins again, from what is stored of each stage
        given.append(Given(query.answers(), query.changes(), query.result()))
        assert f"as it runs, in {stages} stages:" in query.explain()
        assert query.progress()["window_bytes"] > 0
    finally:
        session.stop()
    whole = [pa.concat_tables([each[place] for each in given]) for place in range(2)]
    twin = RUNNERS["in process"](STAGED[name], tmp_path)
    assert sorted(exactly(whole[0])) == sorted(exactly(twin.answers))
    assert sorted(exactly(whole[1])) == sorted(exactly(twin.changes))
    assert exactly(given[-1].result) == exactly(twin.result)
