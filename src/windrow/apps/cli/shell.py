"""`windrow shell`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from windrow.apps.cli.commands import command_app, examples
from windrow.apps.cli.options import AsJson, FunctionsFrom
from windrow.apps.cli.outcome import failing_clearly
from windrow.apps.shell.open import open_shell
from windrow.apps.terminal.screen import Screen

__all__ = ["app"]

app = command_app()


@app.command(
    epilog=examples(
        "windrow shell --demo",
        "windrow shell job.wql",
        "windrow shell --json < commands.wql",
    )
)
def shell(
    script: Annotated[
        Path | None,
        typer.Argument(
            metavar="SCRIPT", help="A script to run first.", exists=True, dir_okay=False
        ),
    ] = None,
    demo: Annotated[
        bool, typer.Option("--demo", help="With a smart building that sends live readings.")
    ] = False,
    as_json: AsJson = False,
    functions_from: FunctionsFrom = None,
) -> None:
    """Type queries and see answers, in this process."""
    screen = Screen(machine=as_json)
    with failing_clearly(screen):
        open_shell(screen, script, demo=demo, functions_from=functions_from or ())
