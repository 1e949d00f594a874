"""What is run behind figures 3 to 5 of the paper, and figures 6 and 7, which it does not have."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from papers.history.bursts import Source
from papers.history.measure import (
    FULL,
    STORAGES,
    TREE,
    asked_us,
    built,
    check_equal,
    spec_for,
    values_for,
)
from papers.history.slices import SLICES, Slices
from windrow.history.history import History

__all__ = [
    "BUILDING", "EXPERIMENTS", "FINENESS", "FULL_EFFORT", "QUICK_EFFORT", "RANGES", "TREE_FIGURE",
    "Effort", "Experiment", "Found",
]  # fmt: skip

# Of one point: by contender, each measure by its name.
Found = dict[str, dict[str, float]]
TREE_FIGURE = 7
CHECKED_RANGES = 10
FAN_OUT = 10
LEVELS = 4


@dataclass(frozen=True)
class Effort:
    """How much is measured.

    shares: of the rows, as a stream grows; lengths: of ranges, as shares of all time;
    rows_a_node: means over the nodes of the finest level.
    """

    generated_rows: int
    most_rows: int
    shares: tuple[float, ...]
    lengths: tuple[float, ...]
    rows_a_node: tuple[float, ...]
    fineness_rows: int
    ranges: int
    rounds: int


@dataclass(frozen=True)
class Experiment:
    """What figures show; run: all points of a source, `tell` hears each before it is run."""

    figures: tuple[int, ...]
    title: str
    x_name: str
    xs: Callable[[Effort], tuple[float, ...]]
    run: Callable[[Source, Effort, int, float], tuple[float, Found]]


def _build(source: Source, effort: Effort, seed: int, share: float) -> tuple[float, Found]:
    """Rows so far, and what each storage takes for them."""
    part = source.first(round(share * source.times.size))
    found, _ = _built(part, effort, seed)
    return part.times.size, found


def _ask(source: Source, effort: Effort, seed: int, length: float) -> tuple[float, Found]:
    """Random ranges of a length, in percent of all time."""
    _, histories = _built(source, Effort(**{**vars(effort), "rounds": 1}), seed)
    ranges = _random_ranges(source, length, effort.ranges, seed)
    check_equal(histories, ranges)
    slices = Slices(source.times, values_for(source.times.size, seed))
    slices.check(histories[TREE], ranges)
    found = {
        name: {"cpu_us": asked_us(history, ranges, effort.rounds)}
        for name, history in histories.items()
    }
    found[SLICES] = {"cpu_us": slices.asked_us(ranges, effort.rounds)}
    return 100 * length, found


def _refine(source: Source, effort: Effort, seed: int, rows: float) -> tuple[float, Found]:
    """So many rows a node of the finest level, in the mean; four levels, each of ten nodes."""
    part = source.first(effort.fineness_rows)
    span_us = int(part.times[-1] - part.times[0])
    finest_us = max(1, round(rows * span_us / part.times.size))
    granularities_us = tuple(finest_us * FAN_OUT**level for level in range(LEVELS))
    once = Effort(**{**vars(effort), "rounds": 1})
    found, _ = _built(Source(part.name, part.times, granularities_us), once, seed)
    share = found[TREE]["bytes"] / found[FULL]["bytes"]
    return rows, {source.name: {"share_of_full": share}}


def _built(source: Source, effort: Effort, seed: int) -> tuple[Found, dict[str, History]]:
    """What every storage takes for all rows; their answers were equal."""
    spec = spec_for(source.granularities_us)
    values = values_for(source.times.size, seed)
    histories: dict[str, History] = {}
    spent: dict[str, list[float]] = {name: [] for name in STORAGES}
    for _ in range(effort.rounds):  # they take turns
        for name, make in STORAGES.items():
            done = built(make, spec, source.times, values)
            histories[name] = done.history
            spent[name].append(done.cpu_ms)
    check_equal(histories, _random_ranges(source, None, CHECKED_RANGES, seed))
    found = {
        name: {"cpu_ms": float(np.median(spent[name])), "bytes": float(history.nbytes)}
        for name, history in histories.items()
    }
    return found, histories


def _random_ranges(
    source: Source, length: float | None, count: int, seed: int
) -> list[tuple[int, int]]:
    """Ranges between borders of the finest level, without which full pre-computation is in doubt.

    length: a share of all time; None: of any length.
    """
    step_us = source.granularities_us[0]
    first, end = int(source.times[0]) // step_us, int(source.times[-1]) // step_us + 1
    random = np.random.default_rng([seed, count])
    if length is None:
        pairs = np.sort(random.integers(first, end + 1, (count, 2)), axis=1)
    else:
        nodes = max(1, round(length * (end - first)))
        starts = random.integers(first, end - nodes + 1, count)
        pairs = np.stack([starts, starts + nodes], axis=1)
    return [(int(since) * step_us, int(until) * step_us) for since, until in pairs]


BUILDING = Experiment(
    (3, 4), "space and time to build", "rows", lambda effort: effort.shares, _build
)
RANGES = Experiment(
    (5,), "response time of random ranges", "length_percent", lambda effort: effort.lengths, _ask
)
FINENESS = Experiment(
    (6,), "space of the tree", "rows_a_node", lambda effort: effort.rows_a_node, _refine
)
EXPERIMENTS = (BUILDING, RANGES, FINENESS)
FULL_EFFORT = Effort(
    generated_rows=1_000_000, most_rows=1_000_000, shares=(0.2, 0.4, 0.6, 0.8, 1.0),
    lengths=(0.0001, 0.001, 0.01, 0.1, 1.0), rows_a_node=(0.1, 0.3, 1, 3, 10, 30, 100),
    fineness_rows=300_000, ranges=10, rounds=3,
)  # fmt: skip
QUICK_EFFORT = Effort(
    generated_rows=40_000, most_rows=40_000, shares=(0.5, 1.0), lengths=(0.01, 0.5),
    rows_a_node=(0.5, 10), fineness_rows=20_000, ranges=10, rounds=1,
)  # fmt: skip
