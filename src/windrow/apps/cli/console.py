"""`windrow console`."""

from __future__ import annotations

import os
import sys
import webbrowser
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any

import typer

from windrow.apps.cli.commands import command_app, examples
from windrow.apps.cli.options import (
    AsJson,
    Embedded,
    FunctionsFrom,
    Jars,
    Packages,
    SparkUi,
    listed,
)
from windrow.apps.cli.outcome import failing_clearly
from windrow.apps.terminal.extras import console_module, spark_module
from windrow.apps.terminal.screen import Screen
from windrow.interruption import Interruption
from windrow.jobs.functions import Modules, permitted_modules
from windrow.jobs.job import job_of
from windrow.jobs.script_file import read_script

__all__ = ["app"]

USUAL_PORT = 8642

app = command_app()


@app.command(
    epilog=examples(
        "windrow console",
        "windrow console job.wql --embedded --pace 60",
    )
)
def console(
    script: Annotated[
        Path | None,
        typer.Argument(
            metavar="SCRIPT",
            help="A script of WQL; without one, a smart building.",
            exists=True,
            dir_okay=False,
        ),
    ] = None,
    embedded: Embedded = False,
    pace: Annotated[
        float | None,
        typer.Option(metavar="X", min=0.001, help="Seconds of event time to replay per second."),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=0, max=65535, help=f"By default {USUAL_PORT}, or any free one."
        ),
    ] = None,
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="The address to listen on.")
    ] = "127.0.0.1",
    allow_remote: Annotated[
        bool, typer.Option("--allow-remote", help="Let --host be an address that others can reach.")
    ] = False,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A host name that the console accepts; may be repeated."),
    ] = None,
    memory: Annotated[
        str | None, typer.Option(metavar="SIZE", help="The budget of the windows, such as '64 MB'.")
    ] = None,
    opens: Annotated[
        bool | None,
        typer.Option("--open/--no-open", help="Open a browser; by default if possible."),
    ] = None,
    read_only: Annotated[
        bool, typer.Option("--read-only", help="Queries can neither be added nor stopped.")
    ] = False,
    as_json: AsJson = False,
    spark_ui: SparkUi = False,
    jars: Jars = "",
    packages: Packages = "",
    functions_from: FunctionsFrom = None,
) -> None:
    """A web page to watch, add and stop queries."""
    screen = Screen(machine=as_json)
    with failing_clearly(screen):
        serving = console_module("windrow.apps.console.server")
        address = serving.Address(host, port, allow_remote, tuple(allow_host or ()))
        address.check()
        options = {"pace": pace, "memory": memory, "read_only": read_only}
        if script is None:
            scene = _building(screen, options)
        else:
            given_jars = {"jars": listed(jars), "packages": listed(packages)}
            on_spark = {"ui": spark_ui, **given_jars}
            given = options if embedded else options | on_spark
            modules = permitted_modules(functions_from or ())
            scene = _job(screen, script, given, embedded, modules)
        # The server raises the signal that ended it once more: noted, it lets the scene be closed.
        with Interruption(), closing(scene):
            server = serving.ConsoleServer(scene.registry, address, usual_port=USUAL_PORT)
            if allow_remote:
                screen.note(_warning(host), "bold yellow")
            scene.start()
            server.run(lambda: _announce(screen, server, opens))


def _building(screen: Screen, options: dict[str, Any]) -> Any:
    """What is watched without a script: it has a registry, start() and close()."""
    with screen.progress("Setting up a smart building"):
        return console_module("windrow.apps.demo.live_building").LiveBuilding(**options)


def _job(
    screen: Screen, script: Path, options: dict[str, Any], embedded: bool, modules: Modules
) -> Any:
    """A script, as it is watched in this process or on Spark."""
    job = job_of(read_script(script), modules=modules)
    job.check_runnable()
    if any(query.sink.shows is None for query in job.queries.values()):
        screen.note("the console only shows answers; INTO is ignored")
    if embedded:
        with screen.progress(f"Setting up {script.name}"):
            module = console_module("windrow.apps.console.embedded_job")
            return module.EmbeddedJob(job, script.name, **options)
    job.check_on_spark()
    with screen.progress(f"Starting Spark and {script.name}"):
        return spark_module("windrow.apps.console.spark_job").SparkJob(job, script.name, **options)


def _announce(screen: Screen, server: Any, opens: bool | None) -> None:
    screen.event("serving", {"url": server.url, "open": server.url_with_token})
    screen.line(f"The console is at {server.url_with_token}", "bold")
    screen.note("Anyone with this address can use the console. Ctrl-C ends it.")
    wanted = _can_open() and not screen.machine if opens is None else opens
    if wanted and not webbrowser.open(server.url_for_once()):
        screen.note("No browser could be opened: open the address yourself.")


def _can_open() -> bool:
    """Whether there is a desktop: a browser in this terminal would be in the way."""
    has_desktop = sys.platform == "darwin" or any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY")
    )
    return has_desktop and sys.stdout.isatty()


def _warning(host: str) -> str:
    return (
        f"Others can reach this console at {host}. Its token still protects it, but the "
        "connection is not encrypted: put a TLS proxy in front of it, or use ssh -L."
    )
