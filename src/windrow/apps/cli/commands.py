"""The commands by name; the file of each is imported only when it is called.

A command is a file of its own here, `NAME.py`, with an `app` from `command_app()`, and a line in
COMMANDS. So `windrow --help` imports neither the engine nor a web framework.
"""

from __future__ import annotations

import importlib
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from windrow.starting import raise_again

__all__ = ["COMMANDS", "LateCommands", "command_app", "examples", "loaded"]

# In the order of `windrow --help`; each summary is what the command's own help says first.
COMMANDS = {
    "run": "Run a whole job: read its sources, send answers to its sinks.",
    "explain": "Show how queries would run, and what each algorithm would cost.",
    "check": "Parse a script and look up every name in it; read no data.",
    "demo": "A smart building with a few fires: watch the alarms appear.",
    "shell": "Type queries and see answers, in this process.",
    "console": "A web page to watch, add and stop queries.",
    "serve": "A job as a service: engine, console and HTTP API in one process.",
    "state": "Write a query's state into a file, and go on from it elsewhere.",
    "doctor": "Check this machine for what Windrow needs; say what to do.",
    "bench": "The papers' experiments, run on this machine from a checkout.",
}


def command_app(**settings: Any) -> typer.Typer:
    """A Typer app for the file of one command, or of a group of commands."""
    return typer.Typer(
        add_completion=False,
        rich_markup_mode="rich",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        **settings,
    )


def examples(*commands: str) -> str:
    """The end of a command's help: how it is called, one way a line."""
    # A bracket would be taken for a style.
    shown = (command.replace("[", "\\[") for command in commands)
    return "\n".join(["Examples:", *(f"[dim]$[/dim] [bold]{each}[/bold]" for each in shown)])


def loaded(name: str) -> Any:
    """The command itself, with all that it imports."""
    command = get_command(importlib.import_module(f"windrow.apps.cli.{name}").app)
    command.name = name
    _hide_types_of_flags(command, typer.Context(command, **command.context_settings))
    return command


def _hide_types_of_flags(command: Any, context: typer.Context) -> None:
    """A flag takes no value, and must not look in the help as if it took a `<bool>`."""
    for each in command.get_params(context):
        if getattr(each, "is_flag", False):
            each.metavar = ""
    for inner in getattr(command, "commands", {}).values():
        _hide_types_of_flags(inner, typer.Context(inner, parent=context))


class LateCommands(TyperGroup):
    """A group that knows the name and the summary of its commands, and loads the one called."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = {name: TyperCommand(name, help=text) for name, text in COMMANDS.items()}

    def get_params(self, ctx: Any) -> Any:
        """Its own options, which are all flags: no types are shown of them."""
        params = super().get_params(ctx)
        for each in params:
            each.metavar = ""
        return params

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that the arguments call, loaded."""
        name, command, rest = super().resolve_command(ctx, args)
        found = command and loaded(command.name or "")
        raise_again()
        return name, found, rest
