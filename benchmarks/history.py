"""The history tree: rows in, ranges out, memory; beside NumPy and a Python loop in the same run.

    python benchmarks/history.py                 # 100 million rows, a minute or two
    python benchmarks/history.py --rows 5000000  # to try it out

Rates are rows a second of CPU time of the thread, without making the rows. Levels are 1 second, 1
minute and 1 hour, all kept; 278 rows fall into a second, so that 100 million cover 100 hours. A
range query is timed in the kernel (the same range a thousand times in one call) and through the
API, with one value read from the answer. Every figure is reported only after answers were checked
against sums by second that NumPy made.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from process_tree import machine
from rich.console import Console
from rich.table import Table

from papers.rivals.full_precomputation import FullPrecomputation
from papers.rivals.sequential_list import SequentialList
from windrow.history.adaptive_tree import AdaptiveTree
from windrow.history.history import History
from windrow.history.spec import HistorySpec, levels_of
from windrow.history.storage import Reading
from windrow.schema import BIGINT, DOUBLE, Column

SECOND_US = 1_000_000
LEVELS = levels_of([(SECOND_US, None), (60 * SECOND_US, None), (3600 * SECOND_US, None)])
RECENT = levels_of(
    [(SECOND_US, 600 * SECOND_US), (60 * SECOND_US, 86_400 * SECOND_US), (3600 * SECOND_US, None)]
)
MEASURE = (Column("v", DOUBLE),)
KEY = (Column("k", BIGINT),)
ROWS_A_SECOND = 278
PUSH = 100_000
LOOP_ROWS = 300_000
GROUPS = 1_000
DAY_S = 86_400
REPEATS = 1_000
GOALS = {"ingest": 50e6, "grouped": 10e6, "kernel_ns": 1_000, "api_us": 20}


@dataclass
class Slots:
    """Sums by second (and group), as plain NumPy keeps them."""

    size: int
    count: np.ndarray = field(init=False)
    total: np.ndarray = field(init=False)
    least: np.ndarray = field(init=False)
    most: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        self.count, self.total = np.zeros(self.size, np.int64), np.zeros(self.size)
        self.least, self.most = np.full(self.size, np.inf), np.full(self.size, -np.inf)

    def add(self, slots: np.ndarray, values: np.ndarray) -> None:
        """Counts and sums by bincount over the slots of the batch, extremes one by one."""
        first, end = int(slots.min()), int(slots.max()) + 1
        self.count[first:end] += np.bincount(slots - first, minlength=end - first)
        self.total[first:end] += np.bincount(slots - first, values, minlength=end - first)
        np.minimum.at(self.least, slots, values)
        np.maximum.at(self.most, slots, values)


def main() -> int:
    """Run everything; print tables and a line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100_000_000)
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    report: dict[str, Any] = {"command": " ".join(sys.argv), **vars(options), **machine()}
    history, slots = ingest_plain(options.rows, options.seed, report)
    queries(history, slots, options.seed, report)
    ingest_grouped(max(options.rows // 10, PUSH), options.seed, report)
    memory(options.seed, report)
    print(json.dumps(report))
    return 0


def batches(rows: int, seed: int, rate: float) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Times in order, and values."""
    random = np.random.default_rng(seed)
    span_us = int(PUSH / rate * SECOND_US)
    for number in range(rows // PUSH):
        times = np.sort(random.integers(0, span_us, PUSH)) + number * span_us
        yield times, random.normal(20.0, 5.0, PUSH)


def ingest_plain(rows: int, seed: int, report: dict[str, Any]) -> tuple[History, Slots]:
    """Count, sum, min and max of one measure, without groups."""
    warm_up(HistorySpec(LEVELS, MEASURE))
    history = History(HistorySpec(LEVELS, MEASURE))
    slots = Slots(int(rows / ROWS_A_SECOND) + 2)
    spent = {"history": 0.0, "NumPy": 0.0, "Python loop": 0.0}
    looped = 0
    for times, values in batches(rows, seed, ROWS_A_SECOND):
        column = pa.array(values)
        spent["history"] += cpu(lambda t=times, c=column: push(history, t, {"v": c}))
        spent["NumPy"] += cpu(lambda t=times, v=values: slots.add(t // SECOND_US, v))
        if looped < LOOP_ROWS:
            spent["Python loop"] += cpu(lambda t=times, v=values: python_loop(t, v))
            looped += times.size
    taken = rows // PUSH * PUSH
    check_ranges(history, slots, seed)
    rates = {name: taken / seconds for name, seconds in spent.items()}
    rates["Python loop"] = looped / spent["Python loop"]
    report["ingest_rows_per_cpu_s"] = rates
    report["bytes_a_row"] = history.nbytes / taken
    show_rates(f"{taken:,} rows, one group: rows a CPU second", rates, GOALS["ingest"])
    return history, slots


def ingest_grouped(rows: int, seed: int, report: dict[str, Any]) -> None:
    """The same by group: many rows a second and group, and few."""
    spec = HistorySpec(RECENT, MEASURE, KEY)
    warm_up(spec)
    for name, rate in (("many rows a node", 200_000.0), ("17 rows a node", 17_000.0)):
        history = History(spec)
        slots = Slots((int(rows / rate) + 2) * GROUPS)
        spent = {"history": 0.0, "NumPy": 0.0}
        random = np.random.default_rng(seed + 1)
        for times, values in batches(rows, seed, rate):
            groups = random.integers(0, GROUPS, times.size)
            columns = {"v": pa.array(values), "k": pa.array(groups)}
            spent["history"] += cpu(lambda h=history, t=times, c=columns: push(h, t, c))
            places = times // SECOND_US * GROUPS + groups
            spent["NumPy"] += cpu(lambda s=slots, p=places, v=values: s.add(p, v))
        check_groups(history, slots)
        rates = {each: rows // PUSH * PUSH / seconds for each, seconds in spent.items()}
        report[f"grouped_rows_per_cpu_s, {name}"] = rates
        show_rates(f"{GROUPS:,} groups, {name}: rows a CPU second", rates, GOALS["grouped"])


def queries(history: History, slots: Slots, seed: int, report: dict[str, Any]) -> None:
    """Ranges of growing length: in the kernel, through the API, and NumPy over the seconds."""
    whole_s = slots.size - 2
    random = np.random.default_rng(seed)
    table = Table(title="Range queries (count, sum, min, max, second moment)")
    for heading in ("length", "kernel ns", "API us", "NumPy over seconds, us"):
        table.add_column(heading, justify="right")
    lengths = sorted({min(length, whole_s) for length in (1, 60, 600, 3600, DAY_S, whole_s)})
    report["queries"] = []
    for length_s in lengths:
        starts = random.integers(0, whole_s - length_s + 1, 50)
        row = {
            "length_s": length_s,
            "kernel_ns": median([kernel_ns(history, int(s), length_s) for s in starts[:20]]),
            "api_us": median([1e6 * api_s(history, int(s), length_s) for s in starts]),
            "numpy_us": median([1e6 * slices_s(slots, int(s), length_s) for s in starts]),
        }
        report["queries"].append(row)
        shown = [f"{length_s:,} s", *(f"{row[name]:,.1f}" for name in list(row)[1:])]
        table.add_row(*shown)
    Console().print(table)
    print(f"goals: {GOALS['kernel_ns']} ns in the kernel, {GOALS['api_us']} us through the API")


def memory(seed: int, report: dict[str, Any]) -> None:
    """A day of rows in the tree, in full pre-computation and as a plain list."""
    random = np.random.default_rng(seed)
    span_us = DAY_S * SECOND_US
    starts = random.integers(0, span_us, 60)
    burst = [start + random.integers(0, 20 * SECOND_US, 10_000) for start in starts]
    loads = {
        "uniform, 10 rows a second": random.integers(0, span_us, 10 * DAY_S),
        "uniform, 1 row a second": random.integers(0, span_us, DAY_S),
        "bursts": np.concatenate([*burst, random.integers(0, span_us, 2_000)]),
    }
    table = Table(title="One day at 1 s, 1 min and 1 h: adaptive tree, full, plain list")
    for heading in ("rows", "MB", "share of full", "build ms", "a random range, us"):
        table.add_column(heading, justify="right")
    report["memory"] = {}
    for name, times in loads.items():
        row = rivals(np.sort(times), seed)
        report["memory"][name] = row
        cells = (" / ".join(f"{value:,.2f}" for value in row[key]) for key in list(row)[:1])
        table.add_row(
            name, *cells, f"{row['share_of_full']:.3f}",
            " / ".join(f"{value:,.0f}" for value in row["build_ms"]),
            " / ".join(f"{value:,.0f}" for value in row["range_us"]),
        )  # fmt: skip
    Console(width=140).print(table)


def rivals(times: np.ndarray, seed: int) -> dict[str, Any]:
    """Megabytes, time to build and time of a range, of all three; their answers must be equal."""
    random = np.random.default_rng(seed)
    values = random.normal(20.0, 5.0, times.size)
    ranges = np.sort(random.integers(0, DAY_S, (50, 2)), axis=1) * SECOND_US
    megabytes, build_ms, range_us, answers = [], [], [], []
    for storage in (AdaptiveTree, FullPrecomputation, SequentialList):
        history = History(HistorySpec(LEVELS, MEASURE), storage)
        spent = 0.0
        for first in range(0, times.size, PUSH):
            part = slice(first, first + PUSH)
            column = {"v": pa.array(values[part])}
            spent += cpu(lambda h=history, p=part, c=column: push(h, times[p], c))
        build_ms.append(1e3 * spent)
        megabytes.append(history.nbytes / 1e6)
        # The first question after rows came brings the blocks up to date.
        history.snapshot(0, DAY_S * SECOND_US)
        found: list[Any] = []
        asked = cpu(
            lambda h=history, f=found: f.extend(h.snapshot(int(a), int(b)) for a, b in ranges)
        )
        range_us.append(1e6 * asked / len(ranges))
        answers.append(
            [(each.bounds("count").value, each.bounds("max", "v").value) for each in found]
        )
    assert answers[0] == answers[1] == answers[2], "the rivals differ"
    return {
        "megabytes": megabytes, "share_of_full": megabytes[0] / megabytes[1], "build_ms": build_ms,
        "range_us": range_us,
    }  # fmt: skip


def push(history: History, times: np.ndarray, columns: dict[str, pa.Array]) -> None:
    """One batch, after which the history is complete before its last second."""
    history.insert(times, columns)
    history.advance(int(times[0]) - 1)


def python_loop(times: np.ndarray, values: np.ndarray) -> None:
    """Count, sum, min and max by second in a dictionary."""
    nodes: dict[int, list[float]] = {}
    for time_us, value in zip(times.tolist(), values.tolist(), strict=True):
        node = nodes.get(time_us // SECOND_US)
        if node is None:
            nodes[time_us // SECOND_US] = [1, value, value, value]
            continue
        node[0] += 1
        node[1] += value
        node[2] = min(node[2], value)
        node[3] = max(node[3], value)


def kernel_ns(history: History, start_s: int, length_s: int) -> float:
    """Nanoseconds of one range, of many in one call."""
    codes = np.zeros(REPEATS, np.int64)
    since, until = start_s * SECOND_US, (start_s + length_s) * SECOND_US
    empty, reading = Reading(codes[:1], 1), Reading(codes, 1)
    alone = cpu(lambda: history.storage.read(empty, since, until, 0))
    return 1e9 * (cpu(lambda: history.storage.read(reading, since, until, 0)) - alone) / REPEATS


def api_s(history: History, start_s: int, length_s: int) -> float:
    """Seconds of a snapshot and one value of it."""
    since, until = start_s * SECOND_US, (start_s + length_s) * SECOND_US
    return cpu(lambda: [history.snapshot(since, until).bounds("sum", "v") for _ in range(20)]) / 20


def slices_s(slots: Slots, start_s: int, length_s: int) -> float:
    """Seconds of the four sums over slices."""
    part = slice(start_s, start_s + length_s)
    return cpu(
        lambda: (
            slots.count[part].sum(), slots.total[part].sum(), slots.least[part].min(),
            slots.most[part].max(),
        )
    )  # fmt: skip


def check_ranges(history: History, slots: Slots, seed: int) -> None:
    """Random ranges against the sums by second."""
    random = np.random.default_rng(seed)
    for first, end in np.sort(random.integers(0, slots.size, (200, 2)), axis=1).tolist():
        answer = history.snapshot(first * SECOND_US, end * SECOND_US)
        assert answer.is_exact, (first, end)
        count = int(slots.count[first:end].sum())
        assert answer.bounds("count").value == count, (first, end)
        if count:
            total = float(slots.total[first:end].sum())
            assert abs(answer.bounds("sum", "v").value - total) <= 1e-9 * abs(total) + 1e-9
            assert answer.bounds("min", "v").value == slots.least[first:end].min()
            assert answer.bounds("max", "v").value == slots.most[first:end].max()


def check_groups(history: History, slots: Slots) -> None:
    """All groups, over all time."""
    answer = history.snapshot(0, slots.size // GROUPS * SECOND_US)
    keys = answer.keys.column("k").to_numpy()
    count = slots.count.reshape(-1, GROUPS).sum(axis=0)
    most = slots.most.reshape(-1, GROUPS).max(axis=0)
    rows = answer.whole[1, ::3]
    assert np.array_equal(rows, count[keys])
    assert answer.bounds("max", "v").value == most[keys[0]]


def warm_up(spec: HistorySpec) -> None:
    """Have all kernels compiled."""
    history = History(spec)
    for times, values in batches(2 * PUSH, 1, 1_000.0):
        columns = {"v": pa.array(values), "k": pa.array(times % GROUPS)}
        push(history, times, columns)
    history.snapshot(0, 10 * SECOND_US).bounds("sum", "v")


def cpu(work: Callable[[], object]) -> float:
    """CPU seconds of the thread."""
    began = time.thread_time()
    work()
    return time.thread_time() - began


def median(figures: list[float]) -> float:
    """The middle one."""
    return float(np.median(figures))


def show_rates(title: str, rates: dict[str, float], goal: float) -> None:
    """One line for each contender."""
    table = Table(title=f"{title} (goal {goal / 1e6:,.0f} M)")
    for heading in ("", "M rows/s", "history is faster by"):
        table.add_column(heading, justify="right")
    for name, rate in rates.items():
        table.add_row(name, f"{rate / 1e6:,.2f}", f"{rates['history'] / rate:,.1f}x")
    Console().print(table)


if __name__ == "__main__":
    sys.exit(main())
