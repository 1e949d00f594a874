"""`windrow bench`: the papers' experiments, which are in a checkout and not in the package."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import typer

import windrow
from windrow.apps.cli.commands import COMMANDS, command_app, examples
from windrow.apps.cli.options import AsJson
from windrow.apps.cli.outcome import failing_clearly
from windrow.apps.terminal.screen import Screen
from windrow.errors import UnsupportedError

__all__ = ["app", "experiments_of"]

_BENCHMARKS = Path(windrow.__file__).parents[2] / "benchmarks"
_HINT = (
    "they are in benchmarks/papers of the repository and of the source archive: run "
    'pip install --editable ".[bench]" there, then the same command'
)


def experiments_of(benchmarks: Path) -> typer.Typer:
    """The commands in this folder; where it has none, one that says where they are."""
    if not (benchmarks / "papers" / "commands.py").is_file():
        return _experiments_elsewhere()
    if str(benchmarks) not in sys.path:
        sys.path.append(str(benchmarks))
    commands: typer.Typer = importlib.import_module("papers.commands").app
    return commands


def _experiments_elsewhere() -> typer.Typer:
    elsewhere = command_app()

    @elsewhere.command(
        help=f"{COMMANDS['bench']}\n\nThis installation has none: {_HINT}.",
        epilog=examples("windrow bench join-aggregate --quick"),
        context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
    )
    def refuse(as_json: AsJson = False) -> None:
        with failing_clearly(Screen(machine=as_json)):
            lack = "the papers' experiments are not in the installed package"
            raise UnsupportedError("WU513", lack, hint=_HINT)

    return elsewhere


app = experiments_of(_BENCHMARKS)
