"""`windrow explain`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from windrow.cli.commands import command_app, examples
from windrow.cli.options import AsJson
from windrow.cli.outcome import failing_clearly
from windrow.cli.plans import show_plans
from windrow.jobs.job import job_of
from windrow.jobs.script_file import read_script
from windrow.terminal.screen import Screen

__all__ = ["app"]

app = command_app()


@app.command(
    epilog=examples(
        "windrow explain job.wql",
        'windrow explain "SELECT COUNT(*) FROM temp [10 MINUTES]" --streams job.wql',
        "windrow explain job.wql --rate temp=5000 --selectivity 0.01",
    )
)
def explain(
    query: Annotated[str, typer.Argument(help="A script's file, or WQL itself.")],
    streams: Annotated[
        Path | None,
        typer.Option(
            help="A script whose streams the query may read.", exists=True, dir_okay=False
        ),
    ] = None,
    rate: Annotated[
        list[str] | None,
        typer.Option(help="Rows a second of a stream, such as temp=5000; may be repeated."),
    ] = None,
    selectivity: Annotated[
        float | None,
        typer.Option(help="The share of pairs of rows that an equality joins.", min=0.0, max=1.0),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show how queries would run, and what each algorithm would cost."""
    screen = Screen(machine=as_json)
    with failing_clearly(screen):
        known = None if streams is None else job_of(read_script(streams))
        job = job_of(read_script(Path(query)) if _is_file(query) else query, known)
        show_plans(screen, job, rates=_rates(rate or []), selectivity=selectivity)


def _is_file(text: str) -> bool:
    return "\n" not in text and (text.endswith(".wql") or Path(text[:255]).is_file())


def _rates(given: list[str]) -> dict[str, float]:
    rates = {}
    for text in given:
        stream, _, number = text.partition("=")
        try:
            rates[stream] = float(number)
        except ValueError:
            raise typer.BadParameter(f"{text!r} is not stream=rows a second") from None
    return rates
