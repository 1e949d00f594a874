"""The four experiments behind figures 2 to 7, each at the paper's rates and at higher ones.

At a few rows a second the fixed cost of a push hides what the algorithms do; the second panel of
each experiment multiplies the rate, and pushes many rows at a time (all answers stay the same: one
at every arrival). What the paper does not give is chosen here, and said beside it.
"""

from __future__ import annotations

from dataclasses import dataclass

from papers.join_aggregate.arrivals import ROW_BYTES, Phase, Setting

__all__ = ["EXPERIMENTS", "FIGURES", "Experiment", "Panel", "Point", "panels_of"]

SLOW_ROWS_PER_S = 100 / ROW_BYTES  # 100 bytes a second
FAST_ROWS_PER_S = 500 / ROW_BYTES
GROUPED_ROWS_PER_S = 100.0
# The paper has M = 20 hash buckets and says nothing of the keys: one key to a bucket.
BUCKETS = 20
SELECTIVE_KEYS = 100  # a selectivity of 0.01
WINDOW_S = 20.0  # of figures 4 and 5
SHORT_WINDOW_S = 10.0  # of figure 7
FALLING_SECONDS = 5
BATCH_ROWS = 4000
# Figures 2, 3 and 6 have window sizes on an axis that the text does not give.
WINDOWS_S = (10.0, 20.0, 30.0, 40.0, 50.0, 60.0)
PIPELINED, INCREMENTAL, CHARGED, FACTORISED = "pipelined", "incremental", "charged", "factorised"
ALGORITHMS = (PIPELINED, INCREMENTAL, CHARGED, FACTORISED)


@dataclass(frozen=True)
class Experiment:
    """What figures of the paper show: one of time, and where there are two, one of bytes."""

    name: str
    title: str
    x_label: str
    figures: tuple[int, ...]
    labels: dict[str, str]  # the paper's names
    times: float  # the second panel's rates


@dataclass(frozen=True)
class Point:
    """A run, and the places on the x axis of its measured phases."""

    setting: Setting
    xs: tuple[float, ...]


@dataclass(frozen=True)
class Panel:
    """One of the two halves of a figure."""

    experiment: Experiment
    times: float
    points: tuple[Point, ...]
    repeats: int

    @property
    def title(self) -> str:
        """How it is called on plots and tables."""
        if self.times == 1:
            return "the paper's rate, one row a push"
        return f"{self.times:g} times the rate, fixed cost of a push taken off"


_LABELS = {PIPELINED: "PC", INCREMENTAL: "IC", CHARGED: "TC", FACTORISED: "factorised"}
EXPERIMENTS = (
    Experiment("windows", "Even rate, windows grow", "window, s", (2, 3), _LABELS, 30),
    Experiment("falling-rate", "The rate falls", "second of falling rate", (4, 5), _LABELS, 20),
    Experiment(
        "groups", "GROUP BY the key, windows grow", "window, s", (6,),
        {name: label if name == FACTORISED else f"G{label}" for name, label in _LABELS.items()},
        5,
    ),
    Experiment(
        "streams", "More streams", "streams", (7,),
        {name: label if name == FACTORISED else f"M{label}" for name, label in _LABELS.items()},
        8,
    ),
)  # fmt: skip
FIGURES = tuple(figure for experiment in EXPERIMENTS for figure in experiment.figures)


def panels_of(experiment: Experiment, *, quick: bool) -> list[Panel]:
    """Both halves; quick: three points, fewer rows and lower rates, to try it out."""
    higher = max(2.0, experiment.times / 10) if quick else experiment.times
    points = {
        "windows": _window_points,
        "falling-rate": _falling_points,
        "groups": _group_points,
        "streams": _stream_points,
    }[experiment.name]
    # At the paper's rate, and where the rate falls, there are few rows: more repeats find the quiet
    # ones.
    few, many = 2, 3 if quick else 6
    higher_repeats = many if experiment.name == "falling-rate" else few
    return [
        Panel(experiment, 1.0, tuple(points(1.0, quick)), many),
        Panel(experiment, higher, tuple(points(higher, quick)), higher_repeats),
    ]


def _window_points(times: float, quick: bool) -> list[Point]:
    return [
        _steady_point(window_s, _Steady(SLOW_ROWS_PER_S, BUCKETS, window_s), times, quick)
        for window_s in (WINDOWS_S[:3] if quick else WINDOWS_S)
    ]


def _group_points(times: float, quick: bool) -> list[Point]:
    rate, keys = GROUPED_ROWS_PER_S, SELECTIVE_KEYS
    return [
        _steady_point(window_s, _Steady(rate, keys, window_s, is_grouped=True), times, quick)
        for window_s in (WINDOWS_S[:3] if quick else WINDOWS_S)
    ]


def _stream_points(times: float, quick: bool) -> list[Point]:
    """The streams join on one key: the paper gives each join's selectivity and not its columns."""
    rate, keys = SLOW_ROWS_PER_S, SELECTIVE_KEYS
    return [
        _steady_point(streams, _Steady(rate, keys, SHORT_WINDOW_S, streams), times, quick)
        for streams in (range(2, 5) if quick else range(2, 7))
    ]


@dataclass(frozen=True)
class _Steady:
    rows_per_s: float
    keys: int
    window_s: float
    streams: int = 2
    is_grouped: bool = False


def _steady_point(x: float, steady: _Steady, times: float, quick: bool) -> Point:
    """Windows are full when the measured rows come: every arrival lets one row of each leave."""
    rate = steady.rows_per_s * times
    if times == 1:
        rows, batch_rows = (60 if quick else 240), 1
    else:
        rows, batch_rows = (2000 if quick else 2 * BATCH_ROWS), BATCH_ROWS
    setting = Setting(
        window_s=steady.window_s,
        keys=steady.keys,
        fill=Phase(steady.window_s, rate),
        measured=(Phase(rows / rate / steady.streams, rate),),
        streams=steady.streams,
        is_grouped=steady.is_grouped,
        batch_rows=batch_rows,
    )
    return Point(setting, (float(x),))


def _falling_points(times: float, _quick: bool) -> list[Point]:
    rate = FAST_ROWS_PER_S * times
    seconds = range(1, FALLING_SECONDS + 1)
    return [
        Point(
            Setting(
                window_s=WINDOW_S,
                keys=BUCKETS,
                fill=Phase(WINDOW_S, rate),
                measured=tuple(Phase(1.0, rate / second**2) for second in seconds),
                batch_rows=1 if times == 1 else BATCH_ROWS,
            ),
            tuple(float(second) for second in seconds),
        )
    ]
