"""`windrow bench governor`: the paper's experiments on the terminal and as plots."""

from __future__ import annotations

from collections.abc import Collection
from importlib.metadata import version
from pathlib import Path

import pyarrow as pa

from papers.figure_folder import FigureFolder
from papers.governor.drawing import figure_of
from papers.governor.experiments import (
    EXPERIMENTS,
    FIGURES,
    FULL,
    QUICK,
    Effort,
    Experiment,
)
from papers.governor.series import Series, run_series
from papers.governor.soundness import NotSoundError
from papers.machine import SEED, machine_facts
from windrow.apps.terminal.rows import as_lines
from windrow.apps.terminal.screen import ProgressLine, Screen

__all__ = ["bench_governor"]

_IN_TITLE = ("figures", "drawn", "instances")


def bench_governor(
    screen: Screen, *, figures: Collection[int], quick: bool, out: Path | None, seed: int = SEED
) -> bool:
    """Runs the experiments of the figures asked for; False when a solver gave no solution."""
    wanted = set(figures) or set(FIGURES)
    folder = FigureFolder(out, screen)
    effort = QUICK if quick else FULL
    experiments = [each for each in EXPERIMENTS if wanted & set(each.figures)]
    machine = {**machine_facts(quick=quick), "seed": seed, "highspy": version("highspy")}
    screen.event("machine", machine)
    screen.note(f"Instances are drawn at random, with the seed {seed}.")
    done: list[Series] = []
    with screen.progress("Running the paper's experiments") as progress:
        meter = _Meter(progress, sum(len(effort.windows[each.kind]) for each in experiments))
        for experiment in experiments:
            try:
                done.append(meter.run(experiment, effort, seed))
            except NotSoundError as problem:
                screen.event("not_sound", {"message": str(problem)})
                screen.note(f"No figures: {problem}", "bold red")
                return False
            _show(screen, done[-1])
    for number in sorted(wanted):
        folder.draw(figure_of(number, [each for each in done if number in each.experiment.figures]))
    folder.write([row for series in done for row in series.rows()], machine)
    return True


class _Meter:
    """Runs series and moves the progress line."""

    def __init__(self, progress: ProgressLine, total: int) -> None:
        self._progress = progress
        self._total = total
        self._begun = 0

    def run(self, experiment: Experiment, effort: Effort, seed: int) -> Series:
        # Kernels are compiled, or read from the disk, before anything is measured.
        run_series(experiment, effort.once(), seed, lambda _: None)

        def tell(windows: int) -> None:
            detail = f"{experiment.title}, {experiment.name}: {windows} windows"
            self._progress.show(detail, self._begun / self._total)
            self._begun += 1

        return run_series(experiment, effort, seed, tell)


def _show(screen: Screen, series: Series) -> None:
    experiment = series.experiment
    shown = " and ".join(f"figure {number}" for number in experiment.figures)
    instances = len(series.points[0].found)
    title = f"{shown}: {experiment.title}, {experiment.name}, {instances} instances each"
    screen.line(title[0].upper() + title[1:], "bold")
    screen.lines(as_lines(_table(series)), "dim")
    screen.line()
    for row in series.rows():
        screen.event("measured", row)


def _table(series: Series) -> pa.Table:
    """A row for each number of windows and contender; what says the same in each is left out."""
    rows = series.rows()
    names = dict.fromkeys(name for row in rows for name in row if name not in _IN_TITLE)
    return pa.table({name: [row.get(name) for row in rows] for name in names})
