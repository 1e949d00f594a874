"""Figures as SVG, drawn by matplotlib: the one module here that needs it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing

from windrow.bench.series import PanelSeries

__all__ = ["draw"]

# Below it a difference of two measured times says nothing, and a logarithm needs something.
LEAST_US = 0.01

# Colours that people who see few of them can tell apart (Okabe and Ito), and marks for the rest.
_STYLES = {
    "pipelined": ("#D55E00", "o"),
    "incremental": ("#0072B2", "s"),
    "charged": ("#009E73", "^"),
    "factorised": ("#000000", "D"),
}
# Texts stay texts, and the same figures give the same file.
_SETTINGS: Any = {"svg.fonttype": "none", "svg.hashsalt": "windrow", "font.size": 9}


def draw(number: int, panels: Sequence[PanelSeries], path: Path) -> None:
    """One figure of the paper: its panels side by side."""
    experiment = panels[0].panel.experiment
    is_time = number == experiment.figures[0]
    with mpl.rc_context(_SETTINGS):
        drawing = Drawing(figsize=(8.4, 3.4), layout="constrained")
        for place, (axes, series) in enumerate(
            zip(drawing.subplots(1, len(panels)), panels, strict=True)
        ):
            _draw_panel(axes, series, is_time)
            if place == 0:
                axes.set_ylabel("CPU µs per arrival" if is_time else "bytes")
                axes.legend(frameon=False, fontsize=8)
        drawing.suptitle(f"Figure {number}: {experiment.title}", fontsize=10)
        drawing.savefig(path, format="svg", metadata={"Date": None})


def _draw_panel(axes: Axes, series: PanelSeries, is_time: bool) -> None:
    experiment = series.panel.experiment
    for algorithm, figures in series.figures.items():
        colour, mark = _STYLES[algorithm]
        heights = [max(each.own_us, LEAST_US) if is_time else each.held_bytes for each in figures]
        label = experiment.labels[algorithm]
        axes.plot(series.xs, heights, color=colour, marker=mark, markersize=4, label=label)
    if is_time and series.panel.times == 1:
        axes.set_ylim(bottom=0)  # mostly the fixed cost: a logarithm would show its noise
    else:
        axes.set_yscale("log")
    axes.set_xticks(series.xs)
    axes.set_xlabel(experiment.x_label)
    axes.set_title(series.panel.title, fontsize=9)
    axes.grid(True, which="major", alpha=0.3)
