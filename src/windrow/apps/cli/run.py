"""`windrow run`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from windrow.apps.cli.commands import command_app, examples
from windrow.apps.cli.options import (
    AsJson,
    Embedded,
    FromDialect,
    FunctionsFrom,
    Jars,
    Packages,
    SparkUi,
    listed,
)
from windrow.apps.cli.outcome import failing_clearly
from windrow.apps.cli.plans import show_plans
from windrow.apps.cli.scripts import script_text
from windrow.apps.terminal.board import Board
from windrow.apps.terminal.extras import spark_module
from windrow.apps.terminal.job_view import JobView
from windrow.apps.terminal.screen import Screen
from windrow.deferred import imported
from windrow.embedded.job import run_embedded
from windrow.jobs.functions import permitted_modules
from windrow.jobs.job import Job, job_of

__all__ = ["app"]

app = command_app()


@app.command(
    epilog=examples(
        "windrow run job.wql",
        "windrow run job.wql --embedded",
        "windrow run job.wql --embedded --json > answers.ndjson",
        "windrow run job.wql --embedded --state state",
    )
)
def run(
    script: Annotated[
        Path, typer.Argument(metavar="SCRIPT", help="A script of WQL.", exists=True, dir_okay=False)
    ],
    dialect: FromDialect = "",
    embedded: Embedded = False,
    as_json: AsJson = False,
    lines: Annotated[
        bool, typer.Option("--lines", help="Every answer as a line, on a terminal too.")
    ] = False,
    spark_ui: SparkUi = False,
    jars: Jars = "",
    packages: Packages = "",
    functions_from: FunctionsFrom = None,
    state: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            file_okay=False,
            help="With --embedded: keep the state of the job in this folder. Run again, it goes on "
            "where it was, whatever has ended it.",
        ),
    ] = None,
) -> None:
    """Run a whole job: read its sources, send answers to its sinks."""
    if state is not None and not embedded:
        message = "goes with --embedded; on Spark, SET checkpoint in the script"
        raise typer.BadParameter(message, param_hint="'--state'")
    screen = Screen(machine=as_json)
    with failing_clearly(screen) as ending:
        modules = permitted_modules(functions_from or ())
        job = job_of(script_text(screen, script, dialect), modules=modules)
        job.check_runnable()
        show_plans(screen, job, explained_only=True)
        if not embedded:
            job.check_on_spark()
        if not job.queries and not job.questions:
            return
        if embedded and job.settings.checkpoint is not None:
            screen.note("in this process there is no checkpoint: SET checkpoint is ignored")
        with _watched(screen, job, script.name, embedded, lines) as view:
            ending.done = lambda: view.done
            if embedded:
                _run_here(job, view, state)
            else:
                runner = spark_module("windrow.spark.driver.job")
                given = {"jars": listed(jars), "packages": listed(packages)}
                runner.run_on_spark(job, view, ui=spark_ui, **given)


def _run_here(job: Job, view: Board | JobView, state: Path | None) -> None:
    if state is None:
        run_embedded(job, view)
    else:
        imported("windrow.durable.job").run_durable(job, view, state)


@contextmanager
def _watched(
    screen: Screen, job: Job, name: str, embedded: bool, lines: bool
) -> Iterator[Board | JobView]:
    """A board on a terminal; otherwise, or on request, lines."""
    if screen.is_live and not lines:
        board = Board(screen, name if embedded else f"{name} on Spark", [*job.queries])
        with board.shown():
            yield board
        return
    doing = "Running" if embedded else "Starting Spark and running"
    with screen.progress(f"{doing} {name}") as progress:
        yield JobView(screen, progress)
