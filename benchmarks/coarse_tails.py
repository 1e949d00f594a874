"""Coarse tails beside dropping, at the same bytes: one window and a join, grouped by key.

    python benchmarks/coarse_tails.py                  # a million answers, some minutes of CPU time
    python benchmarks/coarse_tails.py --instants 20    # a tenth of it

Each stream is split into two of its rows, which join by key. Of a budget, a part of the bytes of
all rows of a range, dropping holds the newest rows and answers from these. Coarse tails keep cells
for all of the range, with panes as wide as the budget asks for, and no rows. At instants by chance
(no pane's border is meant) each aggregate of each group is compared with the exact one, by NumPy
over all rows. What is reported:

    outside     answers whose true error is above the bound given with them: must be 0
    dropping, cells   the mean true error of each, over answers where both are finite
    better      how many times smaller the error of cells is
    bound       the mean bound of cells; tightness: bound / true error, the median
    infinite    the share of answers of which the cells say that nothing is known
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from error_streams import STREAMS, missing
from numpy.typing import NDArray
from process_tree import machine
from rich.console import Console
from rich.table import Table

from windrow.governor.coarse.join_cells import JoinCells
from windrow.governor.error_bounds.bounds import completed_bounds
from windrow.plan.binder import bind
from windrow.plan.catalog import Catalog
from windrow.schema import StreamSchema, columns_of
from windrow.sql import parse_query

SHARES = (0.05, 0.1, 0.2, 0.4)
FUNCTIONS = ("COUNT(*)", "SUM(a.v)", "AVG(a.v)", "MIN(a.v)", "MAX(a.v)", "STDDEV(a.v)")
RANGE_US = 60_000_000
RANGES = 6
ROWS_A_RANGE = 20_000
KEYS = 20
ROW_BYTES = 20  # a time, a word and a code
INSTANTS = 270
Vector = NDArray[Any]


class Rows(NamedTuple):
    """Rows of one input, in the order of time."""

    times: Vector
    keys: Vector
    values: Vector

    def within(self, begin_us: int, end_us: int) -> Rows:
        """Those with begin <= time <= end."""
        first, last = np.searchsorted(self.times, [begin_us, end_us + 1])
        return Rows(*(column[first:last] for column in self))


def main() -> int:
    """Replay the streams; print a table and JSON lines."""
    options = _options()
    rows = []
    for name in options.only or KINDS:
        Console(stderr=True).print(f"replaying {name} ...")
        inputs = _made(name, np.random.default_rng(options.seed))
        if inputs is None:
            print(f"{name} is left out: its file is not here", file=sys.stderr)
            continue
        for form in ("window", "join"):
            for share in options.share or SHARES:
                random = np.random.default_rng(options.seed)
                found = _replayed(inputs, form, share, options.instants, random)
                rows.append({"stream": name, "form": form, "share": share, **found})
    _show(rows)
    facts = {"command": " ".join(["python", *sys.argv]), "busy": os.getloadavg()[0], **machine()}
    for row in rows:
        print(json.dumps({**facts, **row}))
    total = sum(row["answers"] for row in rows)
    outside = sum(row["outside"] for row in rows)
    print(f"{total:,} answers, {outside} outside of their bounds")
    return 0 if outside == 0 else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", action="append", choices=list(KINDS))
    parser.add_argument("--share", action="append", type=float)
    parser.add_argument("--instants", type=int, default=INSTANTS)
    parser.add_argument("--seed", type=int, default=7)
    return parser.parse_args()


# ---- streams


def _gaps(kind: str, random: np.random.Generator, count: int) -> Vector:
    gaps: Vector = random.exponential(1, count)
    if kind == "bursty":
        begins = random.random(count) < 0.0005
        gaps[begins] += random.exponential(6_000, int(begins.sum()))
    return gaps


def _made(kind: str, random: np.random.Generator) -> tuple[Rows, Rows] | None:
    """Both inputs of a stream."""
    if kind in STREAMS:
        file, make = STREAMS[kind]
        if missing(file):
            return None
        stream = make(random)
        keys = stream.groups if stream.groups.any() else random.integers(0, KEYS, stream.times.size)
        times = (stream.times * (RANGE_US / stream.range_us)).astype(np.int64)
        return _split(Rows(times, keys.astype(np.int64), np.nan_to_num(stream.values)))
    count = 2 * RANGES * ROWS_A_RANGE
    gaps = _gaps(kind, random, count)
    times = np.cumsum(gaps * (RANGES * RANGE_US / gaps.sum())).astype(np.int64)
    keys = random.integers(0, KEYS, count)
    if kind == "skewed":
        keys = np.minimum(random.zipf(1.3, count) - 1, KEYS - 1)
    return _split(Rows(times, keys, random.lognormal(2, 1, count)))


def _split(rows: Rows) -> tuple[Rows, Rows]:
    """Every other row is of the other input."""
    return Rows(*(each[::2] for each in rows)), Rows(*(each[1::2] for each in rows))


KINDS = ("uniform", "bursty", "skewed", "DEC-PKT-1-UDP", "honeypot", "temperature by device")

# ---- answers


def _replayed(
    inputs: tuple[Rows, Rows], form: str, share: float, instants: int, random: np.random.Generator
) -> dict[str, Any]:
    """The figures of one stream and budget."""
    used = inputs if form == "join" else inputs[:1]
    last = int(used[0].times[-1])
    rows = sum(each.times.size for each in used) * RANGE_US / last
    cells = JoinCells(_plan(form))
    cells.bytes_limit = int(share * rows * ROW_BYTES)
    errors, bounds, dropped, unknown, taken = [], [], [], 0, [0] * len(used)
    largest = 0
    for at in np.sort(random.integers(2 * RANGE_US, last, instants)).tolist():
        for number, each in enumerate(used):
            taken[number] = _take(cells, number, each, taken[number], at)
        cells.advance(at)
        largest = max(largest, cells.nbytes)
        whole = [each.within(at - RANGE_US, at) for each in used]
        held = [each.within(at - int(share * RANGE_US), at) for each in used]
        found = _compared(cells, at, _exact(whole), _exact(held))
        for one, bound, drop in found:
            unknown += not np.isfinite(bound)
            errors.append(one)
            bounds.append(bound)
            dropped.append(drop)
    return _figures(np.array(errors), np.array(bounds), np.array(dropped)) | {
        "budget": cells.bytes_limit,
        "bytes": largest,
    }


def _plan(form: str) -> Any:
    columns = columns_of("ts timestamp, k bigint, v double")
    catalog = Catalog(*(StreamSchema(name, columns, "ts", 0) for name in "ab"))
    source = "a [60 SECONDS]" + (" JOIN b [60 SECONDS] ON a.k = b.k" if form == "join" else "")
    return bind(
        parse_query(f"SELECT a.k, {', '.join(FUNCTIONS)} FROM {source} GROUP BY a.k"), catalog
    )


def _take(cells: JoinCells, number: int, rows: Rows, begin: int, at: int) -> int:
    end = int(np.searchsorted(rows.times, at, side="right"))
    part = slice(begin, end)
    if end > begin:
        times = pa.array(rows.times[part]).cast(pa.timestamp("us"))
        columns = {"ts": times, "k": pa.array(rows.keys[part]), "v": pa.array(rows.values[part])}
        cells.take(number, pa.record_batch(columns))
    return end


def _exact(inputs: list[Rows]) -> dict[int, Vector]:
    """The aggregates of each key, by NumPy from all rows."""
    own = inputs[0]
    times = np.ones(KEYS, np.int64)
    if len(inputs) > 1:
        times = np.bincount(inputs[1].keys, minlength=KEYS)
    out = {}
    for key in np.unique(own.keys).tolist():
        values, weight = own.values[own.keys == key], int(times[key])
        if not weight:
            continue
        count, mean = weight * values.size, values.mean()
        squares = weight * ((values - mean) ** 2).sum()
        spread = np.sqrt(squares / (count - 1)) if count > 1 else np.nan
        out[key] = np.array(
            [count, weight * values.sum(), mean, values.min(), values.max(), spread]
        )
    return out


def _compared(
    cells: JoinCells, at: int, exact: dict[int, Vector], held: dict[int, Vector]
) -> Iterator[tuple[float, float, float]]:
    """The true error of cells, their bound, and the true error of dropping, for each answer."""
    found = cells.truths(at)
    keys = cells.group_values(found)[0].to_pylist()
    missing_keys = exact.keys() - set(keys)
    assert not missing_keys, f"no answer for {missing_keys}"
    for number, truth in enumerate(found.truths):
        values, bounds = completed_bounds(truth.interval)
        for place, key in enumerate(keys):
            if key not in exact or np.isnan(exact[key][number]):
                continue
            bound = float(bounds[place]) if found.is_sure[place] else np.inf
            bound = bound if np.isfinite(values[place]) else np.inf
            drop = _error(held[key][number], exact[key][number]) if key in held else 1.0
            yield _error(values[place], exact[key][number]), bound, drop


def _error(said: float, exact: float) -> float:
    if said == exact:
        return 0.0
    return abs(said - exact) / abs(exact) if exact and np.isfinite(said) else np.inf


def _figures(errors: Vector, bounds: Vector, dropped: Vector) -> dict[str, Any]:
    # NumPy's own sums are rounded, too.
    outside = errors > bounds * (1 + 1e-9) + 1e-9
    both = np.isfinite(errors) & np.isfinite(dropped) & np.isfinite(bounds)
    mine, theirs = float(errors[both].mean()), float(dropped[both].mean())
    off = both & (errors > 1e-9)
    return {
        "answers": int(errors.size),
        "outside": int(outside.sum()),
        "dropping": theirs,
        "cells": mine,
        "better": theirs / mine if mine else None,
        "bound": float(bounds[both].mean()),
        "tightness": float(np.median(bounds[off] / errors[off])) if off.any() else None,
        "infinite": float(np.isinf(bounds).mean()),
    }


def _show(rows: list[dict[str, Any]]) -> None:
    names = list(rows[0])
    table = Table(*names)
    for row in rows:
        shown = (f"{row[n]:.4g}" if isinstance(row[n], float) else str(row[n]) for n in names)
        table.add_row(*shown)
    Console(width=180).print(table)


if __name__ == "__main__":
    sys.exit(main())
