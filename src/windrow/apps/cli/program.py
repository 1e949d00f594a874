"""The program `windrow`: its own options, and the commands it passes the rest to."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

import windrow
from windrow.apps.cli.commands import LateCommands, examples
from windrow.starting import IS_PROGRAM, end_quietly

__all__ = ["app", "main"]

ENDED_BY_CTRL_C = 130

app = typer.Typer(
    name="windrow",
    cls=LateCommands,
    help="Continuous queries over sliding windows, in this process or on Spark.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=examples(
        "windrow demo --embedded",
        "windrow shell --demo",
        "windrow run job.wql --embedded",
        "windrow COMMAND --help",
    ),
)


def main() -> None:
    """What the program `windrow` calls."""
    try:
        app()
    except KeyboardInterrupt:  # before a command had begun
        sys.exit(ENDED_BY_CTRL_C)
    finally:
        if IS_PROGRAM:
            end_quietly()


@app.callback(invoke_without_command=True)
def _options(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        typer.echo(f"windrow {windrow.__version__}")
        raise typer.Exit
