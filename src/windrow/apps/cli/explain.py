"""`windrow explain`."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import typer

from windrow.apps.cli.commands import command_app, examples
from windrow.apps.cli.options import AsJson, FunctionsFrom
from windrow.apps.cli.outcome import failing_clearly
from windrow.apps.cli.plans import show_plans
from windrow.apps.terminal.screen import Screen
from windrow.errors import BindingError
from windrow.jobs.functions import permitted_modules
from windrow.jobs.job import Job, job_of
from windrow.jobs.script_file import read_script

__all__ = ["app"]

app = command_app()


@app.command(
    epilog=examples(
        "windrow explain job.wql",
        'windrow explain "SELECT COUNT(*) FROM temp [10 MINUTES]" --streams job.wql',
        'windrow explain "SELECT * FROM temp [1 HOUR] LIMIT 3" --streams job.wql',
        "windrow explain job.wql --rate temp=5000 --selectivity 0.01",
    )
)
def explain(
    query: Annotated[
        str, typer.Argument(metavar="TEXT_OR_SCRIPT", help="A script's file, or WQL itself.")
    ],
    streams: Annotated[
        Path | None,
        typer.Option(
            metavar="SCRIPT",
            help="A script whose streams the query may read.",
            exists=True,
            dir_okay=False,
        ),
    ] = None,
    rate: Annotated[
        list[str] | None,
        typer.Option(
            metavar="STREAM=ROWS",
            help="Rows per second of a stream, such as temp=5000; may be repeated.",
        ),
    ] = None,
    selectivity: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="The share of row pairs that an equality joins.",
            min=0.0,
            max=1.0,
        ),
    ] = None,
    as_json: AsJson = False,
    functions_from: FunctionsFrom = None,
) -> None:
    """Show how queries would run, and what each algorithm would cost."""
    screen = Screen(machine=as_json)
    with failing_clearly(screen):
        text = _text(query)
        modules = permitted_modules(functions_from or ())
        known = None if streams is None else job_of(read_script(streams), modules=modules)
        job = job_of(text, known, modules)
        job.check_not_empty()
        rates = _rates(rate or [], job)
        show_plans(screen, job, rates=rates, selectivity=selectivity)


def _text(given: str) -> str:
    """The text of a script's file, or what was given itself."""
    is_word = bool(given) and not any(map(str.isspace, given))  # and no query is one word
    if not is_word and not _is_file(given):
        return given
    if not _is_file(given):
        message = f"file {given!r} does not exist."
        raise typer.BadParameter(message, param_hint="'TEXT_OR_SCRIPT'")
    return read_script(Path(given))


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except (OSError, ValueError):  # longer than names are, or with letters that names have not
        return False


def _rates(given: list[str], job: Job) -> dict[str, float]:
    """Rows a second by stream, as the job spells it."""
    rates = {}
    for text in given:
        stream, _, number = text.partition("=")
        try:
            rates[job.catalog.stream(stream.strip()).name] = float(number)
        except ValueError:
            raise _wrong_rate(f"{text!r} is not STREAM=ROWS, such as temp=5000.") from None
        except BindingError as error:
            raise _wrong_rate(f"{error.message}: {error.hint}") from None
        if not 0 < float(number) < math.inf:
            raise _wrong_rate(f"{number!r} is not a rate (rows per second) above 0.")
    return rates


def _wrong_rate(message: str) -> typer.BadParameter:
    return typer.BadParameter(message, param_hint="'--rate'")
