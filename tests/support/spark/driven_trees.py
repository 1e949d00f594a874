"""Queries that are trees in Spark's buckets without Spark, by actions on the streams a, b and c."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

from support.form_runners import Given
from support.spark.driven_job import DrivenJob, heartbeat
from support.streams import CATALOG, Action, Heartbeat, batch_of
from windrow.event_time import END_OF_TIME
from windrow.plan.relations.on_spark import plan_on_spark
from windrow.plan.relations.tree_plan import RunnablePlan, TreePlan
from windrow.plan.serialise import plan_from_json, plan_to_json
from windrow.sql import parse_query

__all__ = ["driven_run", "spark_plan"]


def spark_plan(text: str) -> RunnablePlan:
    """The plan of a query on Spark, as workers read it."""
    plan = plan_on_spark(parse_query(text), CATALOG, "auto", "auto")
    return plan_from_json(plan_to_json(plan))


def driven_run(
    text: str,
    actions: Sequence[Action],
    folder: Path,
    seed: int | None = None,
    buckets: int = 1,
) -> Given:
    """All that a query gives, an action a batch; seed: after which shards are lost, or all is."""
    plan = spark_plan(text)
    is_one = isinstance(plan, TreePlan) and not plan.is_sharded
    job = DrivenJob(plan, folder, 1 if is_one else buckets)
    draw = random.Random(seed)
    given = []
    for action in actions:
        if action.stream not in plan.streams:
            continue
        if isinstance(action, Heartbeat):
            given.append(job.batch({}, [heartbeat(action.stream, action.to_us)]))
        else:
            given.append(job.batch({action.stream: batch_of(action.stream, action.rows)}))
        if seed is not None:
            draw.choice((job.lose_shards, job.restart, lambda: None))()
    given.append(job.batch({}, [heartbeat(stream, END_OF_TIME) for stream in plan.streams]))
    tables = [pa.concat_tables([each[feed] for each in given]) for feed in ("answers", "changes")]
    return Given(*tables, job.publication.result())
