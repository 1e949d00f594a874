"""The two queries at two rates behind figures 4 to 7, on real and on generated connections."""

from __future__ import annotations

from dataclasses import dataclass

from papers.live_results.connections import Connections
from papers.live_results.distinct import distinct_results
from papers.live_results.joined import joined_results
from papers.live_results.result_stream import ResultStream, Span, Timing

__all__ = [
    "EXPERIMENTS", "FIGURES", "FULL", "QUICK", "Effort", "Experiment", "Source", "result_stream",
]  # fmt: skip

JOIN, DISTINCT = "join", "distinct"
_SECOND_US = 1_000_000


@dataclass(frozen=True)
class Experiment:
    """What one figure of the paper shows."""

    figure: int
    query: str
    rows_per_s: int

    @property
    def title(self) -> str:
        """The query and the rate, in words."""
        shown = "join of two links" if self.query == JOIN else "DISTINCT pairs"
        return f"{shown}, {self.rows_per_s} rows/s"

    @property
    def windows(self) -> int:
        """Windows of the query, which the paper's THRES depends on."""
        return 2 if self.query == JOIN else 1


@dataclass(frozen=True)
class Source:
    """Connections and how they are called."""

    name: str
    connections: Connections


@dataclass(frozen=True)
class Effort:
    """How much is measured.

    results_in_all: a point with many results wavers less; its rounds come to no more than these.
    fewest_results: a point with less is left out, for its time would be noise.
    """

    windows_s: tuple[int, ...]
    span: Span
    generated_rows: int
    most_rounds: int
    results_in_all: int = 15_000_000
    fewest_results: int = 2_000

    def rounds(self, results: int) -> int:
        """How often a point with so many results is measured."""
        return max(1, min(self.most_rounds, self.results_in_all // results))


EXPERIMENTS = (
    Experiment(4, JOIN, 5),
    Experiment(5, JOIN, 100),
    Experiment(6, DISTINCT, 5),
    Experiment(7, DISTINCT, 100),
)
FIGURES = tuple(experiment.figure for experiment in EXPERIMENTS)
# The paper has windows from 1 to 1000 s. A measured time of less than a window would miss how a
# ladder takes what has gathered in Top, once in about a window.
FULL = Effort((1, 3, 10, 30, 100, 300, 1000), Span(1.0, 30_000), 450_000, 5)
QUICK = Effort((10, 30, 100), Span(0.5, 5_000), 60_000, 1, fewest_results=500)


def result_stream(
    experiment: Experiment, source: Source, window_s: int, slide_us: int, span: Span
) -> ResultStream:
    """The query's results over the connections; links and pairs as the paper has them."""
    timing = Timing(experiment.rows_per_s, window_s * _SECOND_US, slide_us)
    if experiment.query == JOIN:
        return joined_results(source.connections.links(), timing, span)
    return distinct_results(source.connections.pairs, timing, span)
