"""What an experiment gave on one source, and the paper's figures from it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from papers.history.bursts import Source
from papers.history.experiments import BUILDING, FINENESS, Effort, Experiment, Found
from papers.history.measure import FULL, LIST, TREE
from papers.history.slices import SLICES
from papers.paper_figure import Half, Line, PaperFigure

__all__ = ["Point", "Series", "figure_of", "run_series"]

# Colours that people who see few of them can tell apart (Okabe and Ito), and marks for the rest.
_STYLES = {
    TREE: ("#000000", "D"),
    FULL: ("#0072B2", "s"),
    LIST: ("#D55E00", "o"),
    SLICES: ("#E69F00", "x"),
}
_SOURCE_STYLES = (("#0072B2", "s"), ("#D55E00", "o"), ("#009E73", "^"))
_MEGABYTES = 1e6


@dataclass(frozen=True)
class Point:
    """Where it was measured, and each contender's measures."""

    x: float
    found: Found


@dataclass(frozen=True)
class Series:
    """All points of one experiment on one source."""

    experiment: Experiment
    source: str
    points: tuple[Point, ...]

    def rows(self) -> list[dict[str, object]]:
        """One row for each point and contender, for machines."""
        return [
            {
                "figures": list(self.experiment.figures),
                "source": self.source,
                self.experiment.x_name: round(point.x, 4),
                "contender": name,
                **{measure: round(value, 4) for measure, value in measures.items()},
            }
            for point in self.points
            for name, measures in point.found.items()
        ]


def run_series(
    experiment: Experiment, source: Source, effort: Effort, seed: int, tell: Callable[[float], None]
) -> Series:
    """Measure all points; `tell` hears each before it is run."""
    points = []
    for x in experiment.xs(effort):
        tell(x)
        points.append(Point(*experiment.run(source, effort, seed, x)))
    return Series(experiment, source.name, tuple(points))


def figure_of(number: int, halves: Sequence[Series]) -> PaperFigure:
    """The figure of this number; one half for each source."""
    experiment = halves[0].experiment
    if experiment is FINENESS:
        lines = [
            Line(
                each.source, *style, [point.x for point in each.points],
                [100 * point.found[each.source]["share_of_full"] for point in each.points],
            )
            for each, style in zip(halves, _SOURCE_STYLES, strict=False)
        ]  # fmt: skip
        half = Half("", "rows a node of the finest level, mean", lines, True, is_y_log=False)
        title = f"{experiment.title}, percent of full pre-computation"
        return PaperFigure(number, title, "percent of bytes", [half])
    if experiment is BUILDING and number == experiment.figures[0]:
        parts = [_half(each, "bytes", _MEGABYTES) for each in halves]
        return PaperFigure(number, "space", "MB", parts)
    if experiment is BUILDING:
        parts = [_half(each, "cpu_ms", 1.0) for each in halves]
        return PaperFigure(number, "time to build", "CPU ms", parts)
    parts = [_half(each, "cpu_us", 1.0) for each in halves]
    return PaperFigure(number, experiment.title, "CPU µs a range", parts)


def _half(series: Series, measure: str, unit: float) -> Half:
    is_building = series.experiment is BUILDING
    xs = [round(point.x / 1000) if is_building else point.x for point in series.points]
    lines = [
        Line(name, *_STYLES[name], xs, [each.found[name][measure] / unit for each in series.points])
        for name in series.points[0].found
    ]
    label = "thousand rows" if is_building else "length, percent of all time"
    return Half(series.source, label, lines, is_x_log=not is_building, is_y_log=not is_building)
