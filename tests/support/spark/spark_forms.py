"""The forms of query on a real Spark: which run together, and their rows as files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
from pyspark.sql import SparkSession

import windrow
from support.query_forms import FORMS, PUSHES
from support.runners import StreamModel
from support.spark.stream_files import Files
from support.streams import STREAMS, batch_of, plan_of
from windrow.plan.model import QueryPlan
from windrow.spark.driver.query import SparkQuery
from windrow.spark.driver.session import SparkWindrowSession
from windrow.spark.shuffle.carrier import SharedPartitioning, shared_partitioning

__all__ = ["by_operator", "declared", "finished_forms", "forms_by_operator"]


@contextmanager
def finished_forms(
    spark: SparkSession, names: list[str], folder: Path
) -> Iterator[tuple[SparkWindrowSession, dict[str, SparkQuery]]]:
    """A session that knows all forms and has run these, in one operator, to the end."""
    session = windrow.connect(spark, checkpoint=folder / "checkpoint")
    declared(session, Files(spark, folder / "in"))
    for name, form in FORMS.items():
        session.query(form.text, name=name)
    try:
        queries = session.start(dict.fromkeys(names, "memory"))
        assert len({query.run for query in queries.values()}) == 1
        session.finish()
        yield session, queries
    finally:
        session.stop()


def declared(session: SparkWindrowSession, files: Files) -> None:
    """Writes the rows of all streams, and declares the streams on them."""
    for name, schema in STREAMS.items():
        for rows in _files_of(name):
            files.put(name, rows)
        columns = ", ".join(f"{column.name} {column.type}" for column in schema.columns)
        lateness = f"{schema.lateness_us} microseconds"
        session.stream(name, files.stream(name, columns=columns), time="ts", lateness=lateness)


def forms_by_operator() -> list[list[str]]:
    """The forms without a gap, those together that can share an operator, and each other one."""
    return by_operator(
        {name: plan_of(form.text) for name, form in FORMS.items() if "spark" not in form.gaps}
    )


def by_operator(plans: Mapping[str, QueryPlan]) -> list[list[str]]:
    """The names of the plans, those together that can share an operator, and each other one."""
    partitionings = {name: shared_partitioning(plan) for name, plan in plans.items()}
    alone = [[name] for name, found in partitionings.items() if isinstance(found, str)]
    shared = [
        (found, [name])
        for name, found in partitionings.items()
        if isinstance(found, SharedPartitioning)
    ]
    # Those that may go anywhere fit with any others.
    shared.sort(key=lambda each: not each[0].keys)
    groups: list[tuple[SharedPartitioning, list[str]]] = []
    for own, names in shared:
        for place, (theirs, others) in enumerate(groups):
            if both := theirs.shared_with(own):
                groups[place] = (both, others + names)
                break
        else:
            groups.append((own, names))
    return [*(names for _, names in groups), *alone]


def _files_of(name: str) -> Iterator[pa.Table]:
    """The rows of a stream in as few files, each a batch, as leave the same rows late.

    On Spark a row is late by the rows of the batches before its own.
    """
    model = StreamModel(STREAMS[name])
    before_us, gathered = model.through, []
    for push in PUSHES:
        if push.stream != name:
            continue
        through_us = model.through
        gathered.append(batch_of(name, push.rows))
        model.push(gathered[-1])
        late = model.late[-1].column("ts").cast(pa.int64()).to_pylist()
        if any(time_us > before_us for time_us in late):
            yield pa.Table.from_batches(gathered[:-1])
            before_us, gathered = through_us, gathered[-1:]
    yield pa.Table.from_batches(gathered)
