"""What a panel's run gave: per algorithm a figure for each place on the x axis."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from papers.join_aggregate.experiments import ALGORITHMS, Panel
from papers.join_aggregate.measure import Figure, measured_figures

__all__ = ["PanelSeries", "run_panel"]


@dataclass(frozen=True)
class PanelSeries:
    """A panel with its figures."""

    panel: Panel
    xs: tuple[float, ...]
    figures: dict[str, tuple[Figure, ...]]  # by algorithm, one for each x

    def rows(self) -> list[dict[str, object]]:
        """One row for each figure, for machines."""
        experiment = self.panel.experiment
        return [
            {
                "experiment": experiment.name,
                "figures": list(experiment.figures),
                "rate_times": self.panel.times,
                "x": x,
                "algorithm": algorithm,
                "paper_name": experiment.labels[algorithm],
                "cpu_us_per_arrival": round(figure.cpu_us, 3),
                "own_us_per_arrival": round(figure.own_us, 3),
                "bytes": figure.held_bytes,
                "rows_held": figure.held_rows,
                "arrivals": figure.arrivals,
            }
            for algorithm, figures in self.figures.items()
            for x, figure in zip(self.xs, figures, strict=True)
        ]


def run_panel(panel: Panel, seed: int, tell: Callable[[float], None]) -> PanelSeries:
    """Measure all points of the panel; `tell` hears x before each."""
    xs: list[float] = []
    figures: dict[str, list[Figure]] = {name: [] for name in ALGORITHMS}
    for point in panel.points:
        tell(point.xs[0])
        xs += point.xs
        found = measured_figures(point.setting, ALGORITHMS, seed=seed, repeats=panel.repeats)
        for name, each in found.items():
            figures[name] += each
    return PanelSeries(panel, tuple(xs), {name: tuple(each) for name, each in figures.items()})
