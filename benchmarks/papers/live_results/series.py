"""What one half of a figure gave: per window a figure for each structure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from papers.live_results.experiments import Effort, Experiment, Source, result_stream
from papers.live_results.measure import (
    STRUCTURES,
    Figure,
    measured_figures,
    structures_for,
)
from papers.paper_figure import Half, Line, PaperFigure

__all__ = ["Point", "Series", "figure_of", "run_series"]

# Colours that people who see few of them can tell apart (Okabe and Ito), and marks for the rest.
_STYLES = {
    "calendar": ("#D55E00", "o"),
    "ladder": ("#0072B2", "s"),
    "branch ladder, paper": ("#CC79A7", "v"),
    "branch ladder": ("#009E73", "^"),
    "heap": ("#E69F00", "x"),
    "wheel": ("#000000", "D"),
}


@dataclass(frozen=True)
class Point:
    """One window: what lived in it and what each structure took."""

    window_s: int
    mean_live: float
    results: float
    slides: int
    rounds: int
    figures: dict[str, Figure]


@dataclass(frozen=True)
class Series:
    """All windows of one experiment on one source of connections."""

    experiment: Experiment
    source: str
    slide_us: int
    points: tuple[Point, ...]
    left_out: tuple[int, ...]  # windows with too few results

    def rows(self) -> list[dict[str, object]]:
        """One row for each figure, for machines."""
        return [
            {
                "figure": self.experiment.figure,
                "query": self.experiment.query,
                "rows_per_s": self.experiment.rows_per_s,
                "connections": self.source,
                "slide_s": self.slide_us / 1e6,
                "window_s": point.window_s,
                "structure": name,
                "cpu_ns_per_result": round(figure.cpu_ns, 1),
                "empty_slide_ns": round(figure.empty_slide_ns, 1),
                "bytes": figure.held_bytes,
                "mean_live": round(point.mean_live, 1),
                "results": point.results,
                "slides": point.slides,
                "rounds": point.rounds,
            }
            for point in self.points
            for name, figure in point.figures.items()
        ]


def run_series(
    experiment: Experiment,
    source: Source,
    slide_us: int,
    effort: Effort,
    tell: Callable[[int], None],
) -> Series:
    """Measure all windows; `tell` hears each before it is run."""
    makers = structures_for(experiment.windows, slide_us)
    points, left_out = [], []
    for window_s in effort.windows_s:
        tell(window_s)
        stream = result_stream(experiment, source, window_s, slide_us, effort.span)
        if stream.accesses < effort.fewest_results:
            left_out.append(window_s)
            continue
        rounds = effort.rounds(stream.expiries.size)
        found = measured_figures(stream, makers, rounds)
        slides = stream.instants.size - stream.first_measured
        points.append(Point(window_s, stream.mean_live, stream.accesses, slides, rounds, found))
    return Series(experiment, source.name, slide_us, tuple(points), tuple(left_out))


def figure_of(halves: list[Series]) -> PaperFigure:
    """The paper's figure: one half for each source of connections."""
    experiment = halves[0].experiment
    return PaperFigure(
        experiment.figure,
        experiment.title,
        "CPU ns per result, in and out",
        [_half(series) for series in halves],
    )


def _half(series: Series) -> Half:
    windows = [point.window_s for point in series.points]
    lines = [
        Line(
            name,
            *_STYLES[name],
            windows,
            [point.figures[name].cpu_ns for point in series.points],
        )
        for name in STRUCTURES
    ]
    return Half(series.source, "window, s", lines, is_x_log=True)
