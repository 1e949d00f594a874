"""`windrow doctor`."""

from __future__ import annotations

from typing import Annotated

import typer

from windrow.apps.cli.commands import command_app, examples
from windrow.apps.cli.options import AsJson
from windrow.apps.cli.outcome import FAILED, failing_clearly
from windrow.apps.terminal.doctor_view import show_findings, show_warming
from windrow.apps.terminal.screen import Screen

__all__ = ["app"]

app = command_app()


@app.command(
    epilog=examples(
        "windrow doctor",
        "windrow doctor --no-spark --json",
        "windrow doctor --no-spark --warm",
    )
)
def doctor(
    as_json: AsJson = False,
    spark: Annotated[
        bool, typer.Option("--spark/--no-spark", help="Start Spark and run a small job.")
    ] = True,
    warm: Annotated[
        bool,
        typer.Option("--warm", help="Compile what common forms of queries need; takes minutes."),
    ] = False,
) -> None:
    """Check this machine for what Windrow needs; say what to do."""
    screen = Screen(machine=as_json)
    with failing_clearly(screen):
        if not show_findings(screen, starts_spark=spark):
            raise typer.Exit(FAILED)
        if warm:
            show_warming(screen)
