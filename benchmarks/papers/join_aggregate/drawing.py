"""A panel's series as one of the plots of a figure."""

from __future__ import annotations

from collections.abc import Sequence

from papers.join_aggregate.series import PanelSeries
from papers.paper_figure import Half, Line, PaperFigure

__all__ = ["figure_of"]

# Below it a difference of two measured times says nothing, and a logarithm needs something.
LEAST_US = 0.01

# Colours that people who see few of them can tell apart (Okabe and Ito), and marks for the rest.
_STYLES = {
    "pipelined": ("#D55E00", "o"),
    "incremental": ("#0072B2", "s"),
    "charged": ("#009E73", "^"),
    "factorised": ("#000000", "D"),
}


def figure_of(number: int, panels: Sequence[PanelSeries]) -> PaperFigure:
    """The figure of this number, which is the experiment's first one if it shows times."""
    experiment = panels[0].panel.experiment
    is_time = number == experiment.figures[0]
    return PaperFigure(
        number,
        experiment.title,
        "CPU µs per arrival" if is_time else "bytes",
        [_half(series, is_time) for series in panels],
    )


def _half(series: PanelSeries, is_time: bool) -> Half:
    experiment = series.panel.experiment
    lines = []
    for algorithm, figures in series.figures.items():
        heights = [max(each.own_us, LEAST_US) if is_time else each.held_bytes for each in figures]
        lines.append(Line(experiment.labels[algorithm], *_STYLES[algorithm], series.xs, heights))
    # At the paper's rate it is mostly the fixed cost: a logarithm would show its noise.
    is_y_log = not (is_time and series.panel.times == 1)
    return Half(series.panel.title, experiment.x_label, lines, is_y_log=is_y_log)
