"""What `windrow state` does with checkpoints on Spark."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from windrow.carryover.state_file import read_state_file
from windrow.errors import BindingError
from windrow.plan.relations.on_spark import plan_on_spark
from windrow.plan.user_functions import known_functions
from windrow.spark.driver.carried_queries import begin_from, export_query, planned_again
from windrow.spark.settings import local_session
from windrow.sql import parse_query
from windrow.storage import Storage

if TYPE_CHECKING:
    from windrow.jobs.job import Job
    from windrow.plan.relations.tree_plan import RunnablePlan

__all__ = ["export_state", "import_state"]


def export_state(checkpoint: str, query: str, file: Path, job: Job | None) -> None:
    """Writes the state of a query into a file; job: where its plan calls functions of one."""
    root = Storage(checkpoint, make=False)
    zone = "UTC" if job is None else job.settings.time_zone
    spark = local_session()
    try:
        with known_functions({} if job is None else job.functions):
            export_query(spark, root, query, file, zone)
    finally:
        spark.stop()


def import_state(
    checkpoint: str,
    file: Path,
    query: str,
    buckets: int | None,
    job: Job | None,
    *,
    positions: bool = True,
) -> str:
    """Begins a checkpoint with the state in a file; the name of the query there.

    positions: whether its sources go on where they stood.
    """
    with known_functions({} if job is None else job.functions):
        carried = read_state_file(file)
        if not positions:
            carried = replace(carried, positions=None)
        name = query or carried.name
        plan = (
            planned_again(carried.plan, carried.time_zone) if job is None else _planned(job, name)
        )
        begin_from(carried, Storage(checkpoint), name, plan, buckets or os.cpu_count() or 1)
    return name


def _planned(job: Job, name: str) -> RunnablePlan:
    """The query of that name in a job, as Spark runs it."""
    found = job.queries.get(name)
    if found is None:
        known = ", ".join(job.queries) or "none"
        raise BindingError("WB455", f"the job has no query {name!r}", hint=f"it has: {known}")
    return plan_on_spark(parse_query(found.text), job.catalog, "auto", "auto")
