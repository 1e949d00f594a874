"""`windrow bench history`: the paper's experiments on the terminal and as plots."""

from __future__ import annotations

import importlib
from collections.abc import Collection
from pathlib import Path

import pyarrow as pa

from papers.figure_folder import FigureFolder
from papers.history.bursts import (
    HOUR_US,
    MINUTE_US,
    SECOND_US,
    Source,
    connection_times,
    generated_bursts,
    packet_times,
    uniform,
)
from papers.history.experiments import (
    EXPERIMENTS,
    FULL_EFFORT,
    QUICK_EFFORT,
    TREE_FIGURE,
    Effort,
    Experiment,
)
from papers.history.measure import (
    UnequalAnswersError,
    built,
    spec_for,
    values_for,
)
from papers.history.series import Series, figure_of, run_series
from papers.history.tree_shape import Node, shape_of
from papers.machine import SEED, machine_facts
from windrow.apps.terminal.rows import as_lines
from windrow.apps.terminal.screen import ProgressLine, Screen
from windrow.history.adaptive_tree import AdaptiveTree

__all__ = ["FIGURES", "bench_history"]

FIGURES = (*(figure for each in EXPERIMENTS for figure in each.figures), TREE_FIGURE)
# Levels of the picture: fine enough for bursts of seconds.
DRAWN_US = (SECOND_US, 10 * SECOND_US, MINUTE_US, 10 * MINUTE_US, HOUR_US)
GENERATED_ONLY = "No real bursts given (--arrivals FILE, --connections FILE): generated ones."
_IN_TITLE = ("figures", "source")


def bench_history(
    screen: Screen,
    *,
    figures: Collection[int],
    quick: bool,
    out: Path | None,
    arrivals: Path | None = None,
    connections: Path | None = None,
) -> bool:
    """Runs the experiments of the figures asked for; False when storages did not agree."""
    wanted = set(figures) or set(FIGURES)
    folder = FigureFolder(out, screen)
    effort = QUICK_EFFORT if quick else FULL_EFFORT
    sources = _sources(screen, arrivals, connections, effort)
    machine = {**machine_facts(quick=quick), "sources": [_facts(each) for each in sources]}
    screen.event("machine", machine)
    chosen = [each for each in EXPERIMENTS if wanted & set(each.figures)]
    rows: list[dict[str, object]] = []
    with screen.progress("Running the paper's experiments") as progress:
        meter = _Meter(progress, sum(len(each.xs(effort)) for each in chosen) * len(sources))
        for experiment in chosen:
            try:
                halves = [meter.run(experiment, each, effort) for each in sources]
            except UnequalAnswersError as problem:
                screen.event("unequal", {"message": str(problem)})
                screen.note(f"No figures: {problem}", "bold red")
                return False
            for series in halves:
                _show(screen, series)
                rows += series.rows()
            for number in sorted(wanted & set(experiment.figures)):
                folder.draw(figure_of(number, halves))
    if TREE_FIGURE in wanted:
        rows += _show_tree(screen, sources[-1], out)
    folder.write(rows, machine)
    return True


def _sources(
    screen: Screen, arrivals: Path | None, connections: Path | None, effort: Effort
) -> list[Source]:
    """Uniform rows first, a day to draw last."""
    real = [] if arrivals is None else [packet_times(arrivals)]
    real += [] if connections is None else [connection_times(connections)]
    if not real:
        screen.note(GENERATED_ONLY)
        real = [generated_bursts(effort.generated_rows, SEED)]
    even = uniform(effort.generated_rows, SEED)
    return [each.first(effort.most_rows) for each in (even, *real)]


def _facts(source: Source) -> dict[str, object]:
    seconds = int(source.times[-1] - source.times[0]) / SECOND_US
    levels_s = [each / SECOND_US for each in source.granularities_us]
    return {
        "name": source.name,
        "rows": source.times.size,
        "seconds": seconds,
        "levels_s": levels_s,
    }


class _Meter:
    """Runs series and moves the progress line."""

    def __init__(self, progress: ProgressLine, total: int) -> None:
        self._progress = progress
        self._total = total
        self._begun = 0

    def run(self, experiment: Experiment, source: Source, effort: Effort) -> Series:
        # Kernels are compiled, or read from the disk, before anything is measured.
        experiment.run(uniform(2_000, SEED), QUICK_EFFORT, SEED, 1.0)

        def tell(x: float) -> None:
            detail = f"{experiment.title}, {source.name}: {x:g}"
            self._progress.show(detail, self._begun / self._total)
            self._begun += 1

        return run_series(experiment, source, effort, SEED, tell)


def _show(screen: Screen, series: Series) -> None:
    experiment = series.experiment
    shown = " and ".join(f"figure {number}" for number in experiment.figures)
    title = f"{shown}: {experiment.title}, {series.source}"
    screen.line(title[0].upper() + title[1:], "bold")
    screen.lines(as_lines(_table(series.rows())), "dim")
    screen.line()
    for row in series.rows():
        screen.event("measured", row)


def _table(rows: list[dict[str, object]]) -> pa.Table:
    names = [name for name in rows[0] if name not in _IN_TITLE]
    return pa.table({name: [row[name] for row in rows] for name in names})


def _show_tree(screen: Screen, source: Source, out: Path | None) -> list[dict[str, object]]:
    """The tree of the busiest day: its nodes by level and kind, and a picture of them."""
    times = source.busiest_day()
    spec = spec_for(DRAWN_US)
    storage = built(AdaptiveTree, spec, times, values_for(times.size, SEED)).history.storage
    assert isinstance(storage, AdaptiveTree)
    nodes = shape_of(storage, spec)
    rows = _counted(nodes, source.name)
    screen.line(f"Figure {TREE_FIGURE}: the tree of {times.size:,} rows, {source.name}", "bold")
    screen.lines(as_lines(_table(rows)), "dim")
    for row in rows:
        screen.event("measured", row)
    if out is not None:
        _draw_tree(screen, nodes, times, source.name, out)
    return rows


def _draw_tree(screen: Screen, nodes: list[Node], times: object, name: str, out: Path) -> None:
    # The folder has found matplotlib by now.
    plot = importlib.import_module("papers.history.tree_plot")
    out.mkdir(parents=True, exist_ok=True)
    path = out / f"figure-{TREE_FIGURE}.svg"
    title = f"Figure {TREE_FIGURE}: the tree over the busiest day, {name}"
    plot.draw_tree(nodes, DRAWN_US, times, title, path)
    screen.event("plot", {"figure": TREE_FIGURE, "path": str(path)})
    screen.note(f"{path} drawn")


def _counted(nodes: list[Node], name: str) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for level, step_us in reversed(list(enumerate(DRAWN_US))):
        kinds = [each.kind for each in nodes if each.level == level]
        counts = {kind: kinds.count(kind) for kind in ("inner", "leaf", "base", "virtual")}
        step = {"figures": [TREE_FIGURE], "source": name, "granularity_s": step_us // SECOND_US}
        rows.append({**step, **counts})
    return rows
