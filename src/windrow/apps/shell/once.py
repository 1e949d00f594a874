"""One answer to a query over files: they are read to their end in a session of its own.

So the queries that run are left alone, and the answer is that of `windrow run`.
"""

from __future__ import annotations

from windrow.apps.shell.workbench import Workbench
from windrow.apps.terminal.screen import ProgressLine, Screen
from windrow.embedded.job import declare_functions, declare_stream, declare_tables, declare_views
from windrow.embedded.outlet import Outlet, standings
from windrow.embedded.session import EmbeddedSession
from windrow.interruption import Interruption
from windrow.jobs.job import JobQuery
from windrow.jobs.watcher import Standing
from windrow.memory_size import DEFAULT_MEMORY

__all__ = ["answer_once"]


def answer_once(screen: Screen, bench: Workbench, query: JobQuery) -> Standing:
    """How the query stands when all rows of its streams' files are read, or at Ctrl-C."""
    settings = bench.job.settings
    session = EmbeddedSession(
        settings.memory or DEFAULT_MEMORY, settings.clock or "complete", settings.time_zone
    )
    declare_functions(session, bench.job)
    for name in query.plan.streams:
        declare_stream(session, bench.job.catalog[name])
    declare_tables(session, bench.job.tables.values())
    declare_views(session, bench.job, query.plan.streams)
    outlet = session.outlet_for(query, lambda *_: None)
    try:
        with screen.progress("Reading files") as progress, Interruption() as interruption:
            if _read(bench, session, outlet, progress, interruption):
                session.finish()
    except KeyboardInterrupt:
        screen.note("Interrupted: this is the answer for the rows read so far.")
    outlet.drain()
    (standing,) = standings(session, [outlet])
    session.stop()
    return standing


def _read(
    bench: Workbench,
    session: EmbeddedSession,
    outlet: Outlet,
    progress: ProgressLine,
    interruption: Interruption,
) -> bool:
    rows = 0
    for files in bench.files_of(outlet.query.plan.streams):
        while not interruption.came and (read := files.next_batch()) is not None:
            session.push(*read)
            outlet.drain()
            rows += read[1].num_rows
            progress.show(f"{rows:,} rows", files.fraction)
    return not interruption.came
