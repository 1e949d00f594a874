"""How good the error bounds of narrowed windows are, and the spans that a tolerated error allows.

    python benchmarks/error_bounds.py                     # all streams, under a minute of CPU time
    python benchmarks/error_bounds.py --only even --only honeypot

Each stream is replayed. Every eighth of a range the tolerated span of each function and percentage
is asked for; at instants between, the answer is made from the rows of the narrowed window and from
all rows of the range, exactly (math.fsum). "any": windows narrowed by chance, from nothing to all
of the range. What is reported, over all answers and groups:

    outside     answers whose true error is above the bound given with them: must be 0
    tightness   bound / true error, the median over answers that are off and have a finite bound
                (and the mean, in JSON)
    infinite    answers with an infinite bound
    span        mean share of the range that the window was narrowed by
    within      answers whose true error was within the percentage
    promised    answers whose bound was within it too
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import time
from typing import Any

import numpy as np
from error_streams import STREAMS, ErrorStream, missing
from process_tree import machine
from rich.console import Console
from rich.table import Table

from windrow.governor.error_bounds.arrival_profile import ArrivalProfile
from windrow.governor.error_bounds.bounds import relative_error_bounds
from windrow.governor.error_bounds.tail import HeldValues
from windrow.governor.error_bounds.tolerance import tolerated_span_us

FUNCTIONS = ("count_star", "sum", "avg", "min", "max", "stddev_samp")
# None: any span.
PERCENTAGES = (2.0, 10.0, None)
Kind = tuple[str, float | None]
Found = list[tuple[float, float, float]]
JUDGED_PARTS = 8  # spans are asked for so often in a range
ANSWERS_A_PART = 3


def main() -> int:
    """Replay the streams; print a table and JSON lines."""
    options = _options()
    rows = []
    for name in options.only or STREAMS:
        file, make = STREAMS[name]
        if missing(file):
            print(f"{name} is left out: {file} is not here", file=sys.stderr)
            continue
        Console(stderr=True).print(f"replaying {name} ...")
        rows += _replayed(make(np.random.default_rng(options.seed)), options.seed)
    _show(rows)
    facts = {"command": " ".join(["python", *sys.argv]), "seed": options.seed}
    speeds = _speeds(options.seed)
    for row in [*rows, speeds]:
        print(json.dumps({**facts, "busy": os.getloadavg()[0], **machine(), **row}))
    return 0 if all(row["outside"] == 0 for row in rows) else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", action="append", choices=list(STREAMS))
    parser.add_argument("--seed", type=int, default=7)
    return parser.parse_args()


def _replayed(stream: ErrorStream, seed: int) -> list[dict[str, Any]]:
    """The figures of one stream, for each function and percentage."""
    random = np.random.default_rng(seed)
    profile = ArrivalProfile(stream.range_us, 1)
    kinds = [(function, percent) for function in FUNCTIONS for percent in PERCENTAGES]
    found: dict[Kind, Found] = {kind: [] for kind in kinds}
    part_us = stream.range_us // JUDGED_PARTS
    added = 0
    for clock_us in range(part_us, int(stream.times[-1]), part_us):
        added = _add(profile, stream, added, clock_us)
        spans = {kind: _span(profile, kind, clock_us, random) for kind in kinds}
        if clock_us < 2 * stream.range_us:
            continue
        offsets = np.sort(random.integers(0, part_us, ANSWERS_A_PART))
        for at_us in (clock_us + offsets).tolist():
            added = _add(profile, stream, added, at_us)
            for kind in kinds:
                found[kind] += _answers(stream, profile, kind[0], at_us, spans[kind])
    return [_figures(stream.name, *kind, found[kind]) for kind in kinds]


def _span(profile: ArrivalProfile, kind: Kind, clock_us: int, random: np.random.Generator) -> int:
    function, percent = kind
    if percent is None:
        return int(random.integers(0, profile.range_us + 1))
    measure = None if function == "count_star" else 0
    return tolerated_span_us(profile, function, measure, percent, clock_us)


def _add(profile: ArrivalProfile, stream: ErrorStream, added: int, until_us: int) -> int:
    end = int(np.searchsorted(stream.times, until_us, side="right"))
    rows = slice(added, end)
    profile.add(
        stream.times[rows], stream.groups[rows], stream.values[None, rows], stream.valid[None, rows]
    )
    profile.advance(until_us)
    return max(added, end)


def _answers(
    stream: ErrorStream, profile: ArrivalProfile, function: str, at_us: int, span_us: int
) -> Found:
    """True error, bound and share of the range that is lacking, for each group that has rows."""
    edge_us = at_us - stream.range_us + span_us
    begin, edge, end = np.searchsorted(
        stream.times, [at_us - stream.range_us, edge_us, at_us + 1]
    ).tolist()
    share = span_us / stream.range_us
    out = []
    for group in np.unique(stream.groups[begin:end]).tolist():
        held, truth = (_values(stream, function, group, first, end) for first in (edge, begin))
        said, exact = _aggregate(function, held), _aggregate(function, truth)
        mean = np.array([_aggregate("avg", held) if held.size else 0.0])
        measure = None if function == "count_star" else 0
        tail = profile.tail(
            np.array([at_us]), np.array([edge_us]), np.array([group], np.int32), measure, mean
        )
        known = HeldValues(np.array([float(held.size)]), np.array([said]))
        bound = float(relative_error_bounds(function, tail, known)[0])
        out.append((_relative_error(said, exact), bound, share))
    return out


def _values(stream: ErrorStream, function: str, group: int, first: int, end: int) -> Any:
    rows = slice(first, end)
    chosen = stream.groups[rows] == group
    if function != "count_star":
        chosen &= stream.valid[rows] == 1
    return stream.values[rows][chosen]


def _aggregate(function: str, values: Any) -> float:
    """The answer, exactly; NaN for NULL."""
    if function == "count_star":
        return float(values.size)
    if values.size < (2 if function == "stddev_samp" else 1):
        return math.nan
    if function in ("min", "max"):
        return float(getattr(np, function)(values))
    total = math.fsum(values)
    if function == "sum":
        return total
    mean = total / values.size
    if function == "avg":
        return mean
    # The mean is rounded; what that adds is taken away again.
    distances = values - mean
    squares = math.fsum(distances * distances) - math.fsum(distances) ** 2 / values.size
    return math.sqrt(squares / (values.size - 1))


def _relative_error(said: float, exact: float) -> float:
    if said == exact or (math.isnan(said) and math.isnan(exact)):
        return 0.0
    if math.isnan(said) or math.isnan(exact) or exact == 0:
        return math.inf
    return abs(said - exact) / abs(exact)


def _figures(name: str, function: str, percent: float | None, found: Found) -> dict[str, Any]:
    errors, bounds, spans = (np.array(each) for each in zip(*found, strict=True))
    is_off = (errors > 1e-9) & np.isfinite(bounds)
    tightness = bounds[is_off] / errors[is_off]
    allowed = math.inf if percent is None else percent / 100
    return {
        "stream": name, "function": function, "percent": percent, "answers": len(found),
        "outside": int((errors > bounds).sum()),
        "tightness": round(float(np.median(tightness)), 2) if is_off.any() else None,
        "mean_tightness": round(float(tightness.mean()), 2) if is_off.any() else None,
        "infinite": float(np.isinf(bounds).mean()),
        "span": float(spans.mean()),
        "within": float((errors <= allowed).mean()),
        "promised": float((bounds <= allowed).mean()),
    }  # fmt: skip


def _speeds(seed: int) -> dict[str, Any]:
    """Nanoseconds a row that is added, beside NumPy's count and sum by pane; a span's cost."""
    random = np.random.default_rng(seed)
    count, range_us = 1_000_000, 60_000_000
    times = np.sort(random.integers(0, 3 * range_us, count))
    groups, valid = np.zeros(count, np.int32), np.ones((1, count), np.uint8)
    values = random.normal(100, 20, (1, count))
    profile = ArrivalProfile(range_us, 1)
    profile.add(times[:1], groups[:1], values[:, :1], valid[:, :1])
    began = time.process_time()
    profile.add(times, groups, values, valid)
    added = time.process_time() - began
    began = time.process_time()
    panes = times // profile.pane_us
    np.bincount(panes)
    np.bincount(panes, values[0])
    baseline = time.process_time() - began
    began = time.process_time()
    for function in FUNCTIONS:
        measure = None if function == "count_star" else 0
        tolerated_span_us(profile, function, measure, 2.0, 3 * range_us)
    spans = (time.process_time() - began) / len(FUNCTIONS)
    found = {
        "ns_a_row": added / count * 1e9, "numpy_ns_a_row": baseline / count * 1e9,
        "ms_a_span": spans * 1e3, "profile_bytes": profile.nbytes,
    }  # fmt: skip
    print(", ".join(f"{name}: {figure:,.2f}" for name, figure in found.items()))
    return found


def _show(rows: list[dict[str, Any]]) -> None:
    table = Table(title="Answers from windows narrowed by the tolerated span")
    for heading in ("stream", "function", "ERROR %"):
        table.add_column(heading)
    shares = ("span", "within", "promised", "infinite")
    for heading in ("answers", "outside", "tightness", *shares):
        table.add_column(heading, justify="right")
    for row in rows:
        tightness = "-" if row["tightness"] is None else f"{row['tightness']:,.2f}"
        percent = "any" if row["percent"] is None else f"{row['percent']:g}"
        table.add_row(
            row["stream"], row["function"], percent, f"{row['answers']:,}",
            str(row["outside"]), tightness, *(f"{row[name]:.1%}" for name in shares),
        )  # fmt: skip
    Console(width=130).print(table)


if __name__ == "__main__":
    sys.exit(main())
