"""Queries that read tables in Spark's buckets without Spark, by actions on streams and tables."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from support.form_runners import Given
from support.spark.driven_job import DrivenJob, heartbeat
from support.streams import Heartbeat, batch_of
from support.table_runs import TABLE_CATALOG, TABLES, AnyAction, Change, give_any, table_session
from windrow.event_time import END_OF_TIME
from windrow.plan.relations.on_spark import plan_on_spark
from windrow.plan.relations.tree_plan import TreePlan
from windrow.plan.serialise import plan_from_json, plan_to_json
from windrow.spark.checkpoint.table_declaration import tables_of_text, tables_text
from windrow.spark.shuffle.table_packer import RecordForm
from windrow.sql import parse_query

__all__ = ["driven_tables", "in_process", "table_plan"]

# What is given to tables has a column that says what became of a row.
OPERATIONS = RecordForm(op="op")


def table_plan(text: str) -> TreePlan:
    """The plan of a query on Spark, as workers read it."""
    plan = plan_on_spark(parse_query(text), TABLE_CATALOG, "auto", "auto")
    read = plan_from_json(plan_to_json(plan))
    assert isinstance(read, TreePlan)
    return read


def relevant(plan: TreePlan, actions: Sequence[AnyAction]) -> list[AnyAction]:
    """What concerns the query: a query on Spark does not see how far other streams are."""
    return [
        action
        for action in actions
        if (
            action.table in plan.tables and action.rows
            if isinstance(action, Change)
            else action.stream in plan.streams
        )
    ]


def driven_tables(
    text: str,
    actions: Sequence[AnyAction],
    folder: Path,
    seed: int | None = None,
    buckets: int = 1,
) -> Given:
    """All that a query gives, an action a batch; seed: after which shards are lost, or all is."""
    plan = table_plan(text)
    tables = tables_of_text(tables_text([TABLES[name] for name in plan.own_tables]))
    count = buckets if plan.is_sharded else 1
    job, draw, given = DrivenJob(plan, folder, count, tables), random.Random(seed), []
    for action in relevant(plan, actions):
        if isinstance(action, Change):
            changes = {action.table: (OPERATIONS, [operations(action)])}
            given.append(job.batch({}, changes=changes))
        elif isinstance(action, Heartbeat):
            given.append(job.batch({}, [heartbeat(action.stream, action.to_us)]))
        else:
            given.append(job.batch({action.stream: batch_of(action.stream, action.rows)}))
        if seed is not None:
            draw.choice((job.lose_shards, job.restart, lambda: None))()
    given.append(job.batch({}, [heartbeat(stream, END_OF_TIME) for stream in plan.streams]))
    feeds = [pa.concat_tables([each[feed] for each in given]) for feed in ("answers", "changes")]
    return Given(*feeds, job.publication.result())


def operations(action: Change) -> pa.RecordBatch:
    """The rows of a change with the word for what became of them."""
    schema = TABLES[action.table].arrow.append(pa.field("op", pa.string()))
    word = "-D" if action.is_deletion else "+U"
    rows: list[dict[str, Any]] = [{**row, "op": word} for row in action.rows]
    return pa.RecordBatch.from_pylist(rows, schema=schema)


def in_process(text: str, actions: Sequence[AnyAction]) -> Given:
    """What a session in this process gives that is given the same."""
    session = table_session()
    query = session.query(text)
    for action in relevant(table_plan(text), actions):
        give_any(session, action)
    session.finish()
    return Given(query.answers(), query.changes(), query.result())
