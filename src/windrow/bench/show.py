"""`windrow bench join-aggregate`: the paper's experiments on the terminal and as plots."""

from __future__ import annotations

import importlib
import json
import os
import platform
import sys
from collections.abc import Collection
from importlib.metadata import version
from pathlib import Path
from types import ModuleType

import pyarrow as pa

from windrow.bench.experiments import (
    ALGORITHMS,
    EXPERIMENTS,
    FIGURES,
    Experiment,
    Panel,
    panels_of,
)
from windrow.bench.measure import UnequalAnswersError
from windrow.bench.series import PanelSeries, run_panel
from windrow.errors import UnsupportedError
from windrow.terminal.rows import as_lines
from windrow.terminal.screen import ProgressLine, Screen

__all__ = ["bench_join_aggregate"]

SEED = 7


def bench_join_aggregate(
    screen: Screen, *, figures: Collection[int], quick: bool, out: Path | None
) -> bool:
    """Runs the experiments of the figures asked for; False when algorithms did not agree."""
    wanted = set(figures) or set(FIGURES)
    plots = None if out is None else _plots_module()
    experiments = [each for each in EXPERIMENTS if wanted & set(each.figures)]
    panels = {each.name: panels_of(each, quick=quick) for each in experiments}
    machine = _machine(quick)
    screen.event("machine", machine)
    done: list[PanelSeries] = []
    with screen.progress("Running the paper's experiments") as progress:
        total = sum(len(panel.points) for each in panels.values() for panel in each)
        meter = _Meter(progress, total)
        for experiment in experiments:
            try:
                found = [meter.run(panel) for panel in panels[experiment.name]]
            except UnequalAnswersError as problem:
                screen.event("unequal", {"message": str(problem)})
                screen.note(f"No times: {problem}", "bold red")
                return False
            done += found
            _show(screen, experiment, found)
            if out is not None and plots is not None:
                _draw(plots, screen, experiment, found, wanted, out)
    if out is not None:
        _write(out / "figures.json", done, machine)
    return True


class _Meter:
    """Runs panels and moves the progress line."""

    def __init__(self, progress: ProgressLine, total: int) -> None:
        self._progress = progress
        self._total = total
        self._begun = 0

    def run(self, panel: Panel) -> PanelSeries:
        experiment = panel.experiment

        def tell(x: float) -> None:
            detail = f"{experiment.title}, {panel.title}: {experiment.x_label} {x:g}"
            self._progress.show(detail, self._begun / self._total)
            self._begun += 1

        return run_panel(panel, SEED, tell)


def _plots_module() -> ModuleType:
    try:
        return importlib.import_module("windrow.bench.plots")
    except ModuleNotFoundError as problem:
        if (problem.name or "").startswith("windrow"):
            raise
        raise UnsupportedError(
            "WU511",
            f"plots cannot be drawn here: there is no module {problem.name!r}",
            hint='install it with pip install "windrow[bench]", or leave --out away',
        ) from None


def _machine(quick: bool) -> dict[str, object]:
    return {
        "command": " ".join(["windrow", *sys.argv[1:]]),
        "seed": SEED,
        "quick": quick,
        "cores": os.cpu_count(),
        "processor": platform.processor() or platform.machine(),
        "load_at_start": round(os.getloadavg()[0], 2),
        "python": platform.python_version(),
        **{name: version(name) for name in ("numba", "numpy", "pyarrow")},
    }


def _show(screen: Screen, experiment: Experiment, panels: list[PanelSeries]) -> None:
    shown = " and ".join(map(str, experiment.figures))
    for series in panels:
        screen.line(f"Figure {shown}: {experiment.title}, {series.panel.title}", "bold")
        screen.lines(as_lines(_table(series)), "dim")
        screen.line()
        for row in series.rows():
            screen.event("measured", row)


def _table(series: PanelSeries) -> pa.Table:
    labels = series.panel.experiment.labels
    columns: dict[str, list[object]] = {series.panel.experiment.x_label: list(series.xs)}
    for name in ALGORITHMS:
        times = [round(figure.own_us, 2) for figure in series.figures[name]]
        columns[f"{labels[name]} µs"] = list(times)
    for name in ALGORITHMS:
        sizes = [figure.held_bytes for figure in series.figures[name]]
        columns[f"{labels[name]} bytes"] = list(sizes)
    return pa.table(columns)


def _draw(
    plots: ModuleType,
    screen: Screen,
    experiment: Experiment,
    panels: list[PanelSeries],
    wanted: set[int],
    out: Path,
) -> None:
    out.mkdir(parents=True, exist_ok=True)
    for number in sorted(wanted & set(experiment.figures)):
        path = out / f"figure-{number}.svg"
        plots.draw(number, panels, path)
        screen.event("plot", {"figure": number, "path": str(path)})
        screen.note(f"{path} drawn")


def _write(path: Path, panels: list[PanelSeries], machine: dict[str, object]) -> None:
    rows = [json.dumps(row) for series in panels for row in series.rows()]
    body = ",\n  ".join(rows)
    text = f'{{"machine": {json.dumps(machine)},\n "measured": [\n  {body}\n]}}\n'
    path.write_text(text, encoding="utf-8")
