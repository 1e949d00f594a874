"""The command line: run, explain and check scripts, the demo, and the papers' experiments."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

import windrow
from windrow.bench.governor.show import bench_governor
from windrow.bench.history.show import bench_history
from windrow.bench.join_aggregate.show import bench_join_aggregate
from windrow.bench.live_results.show import SLIDE_MS, bench_live_results
from windrow.bench.machine import SEED
from windrow.demo.show import run_demo
from windrow.embedded.job import run_embedded
from windrow.errors import DataError, WindrowError
from windrow.jobs.job import Job, job_of
from windrow.plan.explain import explain as explain_plan
from windrow.plan.figures import assumed_figures
from windrow.plan.history_explain import explain_history
from windrow.plan.history_plan import HistoryPlan
from windrow.terminal.doctor_view import show_findings
from windrow.terminal.extras import spark_module
from windrow.terminal.job_view import JobView
from windrow.terminal.screen import Screen

__all__ = ["app", "main"]

FAILED = 1
SCRIPT_BYTES_LIMIT = 1 << 20  # far above what the parser takes, so that its error names its limit

app = typer.Typer(
    name="windrow",
    help="Continuous queries over sliding windows, in this process or on Spark.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Try [bold]windrow demo --embedded[/bold]: a building with fires, in a few seconds.",
)

bench_app = typer.Typer(help="The papers' experiments, run on this machine.", no_args_is_help=True)
app.add_typer(bench_app, name="bench")

AsJson = Annotated[
    bool, typer.Option("--json", help="One JSON object a line on stdout; all else on stderr.")
]
Embedded = Annotated[
    bool, typer.Option("--embedded", help="In this process, without Spark and without Java.")
]
Quick = Annotated[bool, typer.Option("--quick", help="Fewer points and rows, to try it out.")]
PlotFolder = Annotated[
    Path | None, typer.Option(help="A folder for the plots (SVG) and figures.json.")
]
SparkUi = Annotated[
    bool, typer.Option("--spark-ui", help="Spark's own web page, on this machine's port 4040.")
]
Jars = Annotated[
    str,
    typer.Option(help="Jars for Spark, with commas between: Kafka's connector, for example."),
]


def main() -> None:
    """What the program `windrow` calls."""
    app()


@app.callback(invoke_without_command=True)
def _options(
    version: Annotated[
        bool, typer.Option("--version", help="The version, and nothing else.")
    ] = False,
) -> None:
    if version:
        typer.echo(f"windrow {windrow.__version__}")
        raise typer.Exit


@app.command(
    epilog="Examples: [bold]windrow run job.wql[/bold] · "
    "[bold]windrow run job.wql --embedded --json > answers.ndjson[/bold]"
)
def run(
    script: Annotated[Path, typer.Argument(help="A script of WQL.", exists=True, dir_okay=False)],
    embedded: Embedded = False,
    as_json: AsJson = False,
    spark_ui: SparkUi = False,
    jars: Jars = "",
) -> None:
    """Run a whole job: read its sources to the end and send answers to its sinks."""
    screen = Screen(machine=as_json)
    with _failing_clearly(screen):
        job = job_of(_read(script))
        job.check_runnable()
        _show_plans(screen, job, explained_only=True)
        if not embedded:
            job.check_on_spark()
        if not job.queries and not job.questions:
            return
        if embedded and job.settings.checkpoint is not None:
            screen.note("in this process there is no checkpoint: SET checkpoint has no effect")
        doing = "Running" if embedded else "Starting Spark and running"
        with screen.progress(f"{doing} {script.name}") as progress:
            view = JobView(screen, progress)
            if embedded:
                run_embedded(job, view)
            else:
                runner = spark_module("windrow.spark.job")
                runner.run_on_spark(job, view, ui=spark_ui, jars=[*filter(None, jars.split(","))])


@app.command(
    epilog="Examples: [bold]windrow explain job.wql[/bold] · "
    '[bold]windrow explain "SELECT COUNT(*) FROM temp \\[10 MINUTES]" --streams job.wql[/bold]'
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
    """Show how queries would run: windows, memory, join keys, and what each algorithm costs."""
    screen = Screen(machine=as_json)
    with _failing_clearly(screen):
        known = None if streams is None else job_of(_read(streams))
        job = job_of(_read(Path(query)) if _is_file(query) else query, known)
        _show_plans(screen, job, rates=_rates(rate or []), selectivity=selectivity)


@app.command(epilog="Example: [bold]windrow check job.wql && windrow run job.wql[/bold]")
def check(
    script: Annotated[Path, typer.Argument(help="A script of WQL.", exists=True, dir_okay=False)],
    as_json: AsJson = False,
) -> None:
    """Parse a script and look up every name in it; run and read nothing."""
    screen = Screen(machine=as_json)
    with _failing_clearly(screen):
        job = job_of(_read(script))
        job.check_runnable()
        counts = {"streams": len(job.streams), "queries": len(job.queries)}
        screen.event("checked", {"script": str(script), **counts})
        shown = ", ".join(f"{count} {name}" for name, count in counts.items())
        screen.line(f"{script}: good ({shown})", "green")


@app.command(
    epilog="Examples: [bold]windrow demo[/bold] · [bold]windrow demo --embedded --seed 7[/bold]"
)
def demo(
    embedded: Embedded = False,
    as_json: AsJson = False,
    seed: Annotated[int, typer.Option(help="Which building: rooms on fire, noise.")] = 1,
    fast: Annotated[bool, typer.Option("--fast", help="Without pauses between readings.")] = False,
    spark_ui: SparkUi = False,
) -> None:
    """A smart building with a few fires: watch the alarms appear, then see them checked."""
    screen = Screen(machine=as_json)
    with _failing_clearly(screen):
        is_right = run_demo(screen, seed=seed, embedded=embedded, fast=fast, spark_ui=spark_ui)
        if not is_right:
            raise typer.Exit(FAILED)


@app.command(
    epilog="Examples: [bold]windrow doctor[/bold] · [bold]windrow doctor --no-spark --json[/bold]"
)
def doctor(
    as_json: AsJson = False,
    spark: Annotated[
        bool, typer.Option("--spark/--no-spark", help="Start Spark and have it run something.")
    ] = True,
) -> None:
    """Look at what this machine has of what Windrow needs, and say what to do."""
    screen = Screen(machine=as_json)
    with _failing_clearly(screen):
        if not show_findings(screen, starts_spark=spark):
            raise typer.Exit(FAILED)


@bench_app.command(
    "join-aggregate",
    epilog="Examples: [bold]windrow bench join-aggregate --quick[/bold] · "
    "[bold]windrow bench join-aggregate --figure 4 --figure 5 --out plots[/bold]",
)
def bench_join_aggregates(
    figure: Annotated[
        list[int] | None, typer.Option(min=2, max=7, help="A figure of the paper; else all.")
    ] = None,
    quick: Quick = False,
    out: PlotFolder = None,
    as_json: AsJson = False,
) -> None:
    """Joins with aggregates: time of an arrival and bytes, by every algorithm."""
    screen = Screen(machine=as_json)
    with _failing_clearly(screen):
        agreed = bench_join_aggregate(screen, figures=figure or (), quick=quick, out=out)
        if not agreed:
            raise typer.Exit(FAILED)


@bench_app.command(
    "live-results",
    epilog="Examples: [bold]windrow bench live-results --quick[/bold] · "
    "[bold]windrow bench live-results --figure 5 --out plots[/bold]",
)
def bench_live_result_stores(
    figure: Annotated[
        list[int] | None, typer.Option(min=4, max=7, help="A figure of the paper; else all.")
    ] = None,
    quick: Quick = False,
    out: PlotFolder = None,
    connections: Annotated[
        Path | None,
        typer.Option(
            exists=True, dir_okay=False, help="Parquet with ts, link and src; else generated only."
        ),
    ] = None,
    slide_ms: Annotated[
        int, typer.Option(min=1, max=1000, help="Slide of the windows, a part of 1000.")
    ] = SLIDE_MS,
    as_json: AsJson = False,
) -> None:
    """Stores of live results: time of a result's way in and out, by every structure."""
    if 1000 % slide_ms:
        raise typer.BadParameter(f"{slide_ms} does not divide 1000", param_hint="--slide-ms")
    screen = Screen(machine=as_json)
    with _failing_clearly(screen):
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


