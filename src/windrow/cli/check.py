"""`windrow check`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from windrow.cli.commands import command_app, examples
from windrow.cli.options import AsJson
from windrow.cli.outcome import failing_clearly
from windrow.jobs.job import job_of
from windrow.jobs.script_file import read_script
from windrow.terminal.screen import Screen

__all__ = ["app"]

app = command_app()


@app.command(
    epilog=examples(
        "windrow check job.wql",
        "windrow check job.wql && windrow run job.wql",
    )
)
def check(
    script: Annotated[
        Path, typer.Argument(metavar="SCRIPT", help="A script of WQL.", exists=True, dir_okay=False)
    ],
    as_json: AsJson = False,
) -> None:
    """Parse a script and look up every name in it; read no data."""
    screen = Screen(machine=as_json)
    with failing_clearly(screen):
        job = job_of(read_script(script))
        job.check_runnable()
        counts = {"streams": len(job.streams), "queries": len(job.queries)}
        screen.event("checked", {"script": str(script), **counts})
        words = {"streams": ("stream", "streams"), "queries": ("query", "queries")}
        shown = ", ".join(f"{count} {words[each][count != 1]}" for each, count in counts.items())
        screen.line(f"{script}: good ({shown})", "green")
