"""`windrow bench`: one command for the experiments of each paper."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from papers.governor.show import bench_governor
from papers.history.show import bench_history
from papers.join_aggregate.show import bench_join_aggregate
from papers.live_results.show import SLIDE_MS, bench_live_results
from papers.machine import SEED
from windrow.apps.cli.commands import command_app, examples
from windrow.apps.cli.options import AsJson
from windrow.apps.cli.outcome import FAILED, failing_clearly
from windrow.apps.terminal.screen import Screen

__all__ = ["app"]

app = command_app(
    help="The papers' experiments, run on this machine from a checkout.",
    no_args_is_help=True,
    epilog=examples(
        "windrow bench join-aggregate --quick",
        "windrow bench governor --figure 8 --out plots",
    ),
)

Quick = Annotated[bool, typer.Option("--quick", help="Fewer points and rows, to try it out.")]
PlotFolder = Annotated[
    Path | None,
    typer.Option(metavar="FOLDER", help="A folder for the plots (SVG) and figures.json."),
]


@app.command(
    "join-aggregate",
    epilog=examples(
        "windrow bench join-aggregate --quick",
        "windrow bench join-aggregate --figure 4 --figure 5 --out plots",
    ),
)
def bench_join_aggregates(
    figure: Annotated[
        list[int] | None,
        typer.Option(metavar="N", min=2, max=7, help="A figure of the paper; else all."),
    ] = None,
    quick: Quick = False,
    out: PlotFolder = None,
    as_json: AsJson = False,
) -> None:
    """Joins with aggregates: time of an arrival and bytes, by every algorithm."""
    screen = Screen(machine=as_json)
    with failing_clearly(screen):
        agreed = bench_join_aggregate(screen, figures=figure or (), quick=quick, out=out)
        if not agreed:
            raise typer.Exit(FAILED)


@app.command(
    "live-results",
    epilog=examples(
        "windrow bench live-results --quick",
        "windrow bench live-results --figure 5 --out plots",
    ),
)
def bench_live_result_stores(
    figure: Annotated[
        list[int] | None,
        typer.Option(metavar="N", min=4, max=7, help="A figure of the paper; else all."),
    ] = None,
    quick: Quick = False,
    out: PlotFolder = None,
    connections: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            exists=True,
            dir_okay=False,
            help="Parquet with ts, link and src; else generated only.",
        ),
    ] = None,
    slide_ms: Annotated[
        int,
        typer.Option(metavar="N", min=1, max=1000, help="Slide of the windows, a part of 1000."),
    ] = SLIDE_MS,
    as_json: AsJson = False,
) -> None:
    """Stores of live results: time of a result's way in and out, by every structure."""
    if 1000 % slide_ms:
        raise typer.BadParameter(f"{slide_ms} does not divide 1000", param_hint="--slide-ms")
    screen = Screen(machine=as_json)
    with failing_clearly(screen):
        agreed = bench_live_results(
            screen,
            figures=figure or (),
            quick=quick,
            out=out,
            connections=connections,
            slide_ms=slide_ms,
        )
        if not agreed:
            raise typer.Exit(FAILED)


@app.command(
    "governor",
    epilog=examples(
        "windrow bench governor --quick",
        "windrow bench governor --figure 8 --out plots",
    ),
)
def bench_window_governor(
    figure: Annotated[
        list[int] | None,
        typer.Option(
            metavar="N", min=2, max=8, help="A figure of the paper, or 8, which is ours; else all."
        ),
    ] = None,
    quick: Quick = False,
    out: PlotFolder = None,
    seed: Annotated[
        int, typer.Option(metavar="N", min=0, help="Of the random windows and queries.")
    ] = SEED,
    as_json: AsJson = False,
) -> None:
    """Window sizes under a budget: errors, shared memory, and solvers of groups."""
    screen = Screen(machine=as_json)
    with failing_clearly(screen):
        sound = bench_governor(screen, figures=figure or (), quick=quick, out=out, seed=seed)
        if not sound:
            raise typer.Exit(FAILED)


@app.command(
    "history",
    epilog=examples(
        "windrow bench history --quick",
        "windrow bench history --figure 5 --out plots",
    ),
)
def bench_histories(
    figure: Annotated[
        list[int] | None,
        typer.Option(
            metavar="N",
            min=3,
            max=7,
            help="A figure of the paper, or 6 or 7, which are ours; else all.",
        ),
    ] = None,
    quick: Quick = False,
    out: PlotFolder = None,
    arrivals: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            exists=True,
            dir_okay=False,
            help="Parquet with trace and gap_us: bursts.",
        ),
    ] = None,
    connections: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", exists=True, dir_okay=False, help="Parquet with ts: bursts, and a day."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Histories: space, time to build and time of a range, of the tree and its rivals."""
    screen = Screen(machine=as_json)
    with failing_clearly(screen):
        agreed = bench_history(
            screen,
            figures=figure or (),
            quick=quick,
            out=out,
            arrivals=arrivals,
            connections=connections,
        )
        if not agreed:
            raise typer.Exit(FAILED)
