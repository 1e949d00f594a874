r"""The \commands of a shell: what each is given, what it does, and one line of help."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from windrow.apps.shell.descriptions import describe, describe_all
from windrow.apps.shell.desk import Desk
from windrow.apps.shell.flows import flow, flow_of_file
from windrow.apps.shell.pace import pace_of
from windrow.apps.shell.script import run_script
from windrow.apps.shell.shown import show_done, show_newest, show_rows, show_text
from windrow.apps.shell.smart_building import begin_building
from windrow.apps.shell.statements import show_alerts
from windrow.apps.shell.waiting import wait_until_read
from windrow.connectors.files.connector import FileSource
from windrow.errors import BindingError
from windrow.plan.nearest import nearest

__all__ = ["COMMANDS", "Command", "run_command"]

_FORMATS = {".parquet": "parquet", ".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl"}


@dataclass(frozen=True)
class Command:
    """given: its arguments as help shows them; least and most: how many there may be."""

    given: str
    text: str
    run: Callable[..., None]
    least: int = 0
    most: int = 0


def run_command(desk: Desk, line: str) -> None:
    r"""Does what a line such as `\watch alarms` says."""
    name, *arguments = _words(line)
    command = COMMANDS.get(_ALSO.get(name, name))
    if command is None:
        guess = nearest(name, COMMANDS)
        hint = f"did you mean {guess}?" if guess else "\\help lists all commands"
        raise BindingError("WB520", f"there is no command {name}", hint=hint)
    if not command.least <= len(arguments) <= command.most:
        usage = f"{name} {command.given}".rstrip()
        message = f"{name} got {len(arguments)} words"
        raise BindingError("WB521", message, hint=f"write {usage}")
    command.run(desk, *arguments)


def _words(line: str) -> list[str]:
    # A name may be typed with a semicolon, as a statement ends with one.
    line = line.strip().rstrip(";").removeprefix("\\")
    try:
        name, *arguments = shlex.split(line) or [""]
    except ValueError as problem:
        raise BindingError(
            "WB521", f"the line cannot be parsed: {problem}", hint="close the quotes"
        ) from None
    return [f"\\{name}", *arguments]


def _help(desk: Desk) -> None:
    given = [f"{name} {command.given}".rstrip() for name, command in COMMANDS.items()]
    texts = [command.text for command in COMMANDS.values()]
    desk.screen.line("Statements end with a semicolon:", "bold")
    desk.screen.line("  CREATE STREAM, CREATE QUERY, CREATE ALERT, CREATE VIEW, CREATE HISTORY,")
    desk.screen.line("  CREATE FUNCTION, SELECT, EXPLAIN SELECT, SET, SHOW ALERTS")
    desk.screen.line("Commands go on a line of their own:", "bold")
    table = pa.table({"command": given, "does": texts})
    if desk.screen.machine:
        show_rows(desk.screen, "command", table)
        return
    width = max(map(len, given))
    for usage, text in zip(given, texts, strict=True):
        desk.screen.line(f"  {usage:<{width}}  {text}")


def _describe(desk: Desk, name: str | None = None) -> None:
    if name is None:
        describe_all(desk)
    else:
        describe(desk, name)


def _watch(desk: Desk, *names: str) -> None:
    chosen = list(names) or list(desk.bench.outlets)
    for name in chosen:
        desk.bench.outlet(name)
    if not chosen:
        desk.screen.note("No query runs.")
    elif desk.is_interactive and desk.screen.is_live:
        desk.watch(chosen)
    else:
        for standing in desk.bench.standings(chosen):
            desk.screen.line(f"{standing.query}:", "bold")
            show_rows(desk.screen, "result", standing.result, query=standing.query)


def _answers(desk: Desk, name: str) -> None:
    outlet = desk.bench.outlet(name)
    with desk.bench.lock:
        kept = desk.bench.latest.get(name, outlet.running.answers())
    show_newest(desk.screen, "answer", kept, outlet.answers, query=name)


def _explain(desk: Desk, name: str) -> None:
    outlet = desk.bench.outlet(name)
    with desk.bench.lock:
        text = outlet.running.explain()
    show_text(desk.screen, "plan", text, name)


def _stop(desk: Desk, name: str) -> None:
    desk.bench.stop(name)
    show_done(desk.screen, f"query {name} has ended", kind="query", name=name)


def _load(desk: Desk, path: str) -> None:
    run_script(desk, Path(path))


def _push(desk: Desk, stream: str, path: str, pace: str = "") -> None:
    """All at once: waits until it is read; at a pace: continues in the background."""
    bench = desk.bench
    source, at = _file(path), pace_of(pace)
    schema = bench.job.catalog.stream(stream)
    if not at.is_at_once:
        flow(bench, path, flow_of_file(schema, source, at))
        text = f"{path} is replayed into {schema.name} at {pace}"
        show_done(desk.screen, text, kind="flow", name=schema.name)
        return
    bench.push(schema.name, source)
    if wait_until_read(desk.screen, bench):
        rows = bench.rows
        show_done(desk.screen, f"{rows:,} rows so far", kind="rows", rows=rows)


def _file(path: str) -> FileSource:
    folder = next((each for each in Path(path).glob("*.*")), None) if Path(path).is_dir() else None
    kind = _FORMATS.get((folder or Path(path)).suffix.lower())
    if kind is None:
        raise BindingError(
            "WB524",
            f"the name {path!r} does not tell the file's format",
            hint=f"use one of {', '.join(f'*{each}' for each in _FORMATS)}",
        )
    return FileSource(kind, path)


def _ledger(desk: Desk) -> None:
    show_rows(desk.screen, "ledger", desk.bench.session.ledger())


def _windows(desk: Desk) -> None:
    with desk.bench.lock:
        table = desk.bench.session.windows()
    if not desk.screen.machine:
        table = _readable(table)
    show_rows(desk.screen, "window", table)


def _readable(windows: pa.Table) -> pa.Table:
    """Without what only the governor needs, and with the queries in one text."""
    queries = [", ".join(each) for each in windows.column("queries").to_pylist()]
    rates = [
        None if rate is None else round(rate, 1) for rate in windows.column("rate").to_pylist()
    ]
    shown = windows.select(["stream", "wanted", "width", "rows", "bytes", "level"])
    return shown.append_column("rate", pa.array(rates)).append_column("queries", pa.array(queries))


def _late(desk: Desk, stream: str) -> None:
    name = desk.bench.job.catalog.stream(stream).name
    with desk.bench.lock:
        table = desk.bench.session.late(name)
    show_newest(desk.screen, "late", table, table.num_rows, stream=name)


def _bad(desk: Desk, stream: str) -> None:
    name = desk.bench.job.catalog.stream(stream).name
    with desk.bench.lock:
        table = desk.bench.session.bad_rows(name)
    show_newest(desk.screen, "bad", table, table.num_rows, stream=name)


def _again(desk: Desk) -> None:
    if not desk.bench.read_again():
        desk.screen.note("Live rows cannot be read again.")
    elif wait_until_read(desk.screen, desk.bench):
        rows = desk.bench.rows
        show_done(desk.screen, f"{rows:,} rows were read again", kind="rows", rows=rows)


def _demo(desk: Desk) -> None:
    begin_building(desk)


def _leave(desk: Desk) -> None:
    desk.is_left = True


COMMANDS = {
    "\\d": Command(
        "[NAME]", "overview; columns of a stream or view; query's plan", _describe, 0, 1
    ),
    "\\watch": Command(
        "[QUERY ...]", "results as they change, until a key is pressed", _watch, 0, 99
    ),
    "\\answers": Command("QUERY", "its newest answers, each with its instant", _answers, 1, 1),
    "\\explain": Command("QUERY", "how it runs: windows, memory, algorithm", _explain, 1, 1),
    "\\stop": Command("QUERY", "end it", _stop, 1, 1),
    "\\push": Command(
        "STREAM FILE [PACE]",
        "rows of a file: at once, 100/s, or 60x event time",
        _push,
        2,
        3,
    ),
    "\\load": Command("SCRIPT", "run the statements of a script", _load, 1, 1),
    "\\again": Command("", "read all files again from their start", _again),
    "\\windows": Command("", "windows: wanted and real width, rows, bytes, level", _windows),
    "\\alerts": Command("", "groups of alerts that are pending or raised", show_alerts),
    "\\ledger": Command("", "what happened to every row", _ledger),
    "\\late": Command("STREAM", "late rows", _late, 1, 1),
    "\\bad": Command("STREAM", "rows with a bad value or time", _bad, 1, 1),
    "\\demo": Command("", "a smart building with fires, to try things on", _demo),
    "\\help": Command("", "this", _help),
    "\\q": Command("", "leave; so does Ctrl-D", _leave),
}
_ALSO = {"\\?": "\\help", "\\quit": "\\q", "\\exit": "\\q"}
