"""All that is wrong with a script, and not only what comes first."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from windrow.errors import WindrowError
from windrow.jobs.functions import NO_MODULES, Modules
from windrow.jobs.job import Job, with_statement
from windrow.sql import parse_all
from windrow.sql.statements import (
    CreateAlert,
    CreateHistory,
    CreateQuery,
    CreateStream,
    CreateTable,
    CreateView,
    Explain,
    QueryText,
    Select,
    Statement,
)
from windrow.sql.walks import queries_in, sources_of

__all__ = ["checked_job", "problems_of"]


def checked_job(
    text: str, *, needs_sources: bool = True, modules: Modules = NO_MODULES
) -> tuple[Job, list[WindrowError]]:
    """The job that a script describes, as far as it can be understood, and what is wrong with it.

    A statement about a stream whose own declaration is wrong is not judged. needs_sources: streams
    without a source are a problem.
    """
    job = Job(modules=modules)
    statements, unread, problems = parse_all(text)
    lost = set(unread)
    for statement in statements:
        if not lost.isdisjoint(_streams_of(statement)):
            continue
        try:
            job = with_statement(job, statement)
        except WindrowError as problem:
            problems.append(problem)
            if isinstance(statement, CreateStream | CreateTable | CreateView):
                # The name of a stream that a view has, too, still means the stream.
                lost |= {statement.name} - {*job.catalog}
            elif isinstance(statement, CreateHistory):
                lost.add(statement.stream)
    if not problems:
        sources = job.source_checks() if needs_sources else []
        problems += problems_of([job.check_not_empty, *sources])
    problems.sort(key=_place)
    return job, problems


def problems_of(looks: Iterable[Callable[[], object]]) -> list[WindrowError]:
    """What each look is refused with, if it is."""
    found: list[WindrowError] = []
    for look in looks:
        try:
            look()
        except WindrowError as problem:
            found.append(problem)
    return found


def _streams_of(statement: Statement) -> set[str]:
    if isinstance(statement, CreateHistory):
        return {statement.stream}
    if isinstance(statement, CreateView):
        return _read_by(statement.query)
    query = (
        statement.select
        if isinstance(statement, CreateQuery | CreateAlert | Explain)
        else statement
    )
    return _read_by(query) if isinstance(query, QueryText) else set()


def _read_by(query: QueryText) -> set[str]:
    own = {each.stream for each in sources_of(query)} if isinstance(query, Select) else set()
    return own.union(*(_read_by(each) for each in queries_in(query)))


def _place(problem: WindrowError) -> tuple[int, int]:
    place = problem.place
    return (place.line, place.column) if place is not None else (0, 0)
