"""Queries in Spark's buckets, without Spark, that go on from a state file or into one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

from support.form_runners import Given
from support.spark.driven_job import DrivenJob, heartbeat
from support.streams import CATALOG, Action, Heartbeat, batch_of
from windrow.carryover.fitting import fitted
from windrow.carryover.state_file import read_state_file, write_state_file
from windrow.event_time import END_OF_TIME
from windrow.plan.relations.on_spark import plan_on_spark
from windrow.plan.relations.tree_plan import RunnablePlan
from windrow.spark.checkpoint.beginning import PUBLICATION, read_beginning
from windrow.spark.checkpoint.query_checkpoint import QueryCheckpoint
from windrow.spark.driver.begun_checkpoint import begin_checkpoint, bucket_count
from windrow.spark.driver.handed_over import Stood, handed_over
from windrow.spark.driver.publication import Publication
from windrow.sql import parse_query
from windrow.storage import Storage

__all__ = ["begun_job", "exported", "plan_in_buckets", "ran", "to_the_end"]


def plan_in_buckets(text: str) -> RunnablePlan:
    """The plan of a query over a, b and c as Spark runs it."""
    return plan_on_spark(parse_query(text), CATALOG, "auto", "auto")


def ran(job: DrivenJob, actions: Sequence[Action]) -> Given | None:
    """What the job gives in a batch for each action; None where none is for it."""
    given = []
    for action in actions:
        if isinstance(action, Heartbeat) and action.stream in job.plan.streams:
            nothing = {stream: batch_of(stream, ()) for stream in job.plan.streams}
            given.append(job.batch(nothing, [heartbeat(action.stream, action.to_us)]))
        elif action.stream in job.plan.streams:
            given.append(job.batch({action.stream: batch_of(action.stream, action.rows)}))
    return _whole(given) if given else None


def to_the_end(job: DrivenJob) -> Given:
    """What it gives when all streams end."""
    nothing = {stream: batch_of(stream, ()) for stream in job.plan.streams}
    ends = [heartbeat(stream, END_OF_TIME) for stream in job.plan.streams]
    return _whole([job.batch(nothing, ends)])


def _whole(given: Sequence[dict[str, pa.Table]]) -> Given:
    feeds = {
        feed: pa.concat_tables([each[feed] for each in given]) for feed in ("answers", "changes")
    }
    return Given(**feeds, result=given[-1]["result"])


def exported(job: DrivenJob, file: Path, grid_us: int = 1) -> None:
    """The state of a job after its last batch as a file."""
    place = (job.batch_id - 1, job.states, job.publication, job.routing, grid_us)
    write_state_file(file, handed_over(Stood("q", job.plan, *place)))


def begun_job(text: str, file: Path, folder: Path, buckets: int) -> DrivenJob:
    """A job with a new checkpoint that begins with the state in a file."""
    plan = plan_in_buckets(text)
    checkpoint = QueryCheckpoint(Storage(folder), "q")
    begin_checkpoint(checkpoint, fitted(read_state_file(file), plan), buckets)
    job = DrivenJob(plan, folder / "q" / "publish", bucket_count(plan, buckets))
    return taken_up(job, checkpoint)


def taken_up(job: DrivenJob, checkpoint: QueryCheckpoint) -> DrivenJob:
    """The job as a driver takes it up that knows the checkpoint only."""
    begins = checkpoint.begins
    assert begins is not None
    job.restart()
    for step in job.steps:
        step.begins = begins.uri
    job.publication = Publication(job.plan, checkpoint.publish, read_beginning(begins, PUBLICATION))
    return job