@bench_app.command(
    "governor",
    epilog="Examples: [bold]windrow bench governor --quick[/bold] · "
    "[bold]windrow bench governor --figure 8 --out plots[/bold]",
)
def bench_window_governor(
    figure: Annotated[
        list[int] | None,
        typer.Option(min=2, max=8, help="A figure of the paper, or 8, which is ours; else all."),
    ] = None,
    quick: Quick = False,
    out: PlotFolder = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the random windows and queries.")] = SEED,
    as_json: AsJson = False,
) -> None:
    """Window sizes under a budget: errors, shared memory, and solvers of groups."""
    screen = Screen(machine=as_json)
    with _failing_clearly(screen):
        sound = bench_governor(screen, figures=figure or (), quick=quick, out=out, seed=seed)
        if not sound:
            raise typer.Exit(FAILED)


@bench_app.command(
    "history",
    epilog="Examples: [bold]windrow bench history --quick[/bold] · "
    "[bold]windrow bench history --figure 5 --out plots[/bold]",
)
def bench_histories(
    figure: Annotated[
        list[int] | None,
        typer.Option(
            min=3, max=7, help="A figure of the paper, or 6 or 7, which are ours; else all."
        ),
    ] = None,
    quick: Quick = False,
    out: PlotFolder = None,
    arrivals: Annotated[
        Path | None,
        typer.Option(exists=True, dir_okay=False, help="Parquet with trace and gap_us: bursts."),
    ] = None,
    connections: Annotated[
        Path | None,
        typer.Option(exists=True, dir_okay=False, help="Parquet with ts: bursts, and a day."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Histories: space, time to build and time of a range, of the tree and its rivals."""
    screen = Screen(machine=as_json)
    with _failing_clearly(screen):
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


@contextmanager
def _failing_clearly(screen: Screen) -> Iterator[None]:
    """Shows an error of ours as it renders, and ends with 1; Ctrl-C ends with 130."""
    try:
        yield
    except WindrowError as error:
        screen.error(error)
        raise typer.Exit(FAILED) from None
    except KeyboardInterrupt:
        screen.note("Interrupted.")
        raise


def _is_file(text: str) -> bool:
    return "\n" not in text and (text.endswith(".wql") or Path(text[:255]).is_file())


def _read(script: Path) -> str:
    try:
        with script.open("rb") as file:
            return file.read(SCRIPT_BYTES_LIMIT).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as problem:
        raise DataError(
            "WD510", f"{script} cannot be read: {problem}", hint="give a text file in UTF-8"
        ) from None


def _rates(given: list[str]) -> dict[str, float]:
    rates = {}
    for text in given:
        stream, _, number = text.partition("=")
        try:
            rates[stream] = float(number)
        except ValueError:
            raise typer.BadParameter(f"{text!r} is not stream=rows a second") from None
    return rates


def _show_plans(
    screen: Screen,
    job: Job,
    *,
    explained_only: bool = False,
    rates: dict[str, float] | None = None,
    selectivity: float | None = None,
) -> None:
    plans = [("", plan) for plan in job.explained]
    if not explained_only:
        plans += [(query.name, query.plan) for query in job.queries.values()]
        plans += [(question.name, question.plan) for question in job.questions.values()]
    for name, plan in plans:
        if isinstance(plan, HistoryPlan):
            text = explain_history(plan)
        else:
            text = explain_plan(plan, assumed_figures(plan, rates, selectivity))
        screen.event("plan", {"query": name or None, "text": text})
        if name:
            screen.line(f"{name}:", "bold")
        screen.lines(text.split("\n"))
