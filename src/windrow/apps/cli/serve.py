"""`windrow serve`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from windrow.apps.cli.commands import command_app, examples
from windrow.apps.cli.options import FunctionsFrom
from windrow.apps.cli.outcome import failing_clearly
from windrow.apps.service.settings import LOG_FORMATS, LOG_LEVELS, USUAL_PORT, read_settings
from windrow.apps.terminal.extras import console_module
from windrow.apps.terminal.screen import Screen
from windrow.jobs.functions import permitted_modules
from windrow.jobs.job import job_of
from windrow.jobs.script_file import read_script

__all__ = ["app"]

app = command_app()


@app.command(
    epilog=examples(
        "windrow serve job.wql --state state",
        "windrow serve --config windrow.toml",
        "WINDROW_TOKEN=... windrow serve job.wql --host 0.0.0.0 --allow-remote",
    )
)
def serve(
    script: Annotated[
        Path | None, typer.Argument(metavar="SCRIPT", help="A script of WQL.", show_default=False)
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Settings, as TOML.", exists=True, dir_okay=False),
    ] = None,
    state: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Keep the state here, and go on from it when started again."
        ),
    ] = None,
    memory: Annotated[
        str | None, typer.Option(metavar="SIZE", help="The budget of the windows, such as '64 MB'.")
    ] = None,
    host: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="The address to listen on; 127.0.0.1.")
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(metavar="N", min=0, max=65535, help=f"{USUAL_PORT}; 0: any free one."),
    ] = None,
    allow_remote: Annotated[
        bool, typer.Option("--allow-remote", help="Let --host be an address that others can reach.")
    ] = False,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A name that it is called by; may be repeated."),
    ] = None,
    read_only: Annotated[
        bool, typer.Option("--read-only", help="Queries can neither be added nor stopped.")
    ] = False,
    log_level: Annotated[
        str | None, typer.Option(metavar="LEVEL", help=f"{', '.join(LOG_LEVELS)}.")
    ] = None,
    log_format: Annotated[
        str | None, typer.Option(metavar="FORM", help=f"{' or '.join(LOG_FORMATS)}, on stderr.")
    ] = None,
    stop_within: Annotated[
        str | None, typer.Option(metavar="SPAN", help="How long an end may take; '20 seconds'.")
    ] = None,
    functions_from: FunctionsFrom = None,
) -> None:
    """A job as a service: engine, console and HTTP API in one process."""
    screen = Screen(machine=True)
    with failing_clearly(screen):
        given = {
            "script": script,
            "state": state,
            "memory": memory,
            "host": host,
            "port": port,
            "allow_remote": allow_remote or None,
            "allow_hosts": tuple(allow_host) if allow_host else None,
            "read_only": read_only or None,
            "log_level": log_level,
            "log_format": log_format,
            "stop_within": stop_within,
        }
        settings = read_settings(config, os.environ, given)
        job = job_of(read_script(settings.script), modules=permitted_modules(functions_from or ()))
        job.check_runnable()
        serving = console_module("windrow.apps.service.serving")
        serving.serve(job, settings, lambda facts: screen.event("serving", facts))
