"""One algorithm on one setting: CPU time of an arrival, bytes held, and all that it answered."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from papers.join_aggregate.arrivals import (
    SCHEMA,
    STREAMS,
    Arrivals,
    Setting,
    phase_arrivals,
)
from papers.join_aggregate.truth import true_result
from windrow.embedded.history_query import EmbeddedHistoryQuery
from windrow.embedded.query import EmbeddedQuery
from windrow.embedded.session import EmbeddedSession

__all__ = ["Figure", "UnequalAnswersError", "measured_figures"]

MEMORY = "8 GB"
FILLING_ROWS = 20_000
Pushes = list[tuple[str, pa.Table]]


class UnequalAnswersError(Exception):
    """An algorithm's answers are not those of the others, or not the truth."""


@dataclass(frozen=True)
class Figure:
    """What an arrival cost in one phase, and what was held at its end.

    fixed_us: its part of the fixed cost of the pushes, that is, of as many pushes of one row each
    to empty windows; 0 where a push is one row, as the paper has it.
    """

    cpu_us: float
    fixed_us: float
    held_bytes: int
    held_rows: int
    arrivals: int

    @property
    def own_us(self) -> float:
        """What the arrival cost beside the fixed cost."""
        return self.cpu_us - self.fixed_us


@dataclass
class _Outcome:
    seconds: list[float]
    held_bytes: list[int]
    held_rows: list[int]
    results: list[pa.Table]
    changes: pa.Table


def measured_figures(
    setting: Setting, algorithms: Sequence[str], *, seed: int, repeats: int
) -> dict[str, list[Figure]]:
    """Per algorithm a figure for each measured phase: the least CPU time of the repeats.

    The algorithms take turns, and nothing is given out unless all of them put out the same changes
    at every instant and the true result at the end of every phase.
    """
    phases = phase_arrivals(setting, seed)
    truths = [true_result(setting, phases[: end + 1]) for end in range(1, len(phases))]
    best: dict[str, list[Figure]] = {}
    first: pa.Table | None = None
    for _ in range(repeats):
        for algorithm in algorithms:
            outcome = _run(setting, phases, algorithm, thin=False)
            if [_as_truth(setting, result) for result in outcome.results] != truths:
                raise UnequalAnswersError(f"{algorithm} is wrong on {setting.query}")
            first = outcome.changes if first is None else first
            if not outcome.changes.equals(first):
                raise UnequalAnswersError(f"{algorithm} and {algorithms[0]}: {setting.query}")
            figures = _figures(setting, phases, algorithm, outcome)
            best[algorithm] = _least(best.get(algorithm, figures), figures)
    return best


def _figures(
    setting: Setting, phases: list[Arrivals], algorithm: str, outcome: _Outcome
) -> list[Figure]:
    fixed = [0.0] * len(outcome.seconds)
    if setting.batch_rows > 1:
        fixed = _run(setting, phases, algorithm, thin=True).seconds
    return [
        Figure(
            cpu_us=outcome.seconds[i] / arrivals.count * 1e6,
            fixed_us=fixed[i] / arrivals.count * 1e6,
            held_bytes=outcome.held_bytes[i],
            held_rows=outcome.held_rows[i],
            arrivals=arrivals.count,
        )
        for i, arrivals in enumerate(phases[1:])
    ]


def _least(old: list[Figure], new: list[Figure]) -> list[Figure]:
    return [
        replace(a, cpu_us=min(a.cpu_us, b.cpu_us), fixed_us=min(a.fixed_us, b.fixed_us))
        for a, b in zip(old, new, strict=True)
    ]


def _run(setting: Setting, phases: list[Arrivals], algorithm: str, *, thin: bool) -> _Outcome:
    """Thin: only the first row of each push, and of the rows that fill the windows."""
    session = EmbeddedSession(MEMORY)
    for name in STREAMS[: setting.streams]:
        session.stream(name, SCHEMA, time="ts")
    query = session.query(setting.query, algorithm=algorithm)
    outcome = _Outcome([], [], [], [], pa.table({}))
    changes: list[pa.Table] = []
    for number, arrivals in enumerate(phases):
        pushes = arrivals.pushes(setting.batch_rows if number else FILLING_ROWS)
        if thin:
            pushes = [(stream, rows.slice(0, 1)) for stream, rows in pushes]
        seconds = _push_all(session, query, pushes, arrivals.end_us, changes)
        if number:
            held = session.windows()
            outcome.seconds.append(seconds)
            outcome.held_bytes.append(sum(held["bytes"].to_pylist()))
            outcome.held_rows.append(sum(held["rows"].to_pylist()))
            outcome.results.append(query.result())
    session.stop()
    outcome.changes = _in_order(changes)
    return outcome


def _push_all(
    session: EmbeddedSession,
    query: EmbeddedQuery | EmbeddedHistoryQuery,
    pushes: Pushes,
    end_us: int,
    changes: list[pa.Table],
) -> float:
    """Push the rows and end the phase; the CPU seconds of it, reading the changes not counted."""
    seconds = 0.0
    for stream, rows in pushes:
        began = time.process_time()
        session.push(stream, rows)
        seconds += time.process_time() - began
        changes.append(query.changes())
    began = time.process_time()
    for stream in query.plan.streams:
        session.advance(stream, to=end_us)
    seconds += time.process_time() - began
    changes.append(query.changes())
    return seconds


def _in_order(changes: list[pa.Table]) -> pa.Table:
    """All changes; those of one instant in one order, since algorithms are free in it."""
    table = pa.concat_tables(changes).combine_chunks()
    return table.sort_by([(name, "ascending") for name in table.column_names])


def _as_truth(setting: Setting, result: pa.Table) -> dict[int, int]:
    keys = result["k"].to_pylist() if setting.is_grouped else [-1]
    return dict(zip(keys, result["n"].to_pylist(), strict=True))
