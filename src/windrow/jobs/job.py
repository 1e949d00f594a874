"""A script as a job: every name looked up, every query bound, before anything runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any

from windrow.connectors.contract import Sink, Source, question_not_written
from windrow.connectors.dead_letters.places import letters_place
from windrow.connectors.registry import sink_named, source_named
from windrow.deferred import deferred
from windrow.errors import BindingError, Place, UnsupportedError, WindrowError
from windrow.jobs.alerts import alert_on_spark, alert_sink
from windrow.jobs.functions import NO_MODULES, Modules, function_of
from windrow.jobs.settings import JobSettings
from windrow.plan.catalog import Catalog, View
from windrow.plan.history_binder import bind_history
from windrow.plan.history_plan import HistoryPlan
from windrow.plan.history_refusals import reads_history
from windrow.plan.history_schema import HistorySchema, declared_history
from windrow.plan.refusals import one_select
from windrow.plan.relations.planner import plan_query, plan_view
from windrow.plan.user_functions import GivenFunction, known_functions
from windrow.schema import Column, StreamSchema, type_named
from windrow.sql import parse_script
from windrow.sql.statements import (
    CreateAlert,
    CreateFunction,
    CreateHistory,
    CreateQuery,
    CreateStream,
    CreateTable,
    CreateView,
    Creation,
    Endpoint,
    Explain,
    QueryText,
    Select,
    SetOption,
    Statement,
    ValuesList,
)
from windrow.table_schema import TableSchema, key_of

if TYPE_CHECKING:
    from windrow.alerts.bound_alert import BoundAlert, bind_alert
    from windrow.history.operator import spec_of
    from windrow.plan.relations.tree_plan import RunnablePlan, TreePlan
    from windrow.sql.query_printer import print_query
else:
    BoundAlert = deferred("windrow.alerts.bound_alert", "BoundAlert")
    bind_alert = deferred("windrow.alerts.bound_alert", "bind_alert")
    spec_of = deferred("windrow.history.operator", "spec_of")
    TreePlan = deferred("windrow.plan.relations.tree_plan", "TreePlan")
    print_query = deferred("windrow.sql.query_printer", "print_query")

__all__ = [
    "Job",
    "JobHistory",
    "JobQuery",
    "JobQuestion",
    "JobStream",
    "JobTable",
    "JobView",
    "job_of",
    "no_query_replaced",
    "with_statement",
]


@dataclass(frozen=True)
class JobStream:
    """A stream and where its rows come from; None where the script does not say."""

    schema: StreamSchema
    source: Source | None
    place: Place | None = field(default=None, compare=False)


@dataclass(frozen=True)
class JobTable:
    """A table and where its rows come from; None where the script does not say."""

    schema: TableSchema
    source: Source | None
    place: Place | None = field(default=None, compare=False)


@dataclass(frozen=True)
class JobHistory:
    """The history of a stream."""

    schema: HistorySchema
    place: Place | None = field(default=None, compare=False)


@dataclass(frozen=True)
class JobView:
    """A query under a name that other queries read, as written and bound."""

    name: str
    text: str
    plan: TreePlan
    place: Place | None = field(default=None, compare=False)


@dataclass(frozen=True)
class JobQuestion:
    """A query about the past, asked when all rows have been read."""

    name: str
    text: str
    plan: HistoryPlan
    place: Place | None = field(default=None, compare=False)


@dataclass(frozen=True)
class JobQuery:
    """A query, as written and bound, and where its answers go."""

    name: str
    text: str
    plan: RunnablePlan | HistoryPlan
    sink: Sink
    place: Place | None = field(default=None, compare=False)
    mode: Creation = "create"
    alert: BoundAlert | None = None  # of which it has the rows

    def check_begins(self) -> None:
        """Refuses to replace what nobody has begun."""
        if self.mode == "replace":
            raise no_query_replaced(self.name, self.place)


def no_query_replaced(name: str, place: Place | None = None) -> BindingError:
    """The refusal to change a query that there is not."""
    return BindingError(
        "WB530",
        f"there is no query {name!r} to be replaced",
        hint=f"CREATE OR REPLACE QUERY {name} begins it where there is none",
        place=place,
    )


@dataclass
class Job:
    """What a script says; `explained` are the plans of its EXPLAIN statements."""

    settings: JobSettings = field(default_factory=JobSettings)
    catalog: Catalog = field(default_factory=Catalog)
    streams: dict[str, JobStream] = field(default_factory=dict)
    histories: dict[str, JobHistory] = field(default_factory=dict)
    views: dict[str, JobView] = field(default_factory=dict)
    queries: dict[str, JobQuery] = field(default_factory=dict)
    questions: dict[str, JobQuestion] = field(default_factory=dict)
    explained: list[RunnablePlan | HistoryPlan] = field(default_factory=list)
    tables: dict[str, JobTable] = field(default_factory=dict)
    functions: dict[str, GivenFunction] = field(default_factory=dict)
    modules: Modules = field(default_factory=dict)  # of Python, whose functions the script may name

    def sources(self) -> dict[str, tuple[StreamSchema, Source]]:
        """The streams that queries read, each with its source; refused when one has none."""
        return {name: (self.streams[name].schema, self._source(name)) for name in self._read()}

    def source_checks(self) -> list[Callable[[], object]]:
        """For each stream that queries read a look whether it has a source."""
        tables = [partial(self._table_source, name) for name in self._tables_read()]
        return [*(partial(self._source, name) for name in self._read()), *tables]

    def table_sources(self) -> dict[str, tuple[TableSchema, Source]]:
        """The tables that queries read, each with its source; refused when one has none."""
        return {
            name: (self.tables[name].schema, self._table_source(name))
            for name in self._tables_read()
        }

    def _tables_read(self) -> list[str]:
        plans = [query.plan for query in self.queries.values()]
        trees = [plan for plan in plans if isinstance(plan, TreePlan)]
        read = {name for plan in trees for name in plan.tables}
        return [name for name in self.tables if name in read]

    def _table_source(self, name: str) -> Source:
        return _source_of(self.tables[name], "table", name)

    def views_of(self, streams: Iterable[str]) -> list[JobView]:
        """The views that read no other streams than these, in the order of the script."""
        return [view for view in self.views.values() if {*view.plan.streams} <= {*streams}]

    def _read(self) -> list[str]:
        plans: list[RunnablePlan | HistoryPlan] = [query.plan for query in self.queries.values()]
        plans += [question.plan for question in self.questions.values()]
        read = {name for plan in plans for name in plan.streams}
        return [name for name in self.streams if name in read]

    def _source(self, name: str) -> Source:
        return _source_of(self.streams[name], "stream", name)

    def check_runnable(self) -> None:
        """Refuses a script in which there is nothing to run, or nothing to run it on."""
        self.check_not_empty()
        self.sources()
        self.table_sources()

    def check_not_empty(self) -> None:
        """Refuses a script in which there is nothing to run or to explain."""
        if not self.queries and not self.questions and not self.explained:
            raise BindingError(
                "WB516",
                "the script has no query",
                hint="add CREATE QUERY name AS SELECT ... or EXPLAIN SELECT ...",
            )

    def check_on_spark(self) -> None:
        """Refuses what runs in this process only."""
        for stream in self.streams.values():
            if stream.schema.bad_rows_into is not None:
                raise UnsupportedError(
                    "WU506",
                    f"bad rows of stream {stream.schema.name!r} are not written on Spark yet",
                    hint="omit INTO: they are counted, and some shown by bad_rows(); or run "
                    "the script in this process, with --embedded",
                    place=stream.place,
                )
        for query in self.queries.values():
            if query.alert is not None:
                raise alert_on_spark(query.name, query.place)
            if isinstance(query.plan, HistoryPlan) and not query.sink.takes_questions:
                raise question_not_written(query.name, query.sink, query.place)
        for query in self.queries.values():
            if not query.plan.streams:
                raise UnsupportedError(
                    "WU231",
                    f"query {query.name!r} reads no stream, so that on Spark nothing would run it",
                    hint="run the script in this process, with --embedded",
                    place=query.place,
                )


def _source_of(declared: JobStream | JobTable, what: str, name: str) -> Source:
    """Where the rows of a stream or table come from."""
    if declared.source is None:
        raise BindingError(
            "WB515",
            f"the script does not say where the rows of {what} {name!r} come from",
            hint=f"end CREATE {what.upper()} with FROM parquet('...'), csv('...') or jsonl('...')",
            place=declared.place,
        )
    return declared.source


def job_of(text: str, known: Job | None = None, modules: Modules = NO_MODULES) -> Job:
    """The job that a script describes; it may read the streams of a job that is known.

    modules: those of Python whose functions it may name.
    """
    job = Job(modules=modules)
    if known is not None:
        job = Job(
            catalog=known.catalog,
            streams=dict(known.streams),
            histories=dict(known.histories),
            views=dict(known.views),
            tables=dict(known.tables),
            functions=dict(known.functions),
            modules=modules,
        )
    for statement in parse_script(text):
        _add(job, statement)
    return job


def with_statement(job: Job, statement: Statement) -> Job:
    """The job and one statement more; the one that was given stays as it is."""
    longer = Job(
        job.settings,
        job.catalog,
        dict(job.streams),
        dict(job.histories),
        dict(job.views),
        dict(job.queries),
        dict(job.questions),
        list(job.explained),
        dict(job.tables),
        dict(job.functions),
        job.modules,
    )
    _add(longer, statement)
    return longer


def _add(job: Job, statement: Statement) -> None:
    with known_functions(job.functions):
        _add_known(job, statement)


def _add_known(job: Job, statement: Statement) -> None:
    if isinstance(statement, CreateQuery):
        place = statement.place
        _add_query(job, statement.name, statement.select, statement.sink, place, statement.mode)
    elif isinstance(statement, QueryText):
        _add_select(job, statement)
    elif isinstance(statement, Explain):
        job.explained.append(_plan_of(job, statement.select, is_question=True))
    elif isinstance(statement, CreateFunction):
        made = function_of(statement, job.functions, job.modules, job.catalog.time_zone)
        job.functions[made.name] = made
    else:
        _ADDING[type(statement)](job, statement)


def _set(job: Job, statement: SetOption) -> None:
    settings = job.settings.changed(statement)
    bound = (job.queries, job.views, job.questions, job.functions)
    if settings.time_zone != job.catalog.time_zone and any(bound):
        raise BindingError(
            "WB746",
            "the time zone is set after queries that mean times in another one",
            hint="write SET time_zone before all queries, views and functions",
            place=statement.place,
        )
    job.settings = settings
    job.catalog = job.catalog.with_time_zone(settings.time_zone)


def _add_stream(job: Job, statement: CreateStream) -> None:
    columns = tuple(Column(name, type_named(kind)) for name, kind in statement.columns)
    try:
        schema = StreamSchema(
            statement.name,
            columns,
            statement.time,
            statement.lateness_us,
            statement.on_bad_row,
            statement.max_ahead,
            letters_place(statement.bad_rows_into),
            statement.options,
        )
        job.catalog = job.catalog.with_stream(schema)
    except WindrowError as error:
        raise _placed(error, statement.place) from None
    source = None if statement.source is None else source_named(statement.source)
    job.streams[schema.name] = JobStream(schema, source, statement.place)


def _add_table(job: Job, statement: CreateTable) -> None:
    columns = tuple(Column(name, type_named(kind)) for name, kind in statement.columns)
    try:
        key = key_of(columns, statement.key)
        schema = TableSchema(statement.name, columns, statement.time, key=key)
        job.catalog = job.catalog.with_table(schema)
    except WindrowError as error:
        raise _placed(error, statement.place) from None
    source = None if statement.source is None else source_named(statement.source)
    job.tables[schema.name] = JobTable(schema, source, statement.place)


def _add_history(job: Job, statement: CreateHistory) -> None:
    stream = job.catalog.stream(statement.stream, statement.place)
    if stream.name in job.histories:
        message = f"stream {stream.name!r} already has a history"
        hint = "declare one history with all measures and keys that you need"
        raise BindingError("WB518", message, hint=hint, place=statement.place)
    levels = [
        (_span(level.grain_us), None if level.retention_us is None else _span(level.retention_us))
        for level in statement.levels
    ]
    try:
        schema = declared_history(stream, statement.measures, statement.group_by, levels)
        spec_of(schema)
    except WindrowError as error:
        raise _placed(error, statement.place) from None
    job.histories[stream.name] = JobHistory(schema, statement.place)


def _span(span_us: int) -> timedelta:
    return timedelta(microseconds=span_us)


def _add_view(job: Job, statement: CreateView) -> None:
    if statement.name in job.queries or statement.name in job.questions:
        message = f"a query named {statement.name!r} exists already"
        raise BindingError("WB517", message, hint="choose another name", place=statement.place)
    text = _text_of(statement.query)
    view = View(statement.name, statement.query, text)
    try:
        catalog = job.catalog.with_view(view)
    except WindrowError as error:
        raise _placed(error, statement.place) from None
    plan = plan_view(view, catalog)
    job.catalog = catalog
    job.views[view.name] = JobView(view.name, text, plan, statement.place)


def _text_of(query: QueryText) -> str:
    """The query as written, without the rest of its script."""
    return print_query(query) if isinstance(query, ValuesList) else query.own_text


def _add_select(job: Job, select: QueryText) -> None:
    """A query or, of HISTORY, a question that is asked once, at the end."""
    taken = {*job.queries, *job.questions}
    name = next(name for number in count(1) if (name := f"query{number}") not in taken)
    place = None if isinstance(select, ValuesList) else select.places.get("SELECT")
    if not isinstance(select, Select) or not reads_history(select):
        _add_query(job, name, select, None, place)
        return
    plan = bind_history(one_select(select), job.catalog, _schemas(job))
    job.questions[name] = JobQuestion(name, select.own_text, plan, place)


def _plan_of(
    job: Job, query: QueryText, *, is_question: bool = False
) -> RunnablePlan | HistoryPlan:
    """The plan of a query; is_question: one of HISTORY without EVERY is asked once."""
    if not isinstance(query, Select) or not reads_history(query):
        return plan_query(query, job.catalog, shares_views=True)
    goes_on = query.every_us is not None or not is_question
    return bind_history(one_select(query), job.catalog, _schemas(job), continuous=goes_on)


def _schemas(job: Job) -> dict[str, HistorySchema]:
    return {name: history.schema for name, history in job.histories.items()}


def _add_query(
    job: Job,
    name: str,
    select: QueryText,
    sink: Endpoint | None,
    place: Place | None,
    mode: Creation = "create",
) -> None:
    kind = "query" if job.catalog.view(name) is None else "view"
    before = job.queries.get(name)
    is_replaced = mode != "create" and before is not None and before.alert is None
    if kind == "view" or name in job.questions or (before is not None and not is_replaced):
        message, hint = f"a {kind} named {name!r} exists already", "choose another name"
        if before is not None and before.alert is None:
            hint += f", or write CREATE OR REPLACE QUERY {name}, which takes its place"
        raise BindingError("WB517", message, hint=hint, place=place)
    plan = _plan_of(job, select)
    chosen = before.sink if before is not None and sink is None else sink_named(sink)
    stays = mode if before is None else before.mode
    job.queries[name] = JobQuery(name, _text_of(select), plan, chosen, place, stays)


def _add_alert(job: Job, statement: CreateAlert) -> None:
    name, place = statement.name, statement.place
    if job.catalog.view(name) is not None or name in job.queries or name in job.questions:
        message = f"a query, view or alert named {name!r} exists already"
        raise BindingError("WB517", message, hint="choose another name", place=place)
    bound = bind_alert(statement, job.catalog)
    options = () if statement.sink is None else statement.sink.options
    says_feed = any(option.lower() == "feed" for option, _ in options)
    sink = alert_sink(sink_named(statement.sink), name, place, says_feed=says_feed)
    job.queries[name] = JobQuery(name, bound.text, bound.plan, sink, place, alert=bound)


def _placed(error: WindrowError, place: Place | None) -> WindrowError:
    """The same error, pointing at the statement where it has no place of its own."""
    return type(error)(error.code, error.message, hint=error.hint, place=error.place or place)


_ADDING: dict[type, Callable[[Job, Any], None]] = {
    CreateAlert: _add_alert,
    CreateHistory: _add_history,
    CreateStream: _add_stream,
    CreateTable: _add_table,
    CreateView: _add_view,
    SetOption: _set,
}
