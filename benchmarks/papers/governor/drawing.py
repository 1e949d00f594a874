"""Series as figures of the paper."""

from __future__ import annotations

from collections.abc import Sequence

from papers.governor.experiments import GROUPS, WIDTHS
from papers.governor.group_costs import AP, BEFORE, DP, PAPER_PERCENT
from papers.governor.series import Series
from papers.governor.solver_costs import EXACT, FEW_TRIES, MANY_TRIES, SOLVERS
from papers.governor.width_errors import AFTER, EQUAL, PROPORTIONAL, RANDOM
from papers.paper_figure import Half, Line, PaperFigure

__all__ = ["figure_of"]

# Colours that people who see few of them can tell apart (Okabe and Ito), and marks for the rest.
_STYLES = {
    RANDOM: ("#D55E00", "o"),
    EQUAL: ("#CC79A7", "v"),
    PROPORTIONAL: ("#0072B2", "s"),
    AFTER: ("#000000", "D"),
    BEFORE: ("#D55E00", "o"),
    AP: ("#0072B2", "s"),
    DP: ("#000000", "D"),
    FEW_TRIES: ("#E69F00", "x"),
    MANY_TRIES: ("#009E73", "^"),
    EXACT: ("#CC79A7", "v"),
}
_X_LABEL = "windows"


def figure_of(number: int, halves: Sequence[Series]) -> PaperFigure:
    """The figure of this number from the series that belong to it."""
    series = halves[0]
    title = f"{series.experiment.title}, {series.experiment.name}"
    if series.experiment.kind == WIDTHS:
        return PaperFigure(number, title, "seconds, mean", [_errors(series)])
    if series.experiment.kind == GROUPS and number == series.experiment.figures[0]:
        return PaperFigure(number, title, "kB, mean", [_shared(series)])
    if series.experiment.kind == GROUPS:
        title = f"(AP - DP) / DP, {series.experiment.name}"
        return PaperFigure(number, title, "percent", [_difference(series)])
    title = series.experiment.title
    return PaperFigure(number, title, "percent, mean", [_solvers(each) for each in halves])


def _errors(series: Series) -> Half:
    names = (RANDOM, EQUAL, PROPORTIONAL, AFTER)
    return _half(series, names, "error_s")


def _shared(series: Series) -> Half:
    half = _half(series, (BEFORE, DP), "shared_kb")
    return Half(half.title, half.x_label, half.lines, is_y_log=False)


def _difference(series: Series) -> Half:
    xs = [point.windows for point in series.points]
    means = [point.mean(AP, "above_dp_percent") for point in series.points]
    largest = [point.largest(AP, "above_dp_percent") for point in series.points]
    lines = [
        Line("largest", "#D55E00", "o", xs, largest),
        Line("mean", "#0072B2", "s", xs, means),
        Line(f"the paper's {PAPER_PERCENT:g} %", "#999999", "", xs, [PAPER_PERCENT] * len(xs)),
    ]
    return Half(_instances(series), _X_LABEL, lines, is_y_log=False)


def _solvers(series: Series) -> Half:
    half = _half(series, SOLVERS, "above_bound_percent")
    title = f"{series.experiment.name}, {half.title}"
    return Half(title, half.x_label, half.lines, is_y_log=False)


def _half(series: Series, names: Sequence[str], measure: str) -> Half:
    lines = []
    for name in names:
        points = [point for point in series.points if name in point.names]
        xs = [point.windows for point in points]
        lines.append(Line(name, *_STYLES[name], xs, [each.mean(name, measure) for each in points]))
    return Half(_instances(series), _X_LABEL, lines)


def _instances(series: Series) -> str:
    return f"{len(series.points[0].found)} instances a point"
