"""`windrow demo`."""

from __future__ import annotations

from typing import Annotated

import typer

from windrow.apps.cli.commands import command_app, examples
from windrow.apps.cli.options import AsJson, Embedded, SparkUi
from windrow.apps.cli.outcome import FAILED, failing_clearly
from windrow.apps.demo.show import run_demo
from windrow.apps.terminal.screen import Screen

__all__ = ["app"]

app = command_app()


@app.command(
    epilog=examples(
        "windrow demo",
        "windrow demo --embedded --seed 7",
    )
)
def demo(
    embedded: Embedded = False,
    as_json: AsJson = False,
    seed: Annotated[
        int, typer.Option(metavar="N", help="Which building: rooms on fire, noise.")
    ] = 1,
    fast: Annotated[bool, typer.Option("--fast", help="Without pauses between readings.")] = False,
    spark_ui: SparkUi = False,
) -> None:
    """A smart building with a few fires: watch the alarms appear."""
    screen = Screen(machine=as_json)
    with failing_clearly(screen):
        is_right = run_demo(screen, seed=seed, embedded=embedded, fast=fast, spark_ui=spark_ui)
        if not is_right:
            raise typer.Exit(FAILED)
