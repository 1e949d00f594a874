"""What an experiment gave: for each number of windows, every instance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from papers.governor.experiments import Effort, Experiment, Found

__all__ = ["Point", "Series", "run_series"]

DIGITS = 3
# How measures begin that are 0 or 1: of these only the share says something.
YES_OR_NO = "is_"


@dataclass(frozen=True)
class Point:
    """All instances of one number of windows."""

    windows: int
    found: tuple[Found, ...]

    @property
    def names(self) -> list[str]:
        """Contenders of these instances."""
        return list(self.found[0])

    def mean(self, name: str, measure: str) -> float:
        """Over the instances."""
        return float(np.mean([each[name][measure] for each in self.found]))

    def largest(self, name: str, measure: str) -> float:
        """Over the instances."""
        return max(each[name][measure] for each in self.found)


@dataclass(frozen=True)
class Series:
    """All points of an experiment."""

    experiment: Experiment
    points: tuple[Point, ...]

    def rows(self) -> list[dict[str, object]]:
        """One row for each number of windows and contender, for machines."""
        return [
            {
                "figures": list(self.experiment.figures),
                "drawn": self.experiment.name,
                "windows": point.windows,
                "instances": len(point.found),
                "contender": name,
                **_measures(point, name),
            }
            for point in self.points
            for name in point.names
        ]


def run_series(
    experiment: Experiment, effort: Effort, seed: int, tell: Callable[[int], None]
) -> Series:
    """Run all instances; `tell` hears each number of windows before.

    An instance has a seed by itself, so that it is the same whatever else is run.
    """
    points = []
    for windows in effort.windows[experiment.kind]:
        tell(windows)
        found = [
            experiment.run(
                windows, np.random.default_rng([seed, experiment.queries, windows, each])
            )
            for each in range(effort.instances[experiment.kind])
        ]
        points.append(Point(windows, tuple(found)))
    return Series(experiment, tuple(points))


def _measures(point: Point, name: str) -> dict[str, float]:
    measures = {}
    for measure in point.found[0][name]:
        if measure.startswith(YES_OR_NO):
            share = point.mean(name, measure)
            measures[f"{measure.removeprefix(YES_OR_NO)}_share"] = round(share, DIGITS)
            continue
        measures[f"{measure}_mean"] = round(point.mean(name, measure), DIGITS)
        measures[f"{measure}_max"] = round(point.largest(name, measure), DIGITS)
    return measures
