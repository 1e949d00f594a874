"""What a figure of a paper shows, before anything is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Half", "Line", "PaperFigure"]


@dataclass(frozen=True)
class Line:
    """One line of a plot; x and y have one entry for each point."""

    label: str
    colour: str
    mark: str
    xs: Sequence[float]
    ys: Sequence[float]


@dataclass(frozen=True)
class Half:
    """One of the plots that stand side by side."""

    title: str
    x_label: str
    lines: Sequence[Line]
    is_x_log: bool = False
    is_y_log: bool = True


@dataclass(frozen=True)
class PaperFigure:
    """A figure under the number that it has in the paper."""

    number: int
    title: str
    y_label: str
    halves: Sequence[Half]
