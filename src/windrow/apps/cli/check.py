"""`windrow check`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from windrow.apps.cli.commands import command_app, examples
from windrow.apps.cli.options import AsJson, FromDialect, FunctionsFrom
from windrow.apps.cli.outcome import FAILED, failing_clearly
from windrow.apps.cli.scripts import script_text
from windrow.apps.terminal.screen import Screen
from windrow.embedded.outlet import check_sink
from windrow.embedded.side_by_side import check_source
from windrow.errors import WindrowError
from windrow.jobs.checking import checked_job, problems_of
from windrow.jobs.functions import permitted_modules
from windrow.jobs.job import Job

__all__ = ["app"]

app = command_app()

# How the runners are called: by machines, and by people.
RUNNERS = {"spark": "on Spark", "embedded": "in this process"}


@app.command(
    epilog=examples(
        "windrow check job.wql",
        "windrow check job.wql --embedded",
        "windrow check job.wql --spark && windrow run job.wql",
        "windrow check --from flink job.sql",
    )
)
def check(
    script: Annotated[
        Path, typer.Argument(metavar="SCRIPT", help="A script of WQL.", exists=True, dir_okay=False)
    ],
    dialect: FromDialect = "",
    embedded: Annotated[
        bool, typer.Option("--embedded", help="It must run in this process.")
    ] = False,
    spark: Annotated[bool, typer.Option("--spark", help="It must run on Spark.")] = False,
    as_json: AsJson = False,
    functions_from: FunctionsFrom = None,
) -> None:
    """Parse a script and look up every name in it; read no data.

    Says where it runs. With --from the script is read as one of another system, and what differs
    here is listed.
    """
    screen = Screen(machine=as_json)
    with failing_clearly(screen):
        text = script_text(screen, script, dialect)
        modules = permitted_modules(functions_from or ())
        job, problems = checked_job(text, needs_sources=not dialect, modules=modules)
        if problems:
            _refuse(screen, problems)
        wanted = [name for name, asked in (("spark", spark), ("embedded", embedded)) if asked]
        against = {"spark": _against_spark(job), "embedded": _against_embedded(job)}
        lacking = [name for name in wanted or RUNNERS if against[name]]
        if lacking and (wanted or len(lacking) == len(RUNNERS)):
            _refuse(screen, [each for name in lacking for each in against[name]])
        runs_on = [name for name in RUNNERS if not against[name]]
        _say_good(screen, script, job, runs_on)
        for name in lacking:
            for each in against[name]:
                screen.note(f"not {RUNNERS[name]}: [{each.code}] {each.message}")


def _refuse(screen: Screen, problems: list[WindrowError]) -> None:
    for problem in problems:
        screen.error(problem)
    raise typer.Exit(FAILED)


def _say_good(screen: Screen, script: Path, job: Job, runs_on: list[str]) -> None:
    counts = {"streams": len(job.streams), "queries": len(job.queries)}
    screen.event("checked", {"script": str(script), **counts, "runs_on": runs_on})
    words = {"streams": ("stream", "streams"), "queries": ("query", "queries")}
    shown = ", ".join(f"{count} {words[each][count != 1]}" for each, count in counts.items())
    where = " and ".join(RUNNERS[name] for name in runs_on)
    screen.line(f"{script}: good ({shown}), runs {where}", "green")


def _against_spark(job: Job) -> list[WindrowError]:
    return problems_of([job.check_on_spark])


def _against_embedded(job: Job) -> list[WindrowError]:
    looks: list[Callable[[], object]] = [
        partial(check_source, name, source) for name, (_, source) in job.sources().items()
    ]
    looks += [partial(check_sink, query) for query in job.queries.values()]
    return problems_of(looks)
