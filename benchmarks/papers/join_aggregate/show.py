"""`windrow bench join-aggregate`: the paper's experiments on the terminal and as plots."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import pyarrow as pa

from papers.figure_folder import FigureFolder
from papers.join_aggregate.drawing import figure_of
from papers.join_aggregate.experiments import (
    ALGORITHMS,
    EXPERIMENTS,
    FIGURES,
    Experiment,
    Panel,
    panels_of,
)
from papers.join_aggregate.measure import UnequalAnswersError
from papers.join_aggregate.series import PanelSeries, run_panel
from papers.machine import SEED, machine_facts
from windrow.apps.terminal.rows import as_lines
from windrow.apps.terminal.screen import ProgressLine, Screen

__all__ = ["bench_join_aggregate"]


def bench_join_aggregate(
    screen: Screen, *, figures: Collection[int], quick: bool, out: Path | None
) -> bool:
    """Runs the experiments of the figures asked for; False when algorithms did not agree."""
    wanted = set(figures) or set(FIGURES)
    folder = FigureFolder(out, screen)
    experiments = [each for each in EXPERIMENTS if wanted & set(each.figures)]
    panels = {each.name: panels_of(each, quick=quick) for each in experiments}
    machine = machine_facts(quick=quick)
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
            for number in sorted(wanted & set(experiment.figures)):
                folder.draw(figure_of(number, found))
    folder.write([row for series in done for row in series.rows()], machine)
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
