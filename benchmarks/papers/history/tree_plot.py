"""The tree itself as SVG, drawn by matplotlib: nodes as boxes, by level, over the time of a day."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure as Drawing
from matplotlib.patches import Patch

from papers.history.bursts import DAY_US, HOUR_US, Longs
from papers.history.tree_shape import Node
from windrow.event_time import show_span

__all__ = ["draw_tree"]

_SETTINGS: Any = {"svg.fonttype": "none", "svg.hashsalt": "windrow", "font.size": 9}
_COLOURS = {
    "inner": ("#9BB7D4", "split: sum of the nodes below"),
    "leaf": ("#F0B35A", "leaf: keeps its rows"),
    "base": ("#B0413E", "finest level: only aggregates"),
}
ENLARGED_US = 20 * 60_000_000  # around the busiest five minutes
_BIN_US = 5 * 60_000_000
# White edges part boxes that are wide enough to have them, as parts of all that is shown.
_EDGED_SHARE = 0.004


def draw_tree(
    nodes: Sequence[Node], steps_us: Sequence[int], times: Longs, title: str, path: Path
) -> None:
    """Rows by time above, below them the nodes that hold them; on the right a part, enlarged."""
    day_us = int(times[0]) // DAY_US * DAY_US
    busy_us = _busiest_us(times - day_us)
    shown = [
        (0, DAY_US, HOUR_US, "hour of the day", _BIN_US),
        (busy_us, busy_us + ENLARGED_US, 60_000_000, _clock(busy_us), 10_000_000),
    ]
    with mpl.rc_context(_SETTINGS):
        drawing = Drawing(figsize=(10.5, 4.8), layout="constrained")
        grid = drawing.subplots(
            2, 2, sharex="col", height_ratios=(1, 2), width_ratios=(3, 2), squeeze=False
        )
        for place, (since_us, until_us, unit_us, label, bin_us) in enumerate(shown):
            rows, boxes = grid[0][place], grid[1][place]
            _draw_rows(rows, times - day_us, (since_us, until_us), unit_us, bin_us)
            _draw_boxes(boxes, nodes, steps_us, day_us + since_us, (until_us - since_us, unit_us))
            boxes.set_xlabel(label)
            boxes.set_xlim(0, (until_us - since_us) / unit_us)
        grid[1][0].set_xticks(range(0, 25, 3))
        grid[1][0].set_yticks(range(len(steps_us)), _level_labels(nodes, steps_us))
        grid[1][1].set_yticks([])
        patches = [Patch(facecolor=colour, label=label) for colour, label in _COLOURS.values()]
        drawing.legend(
            handles=patches, frameon=False, fontsize=8, ncols=3, loc="outside lower center"
        )
        drawing.suptitle(title, fontsize=10)
        drawing.savefig(path, format="svg", metadata={"Date": None})


def _busiest_us(times: Longs) -> int:
    """Where the enlarged part begins: its second quarter is the busiest five minutes."""
    counts = np.bincount(times // _BIN_US)
    begin_us = int(counts.argmax()) * _BIN_US - ENLARGED_US // 4
    return min(max(begin_us, 0), DAY_US - ENLARGED_US)


def _clock(instant_us: int) -> str:
    minutes = instant_us // 60_000_000
    return f"minutes from {minutes // 60}:{minutes % 60:02}"


def _level_labels(nodes: Sequence[Node], steps_us: Sequence[int]) -> list[str]:
    labels = []
    for level, step_us in enumerate(steps_us):
        count = sum(1 for each in nodes if each.level == level and each.kind != "virtual")
        labels.append(f"{show_span(step_us)}\n{count:,} nodes")
    return labels


def _draw_rows(
    axes: Axes, times: Longs, span_us: tuple[int, int], unit_us: int, bin_us: int
) -> None:
    bins = np.arange(span_us[0], span_us[1] + 1, bin_us)
    counts = np.histogram(times, bins)[0]
    axes.stairs(
        np.maximum(counts, 0.5), (bins - span_us[0]) / unit_us, baseline=0.5, fill=True,
        color="#555555",
    )  # fmt: skip
    axes.set_yscale("log")
    axes.set_ylim(bottom=0.5)
    axes.set_ylabel(f"rows in {show_span(bin_us)}")
    axes.grid(True, alpha=0.3)


def _draw_boxes(
    axes: Axes,
    nodes: Sequence[Node],
    steps_us: Sequence[int],
    since_us: int,
    scale: tuple[int, int],
) -> None:
    """scale: the length that is shown, and the unit of its axis."""
    length_us, unit_us = scale
    for level, step_us in enumerate(steps_us):
        for kind, (colour, _) in _COLOURS.items():
            starts = [
                (each.start_us - since_us) / unit_us
                for each in nodes
                if each.level == level
                and each.kind == kind
                and since_us - step_us < each.start_us < since_us + length_us
            ]
            low, high, width = level - 0.4, level + 0.4, step_us / unit_us
            corners = [
                [(left, low), (left + width, low), (left + width, high), (left, high)]
                for left in starts
            ]
            edge = "#FFFFFF" if step_us > _EDGED_SHARE * length_us else "none"
            boxes = PolyCollection(corners, facecolors=colour, edgecolors=edge, linewidths=0.4)
            axes.add_collection(boxes)
    axes.set_ylim(-0.5, len(steps_us) - 0.5)
