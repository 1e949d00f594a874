"""Figures as SVG, drawn by matplotlib: the one module here that needs it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing
from matplotlib.ticker import NullLocator

from papers.paper_figure import Half, PaperFigure

__all__ = ["draw"]

# Texts stay texts, and the same figures give the same file.
_SETTINGS: Any = {"svg.fonttype": "none", "svg.hashsalt": "windrow", "font.size": 9}


def draw(figure: PaperFigure, path: Path) -> None:
    """One figure of the paper: its halves side by side."""
    count = len(figure.halves)
    with mpl.rc_context(_SETTINGS):
        drawing = Drawing(figsize=(4.2 * max(count, 1.3), 3.4), layout="constrained")
        all_axes = drawing.subplots(1, count, squeeze=False)[0]
        for place, (axes, half) in enumerate(zip(all_axes, figure.halves, strict=True)):
            _draw_half(axes, half)
            if place == 0:
                axes.set_ylabel(figure.y_label)
                axes.legend(frameon=False, fontsize=8)
        drawing.suptitle(f"Figure {figure.number}: {figure.title}", fontsize=10)
        drawing.savefig(path, format="svg", metadata={"Date": None})


def _draw_half(axes: Axes, half: Half) -> None:
    for line in half.lines:
        axes.plot(
            line.xs, line.ys, color=line.colour, marker=line.mark, markersize=4, label=line.label
        )
    if half.is_y_log:
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)
    ticks = sorted({x for line in half.lines for x in line.xs})
    if half.is_x_log:
        axes.set_xscale("log")
        axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xticks(ticks, [f"{x:g}" for x in ticks])
    axes.set_xlabel(half.x_label)
    axes.set_title(half.title, fontsize=9)
    axes.grid(True, which="major", alpha=0.3)
