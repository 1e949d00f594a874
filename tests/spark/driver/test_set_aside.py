"""ON ERROR SET ASIDE on Spark: rows are left out and counted once, and late ones not."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from support.query_forms import PUSHES
from support.sessions import give, session_of
from support.spark.driven_job import DrivenJob, heartbeat
from support.streams import CATALOG, batch_of, instant
from windrow.event_time import END_OF_TIME
from windrow.plan.catalog import Catalog
from windrow.plan.relations.on_spark import plan_on_spark
from windrow.plan.relations.tree_plan import RunnablePlan, TreePlan
from windrow.schema import StreamSchema, columns_of
from windrow.spark.monitoring.query_account import ledger_of
from windrow.spark.shuffle.carrier import shared_partitioning
from windrow.sql import parse_query

TEXTS = {
    "rows": "SELECT s, 6 DIV l AS x FROM a [3 SECONDS] WHERE k IS NOT NULL",
    "aggregates": "SELECT k, COUNT(*) AS n, SUM(6 DIV l) AS t FROM a [3 SECONDS] GROUP BY k",
    "groups": "SELECT SUM(l * 6917529) AS t, COUNT(*) AS n FROM a [9 SECONDS] WHERE l > 3",
    "join": (
        "SELECT COUNT(*) AS n, SUM(x.k) AS t FROM a [3 SECONDS] AS x, b [3 SECONDS] AS y"
        " WHERE x.k = y.k AND 6 DIV x.l > 1 AND 6 % y.l = 0"
    ),
    "tree": (
        "SELECT s, 6 DIV n AS x, 6 DIV l AS y FROM (SELECT s, l, COUNT(*) - 2 AS n"
        " FROM a [3 SECONDS] GROUP BY s, l) AS q ORDER BY x LIMIT 5"
    ),
    "tree-of-joined-rows": (
        "SELECT x.k, 6 DIV (x.l - y.l) AS z FROM a [3 SECONDS] AS x LEFT JOIN b [3 SECONDS] AS y"
        " ON x.k = y.k AND 6 DIV x.l > 1"
    ),
    "same-stream": (
        "SELECT COUNT(*) AS n FROM a [3 SECONDS] AS x, a [2 SECONDS] AS y"
        " WHERE x.k = y.k AND 6 DIV y.l > 1"
    ),
}


def planned(text: str, catalog: Catalog = CATALOG) -> RunnablePlan:
    return plan_on_spark(parse_query(f"{text} ON ERROR SET ASIDE"), catalog, "auto", "auto")


@pytest.mark.parametrize("name", TEXTS)
def test_buckets_count_what_a_session_in_process_counts(name: str, tmp_path: Path) -> None:
    plan = planned(TEXTS[name])
    session = session_of()
    query = session.query(f"{TEXTS[name]} ON ERROR SET ASIDE")
    job, given = DrivenJob(plan, tmp_path, buckets=1 if isinstance(plan, TreePlan) else 2), []
    for number, push in enumerate(each for each in PUSHES if each.stream in plan.streams):
        give(session, push, "batch")
        rows = {push.stream: batch_of(push.stream, push.rows)}
        given.append(job.batch(rows))
        if number % 5 == 3:
            job.restart()
    session.finish()
    given.append(job.batch({}, [heartbeat(each, END_OF_TIME) for each in plan.streams]))
    answers = pa.concat_tables([each["answers"] for each in given])
    assert sorted(map(repr, answers.to_pylist())) == sorted(map(repr, query.answers().to_pylist()))
    ledger = ledger_of(plan, job.publication.status.account)
    assert ledger.table().to_pylist() == query.ledger().to_pylist()
    assert sum(ledger.set_aside.values()) > 0, "rows that are all good show nothing"
    ours, theirs = ledger.aside_table().to_pylist(), query.rows_set_aside().to_pylist()
    assert sorted(map(repr, ours)) == sorted(map(repr, theirs))


def test_a_batch_that_comes_again_counts_once(tmp_path: Path) -> None:
    plan = planned("SELECT 6 DIV l AS x FROM a [9 SECONDS]")
    job = DrivenJob(plan, tmp_path)
    rows = batch_of("a", ({"ts": instant(1_000_000), "l": 0}, {"ts": instant(1_000_001), "l": 2}))
    outputs = job.outputs({"a": rows})
    for _ in range(2):
        job.publication.absorb(0, outputs, ("answers",))
        job.publication.save()
    (found,) = ledger_of(plan, job.publication.status.account).table().to_pylist()
    assert found == {"input": "a", "rows_in": 2, "applied": 1, "set_aside": 1}
    assert isinstance(shared_partitioning(plan), str), "it runs in an operator of its own"


def test_rows_that_are_too_far_ahead_are_not_counted(tmp_path: Path) -> None:
    schema = StreamSchema("m", columns_of("ts timestamp, x int"), "ts", max_ahead=10_000_000)
    plan = planned("SELECT 6 DIV x AS y FROM m [9 SECONDS]", Catalog().with_stream(schema))
    job = DrivenJob(plan, tmp_path)
    times = [instant(second * 1_000_000) for second in (1, 2, 3, 4, 5000)]
    rows = pa.RecordBatch.from_pylist([{"ts": each, "x": 0} for each in times], schema.arrow)
    job.batch({"m": rows})
    (found,) = ledger_of(plan, job.publication.status.account).table().to_pylist()
    assert (found["rows_in"], found["set_aside"]) == (4, 4)
