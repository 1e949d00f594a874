"""`windrow state`: what a query needs to go on elsewhere, in a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from windrow.apps.cli.commands import COMMANDS, command_app, examples
from windrow.apps.cli.options import AsJson, FunctionsFrom
from windrow.apps.cli.outcome import failing_clearly
from windrow.apps.terminal.extras import spark_module
from windrow.apps.terminal.screen import Screen
from windrow.carryover.state_file import manifest_of
from windrow.event_time import START_OF_TIME, show_instant
from windrow.jobs.functions import permitted_modules
from windrow.jobs.job import Job, job_of
from windrow.jobs.script_file import read_script

__all__ = ["app"]

app = command_app(
    help=COMMANDS["state"],
    no_args_is_help=True,
    epilog=examples(
        "windrow state export hot.wstate --checkpoint state --query hot",
        "windrow state show hot.wstate",
        "windrow state import hot.wstate --checkpoint other --buckets 8",
    ),
)

StateFile = Annotated[Path, typer.Argument(metavar="FILE", help="A state file.")]
Checkpoint = Annotated[
    str, typer.Option(metavar="DIR", help="The checkpoint of a job on Spark, a path or an address.")
]


@app.command(
    epilog=examples("windrow state export hot.wstate --checkpoint state --query hot"),
)
def export(
    file: StateFile,
    checkpoint: Checkpoint,
    query: Annotated[str, typer.Option(metavar="NAME", help="The query.")],
    functions_from: FunctionsFrom = None,
    job: Annotated[
        Path | None,
        typer.Option(metavar="SCRIPT", help="The job, where its queries call functions of it."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Write the state of a query of a checkpoint, which must not be running, into a file."""
    screen = Screen(machine=as_json)
    with failing_clearly(screen):
        tools = spark_module("windrow.spark.driver.moved_states")
        with screen.progress(f"Starting Spark and reading {query}"):
            tools.export_state(checkpoint, query, file, _job(job, functions_from))
        _show(screen, file)


@app.command(
    name="import",
    epilog=examples(
        "windrow state import hot.wstate --checkpoint other",
        "windrow state import hot.wstate --checkpoint other --buckets 8",
        "windrow state import hot.wstate --checkpoint other --job changed.wql",
    ),
)
def import_(
    file: StateFile,
    checkpoint: Checkpoint,
    query: Annotated[
        str, typer.Option(metavar="NAME", help="Its name there, if it shall have another one.")
    ] = "",
    buckets: Annotated[
        int | None,
        typer.Option(help="In how many it shall run; one for each core by default.", min=1),
    ] = None,
    job: Annotated[
        Path | None,
        typer.Option(metavar="SCRIPT", help="A job that has the query, perhaps a changed one."),
    ] = None,
    positions: Annotated[
        bool,
        typer.Option(help="Whether sources go on where those of the state stood."),
    ] = True,
    functions_from: FunctionsFrom = None,
    as_json: AsJson = False,
) -> None:
    """Begin a checkpoint on Spark in which a query goes on from a file.

    Start the job with this checkpoint then. Its sources go on where those of the state stood.
    """
    screen = Screen(machine=as_json)
    with failing_clearly(screen):
        tools = spark_module("windrow.spark.driver.moved_states")
        given = _job(job, functions_from)
        name = tools.import_state(checkpoint, file, query, buckets, given, positions=positions)
        screen.event("imported", {"query": name, "checkpoint": checkpoint})
        screen.line(f"{name} goes on from {file} in {checkpoint}", "green")


@app.command(
    epilog=examples("windrow state show hot.wstate", "windrow state show hot.wstate --json")
)
def show(file: StateFile, as_json: AsJson = False) -> None:
    """Say what is in a state file, once all of it is found to be whole."""
    screen = Screen(machine=as_json)
    with failing_clearly(screen):
        _show(screen, file)


def _job(script: Path | None, functions_from: list[str] | None) -> Job | None:
    if script is None:
        return None
    return job_of(read_script(script), modules=permitted_modules(functions_from or ()))


def _show(screen: Screen, file: Path) -> None:
    manifest = manifest_of(file)
    del manifest["plan"]
    screen.event("state", {"file": str(file), **manifest})
    screen.line(f"{manifest['name']}, written by Windrow {manifest['windrow']}", "bold")
    screen.lines(manifest["query"].splitlines())
    clock = manifest["clock_us"]
    screen.line(f"clock: {'not begun' if clock == START_OF_TIME else show_instant(clock)}")
    for number, rows in manifest["rows"].items():
        screen.line(f"input {int(number) + 1}: {rows:,} rows")
    for name, facts in manifest["streams"].items():
        screen.line(_stream_line(name, facts, manifest["offsets"].get(name)))
    size = sum(length for length, _ in manifest["parts"].values())
    screen.line(f"{len(manifest['parts'])} parts, {size:,} bytes, all of them whole")


def _stream_line(name: str, facts: dict[str, Any], offset: str | None) -> str:
    through = facts["complete_us"]
    told = (
        "nothing came" if through == START_OF_TIME else f"complete through {show_instant(through)}"
    )
    reached = "" if offset is None else f", source at {offset}"
    return f"stream {name}: {facts['ledger']['rows_in']:,} rows came, {told}{reached}"
