"""What each statement of WQL does in a shell."""

from __future__ import annotations

import re

import pyarrow.compute as pc

from windrow.apps.shell.desk import Desk
from windrow.apps.shell.once import answer_once
from windrow.apps.shell.past import readable_past
from windrow.apps.shell.shown import show_done, show_rows, show_text
from windrow.apps.shell.waiting import wait_until_read
from windrow.apps.terminal.board import shown_clock
from windrow.interruption import Interruption
from windrow.jobs.job import with_statement
from windrow.jobs.watcher import Standing
from windrow.memory_size import show_memory
from windrow.plan.explain_any import explain_any
from windrow.plan.history_refusals import reads_history
from windrow.sql import parse_statement
from windrow.sql.statements import (
    CreateAlert,
    CreateFunction,
    CreateHistory,
    CreateQuery,
    CreateStream,
    CreateTable,
    CreateView,
    Explain,
    QueryText,
    Select,
    SetOption,
    Statement,
)

__all__ = ["run_parsed", "run_statement", "show_alerts"]

_SHOW_ALERTS = re.compile(r"\s*SHOW\s+ALERTS\s*;?\s*", re.IGNORECASE)


def run_statement(desk: Desk, text: str) -> None:
    """Does what the text of one statement says."""
    if _SHOW_ALERTS.fullmatch(text):
        show_alerts(desk)
        return
    run_parsed(desk, parse_statement(text))


def run_parsed(desk: Desk, statement: Statement) -> None:
    """Does what one statement says; Ctrl-C takes effect when the session is whole again."""
    if isinstance(statement, Explain):
        _explain(desk, statement)
    elif isinstance(statement, Select) and reads_history(statement):
        _ask(desk, statement)
    elif isinstance(statement, QueryText):
        _select(desk, statement)
    else:
        with Interruption():
            desk.bench.declare(statement)
        _tell(desk, statement)


def show_alerts(desk: Desk) -> None:
    """What is pending or raised."""
    with desk.bench.lock:
        table = desk.bench.session.alerts()
    show_rows(desk.screen, "alert", table)


def _tell(desk: Desk, statement: Statement) -> None:
    """What a declaration has done, and what can be done next."""
    if isinstance(statement, CreateStream):
        source = desk.bench.job.streams[statement.name].source
        more = "" if source else f"; \\push {statement.name} FILE adds rows"
        _done(desk, "stream", statement.name, f"stream {statement.name} is declared{more}")
    elif isinstance(statement, CreateTable):
        rows = desk.bench.session.tables().filter(pc.field("table") == statement.name)
        count = rows["rows"][0].as_py()
        text = f"table {statement.name} is declared, and has {count:,} rows"
        _done(desk, "table", statement.name, text)
    elif isinstance(statement, CreateHistory):
        _done(desk, "history", statement.stream, f"the history of {statement.stream} is kept")
    elif isinstance(statement, CreateQuery):
        hint = f"\\watch {statement.name} shows it"
        _done(desk, "query", statement.name, f"query {statement.name} runs; {hint}")
        for note in desk.bench.notes:
            desk.screen.note(note)
        desk.bench.notes.clear()
    elif isinstance(statement, CreateAlert):
        text = f"alert {statement.name} watches; \\alerts shows what is pending or raised"
        _done(desk, "alert", statement.name, text)
    elif isinstance(statement, CreateView):
        hint = "it runs while a query reads it"
        _done(desk, "view", statement.name, f"view {statement.name} is declared; {hint}")
    elif isinstance(statement, CreateFunction):
        made = desk.bench.job.functions[statement.name.lower()]
        _done(desk, "function", made.name, f"function {made.signature} can be called")
    elif isinstance(statement, SetOption):
        _tell_of_setting(desk, statement)


def _done(desk: Desk, kind: str, name: str, text: str) -> None:
    show_done(desk.screen, text, kind=kind, name=name)


def _tell_of_setting(desk: Desk, statement: SetOption) -> None:
    name = statement.name.lower()
    memory = desk.bench.job.settings.memory
    if name == "memory" and memory is not None:
        text = f"memory is {show_memory(memory)}"
        _done(desk, "setting", name, text)
    elif name == "time_zone":
        zone = desk.bench.job.settings.time_zone
        _done(desk, "setting", name, f"times are meant in {zone}; the session has restarted")
    else:
        _done(desk, "setting", name, f"{name} is set, for jobs on Spark; it is ignored here")


def _explain(desk: Desk, statement: Explain) -> None:
    plan = with_statement(desk.bench.job, statement).explained[-1]
    show_text(desk.screen, "plan", explain_any(plan))


def _ask(desk: Desk, select: Select) -> None:
    """A query about the past: one answer."""
    with_statement(desk.bench.job, select)  # refused here, its places are those of the text
    wait_until_read(desk.screen, desk.bench)
    with desk.bench.lock, Interruption():
        answer = desk.bench.session.ask(select.own_text)
    if desk.screen.machine:
        show_rows(desk.screen, "answer", answer)
    else:
        shown, last_line = readable_past(answer)
        show_rows(desk.screen, "answer", shown, last_line)


def _select(desk: Desk, query_text: QueryText) -> None:
    """A query: over files one answer at their end, over flowing rows what it shows from now on."""
    bench = desk.bench
    longer = with_statement(bench.job, query_text)
    (name,) = {*longer.queries} - {*bench.job.queries}
    query = longer.queries[name]
    if bench.has_files(query.plan.streams):
        _show_result(desk, answer_once(desk.screen, bench, query))
        return
    with Interruption():
        bench.declare(query_text)
    show_done(
        desk.screen,
        f"{name} runs, and sees the rows that arrive from now on",
        kind="query",
        name=name,
    )
    if not bench.has_flowed:
        desk.screen.note(f"it waits for rows: \\push {query.plan.streams[0]} FILE")
    elif desk.is_interactive:
        desk.watch([name])
        desk.screen.note(f"{name} keeps running: \\watch {name} shows it, \\stop {name} ends it")
    else:
        _show_result(desk, *bench.standings([name]))


def _show_result(desk: Desk, standing: Standing) -> None:
    facts = [shown_clock(standing.clock_us)]
    if standing.level and standing.level != "A":
        facts.append(f"level {standing.level}")
    last_line = "".join(f", {fact}" for fact in facts if fact)
    show_rows(desk.screen, "result", standing.result, last_line, query=standing.query)
