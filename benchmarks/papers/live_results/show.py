"""`windrow bench live-results`: the paper's experiments on the terminal and as plots."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import pyarrow as pa

from papers.figure_folder import FigureFolder
from papers.live_results.connections import read_connections, zipf_connections
from papers.live_results.experiments import (
    EXPERIMENTS,
    FIGURES,
    FULL,
    QUICK,
    Effort,
    Experiment,
    Source,
)
from papers.live_results.measure import STRUCTURES, UnequalRowsError
from papers.live_results.series import Series, figure_of, run_series
from papers.machine import SEED, machine_facts
from windrow.apps.terminal.rows import as_lines
from windrow.apps.terminal.screen import ProgressLine, Screen

__all__ = ["SLIDE_MS", "bench_live_results"]

SLIDE_MS = 1000  # the paper does not give its own; the longest that windows of 1 s can have
GENERATED_ONLY = "No connections given (--connections FILE): generated ones only."


def bench_live_results(
    screen: Screen,
    *,
    figures: Collection[int],
    quick: bool,
    out: Path | None,
    connections: Path | None,
    slide_ms: int = SLIDE_MS,
) -> bool:
    """Runs the experiments of the figures asked for; False when structures did not agree."""
    wanted = [each for each in EXPERIMENTS if each.figure in (set(figures) or FIGURES)]
    folder = FigureFolder(out, screen)
    effort = QUICK if quick else FULL
    sources = _sources(screen, connections, effort)
    machine = {**machine_facts(quick=quick), "connections": [each.name for each in sources]}
    screen.event("machine", machine)
    rows: list[dict[str, object]] = []
    with screen.progress("Running the paper's experiments") as progress:
        meter = _Meter(progress, len(wanted) * len(sources) * len(effort.windows_s))
        for experiment in wanted:
            try:
                halves = [meter.run(experiment, each, slide_ms * 1000, effort) for each in sources]
            except UnequalRowsError as problem:
                screen.event("unequal", {"message": str(problem)})
                screen.note(f"No times: {problem}", "bold red")
                return False
            for series in halves:
                _show(screen, series)
                rows += series.rows()
            folder.draw(figure_of(halves))
    folder.write(rows, machine)
    return True


def _sources(screen: Screen, connections: Path | None, effort: Effort) -> list[Source]:
    generated = Source("generated connections", zipf_connections(effort.generated_rows, SEED))
    if connections is None:
        screen.note(GENERATED_ONLY)
        return [generated]
    return [Source(connections.stem.replace("_", " "), read_connections(connections)), generated]


class _Meter:
    """Runs series and moves the progress line."""

    def __init__(self, progress: ProgressLine, total: int) -> None:
        self._progress = progress
        self._total = total
        self._begun = 0

    def run(self, experiment: Experiment, source: Source, slide_us: int, effort: Effort) -> Series:
        def tell(window_s: int) -> None:
            detail = f"{experiment.title}, {source.name}: window {window_s} s"
            self._progress.show(detail, self._begun / self._total)
            self._begun += 1

        return run_series(experiment, source, slide_us, effort, tell)


def _show(screen: Screen, series: Series) -> None:
    experiment = series.experiment
    title = f"Figure {experiment.figure}: {experiment.title}, {series.source}"
    screen.line(title, "bold")
    screen.lines(as_lines(_table(series)), "dim")
    for window_s in series.left_out:
        screen.note(f"A window of {window_s} s has too few results to measure.")
        left_out = {"figure": experiment.figure, "connections": series.source}
        screen.event("left_out", {**left_out, "window_s": window_s})
    screen.line()
    for row in series.rows():
        screen.event("measured", row)


def _table(series: Series) -> pa.Table:
    columns: dict[str, list[object]] = {
        "window, s": [point.window_s for point in series.points],
        "mean live": [round(point.mean_live) for point in series.points],
    }
    for name in STRUCTURES:
        columns[f"{name} ns"] = [round(point.figures[name].cpu_ns, 1) for point in series.points]
    return pa.table(columns)
