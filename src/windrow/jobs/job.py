"""A script as a job: every name looked up, every query bound, before anything runs."""

from __future__ import annotations

from dataclasses import dataclass, field

from windrow.errors import BindingError, Place, UnsupportedError, WindrowError
from windrow.jobs.settings import JobSettings
from windrow.jobs.sinks import JobSink, sink_of
from windrow.jobs.sources import FileSource, source_of
from windrow.plan.binder import bind
from windrow.plan.catalog import Catalog
from windrow.plan.model import QueryPlan
from windrow.schema import Column, StreamSchema, type_named
from windrow.sql import parse_script
from windrow.sql.statements import (
    CreateHistory,
    CreateQuery,
    CreateStream,
    Endpoint,
    Explain,
    Select,
    SetOption,
    Statement,
)

__all__ = ["Job", "JobQuery", "JobStream", "job_of"]


@dataclass(frozen=True)
class JobStream:
    """A stream and where its rows come from; None where the script does not say."""

    schema: StreamSchema
    source: FileSource | None
    place: Place | None = field(default=None, compare=False)


@dataclass(frozen=True)
class JobQuery:
    """A query, as written and bound, and where its answers go."""

    name: str
    text: str
    plan: QueryPlan
    sink: JobSink
    place: Place | None = field(default=None, compare=False)


@dataclass
class Job:
    """What a script says; `explained` are the plans of its EXPLAIN statements."""

    settings: JobSettings = field(default_factory=JobSettings)
    catalog: Catalog = field(default_factory=Catalog)
    streams: dict[str, JobStream] = field(default_factory=dict)
    queries: dict[str, JobQuery] = field(default_factory=dict)
    explained: list[QueryPlan] = field(default_factory=list)

    def sources(self) -> dict[str, tuple[StreamSchema, FileSource]]:
        """The streams that queries read, each with its source; refused when one has none."""
        read = {name for query in self.queries.values() for name in query.plan.streams}
        found = {}
        for name in (name for name in self.streams if name in read):
            stream = self.streams[name]
            if stream.source is None:
                raise BindingError(
                    "WB515",
                    f"the script does not say where the rows of stream {name!r} come from",
                    hint="end CREATE STREAM with FROM parquet('...'), csv('...') or jsonl('...')",
                    place=stream.place,
                )
            found[name] = (stream.schema, stream.source)
        return found

    def check_runnable(self) -> None:
        """Refuses a script in which there is nothing to run, or nothing to run it on."""
        if not self.queries and not self.explained:
            raise BindingError(
                "WB516",
                "the script has no query",
                hint="add CREATE QUERY name AS SELECT ... or EXPLAIN SELECT ...",
            )
        self.sources()


def job_of(text: str, known: Job | None = None) -> Job:
    """The job that a script describes; it may read the streams of a job that is known."""
    job = Job() if known is None else Job(catalog=known.catalog, streams=dict(known.streams))
    for statement in parse_script(text):
        _add(job, statement)
    return job


def _add(job: Job, statement: Statement) -> None:
    if isinstance(statement, CreateStream):
        _add_stream(job, statement)
    elif isinstance(statement, CreateQuery):
        _add_query(job, statement.name, statement.select, statement.sink, statement.place)
    elif isinstance(statement, Select):
        name = f"query{len(job.queries) + 1}"
        _add_query(job, name, statement, None, statement.places.get("SELECT"))
    elif isinstance(statement, Explain):
        job.explained.append(bind(statement.select, job.catalog))
    elif isinstance(statement, SetOption):
        job.settings = job.settings.changed(statement)
    else:
        raise _refused(statement)


def _add_stream(job: Job, statement: CreateStream) -> None:
    columns = tuple(Column(name, type_named(kind)) for name, kind in statement.columns)
    try:
        schema = StreamSchema(statement.name, columns, statement.time, statement.lateness_us)
        job.catalog = job.catalog.with_stream(schema)
    except WindrowError as error:
        raise _placed(error, statement.place) from None
    source = None if statement.source is None else source_of(statement.source)
    job.streams[schema.name] = JobStream(schema, source, statement.place)


def _add_query(
    job: Job, name: str, select: Select, sink: Endpoint | None, place: Place | None
) -> None:
    if name in job.queries:
        raise BindingError("WB517", f"there is a query named {name!r} already", place=place)
    plan = bind(select, job.catalog)
    job.queries[name] = JobQuery(name, select.own_text, plan, sink_of(sink), place)


def _placed(error: WindrowError, place: Place | None) -> WindrowError:
    """The same error, pointing at the statement where it has no place of its own."""
    return type(error)(error.code, error.message, hint=error.hint, place=error.place or place)


def _refused(statement: CreateHistory) -> UnsupportedError:
    return UnsupportedError(
        "WU501",
        "CREATE HISTORY is not run yet",
        hint="leave the statement out",
        place=statement.place,
    )
