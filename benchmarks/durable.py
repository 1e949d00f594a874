"""What a path costs a session: CPU of the anchor query with and without it, and of opening again.

python benchmarks/durable.py [rounds]: medians of so many rounds, in which all ways take turns in
one process. Two streams of (ts, k, v) in batches of 100,000 rows, 1,000 keys, windows of 60
seconds; then rows pushed one by one. Results are compared with those of the session in memory.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from process_tree import machine

import windrow
from windrow.durable.session import DurableSession
from windrow.embedded.session import EmbeddedSession

ROUNDS = 5
BATCHES, BATCH_ROWS, KEYS = 20, 100_000, 1_000
ROWS_A_SECOND = 3_300  # of each stream
SINGLES = 40_000
ANCHOR = "SELECT COUNT(*) AS n, SUM(a.v) AS s FROM a [60 SECONDS], b [60 SECONDS] WHERE a.k = b.k"
WAYS = ("memory", "off", "interval")
Rows = dict[str, list[pa.RecordBatch]]


def measure(rounds: int) -> dict[str, Any]:
    """CPU seconds of each way, and of a replay."""
    rows = {name: _batches(seed) for seed, name in enumerate("ab")}
    _batched("memory", rows, None)  # kernels are loaded before the clock runs
    found: dict[str, list[float]] = {}
    for _ in range(rounds):
        results = set()
        for way in WAYS:
            with tempfile.TemporaryDirectory() as folder:
                path = None if way == "memory" else Path(folder) / "state"
                spent, result = _batched(way, rows, path)
                found.setdefault(f"batches, {way}", []).append(spent)
                results.add(result)
                if path is not None:
                    began = time.process_time()
                    session = windrow.connect(path=path)
                    found.setdefault("opened again", []).append(time.process_time() - began)
                    results.add(repr(session["anchor"].result().to_pylist()))
                    _saved(session, path, found, results)
                path = None if way == "memory" else Path(folder) / "singles"
                found.setdefault(f"single rows, {way}", []).append(_singly(way, path))
        assert len(results) == 1, "the ways give different results"
    return {name: statistics.median(spent) for name, spent in found.items()}


def _saved(
    session: EmbeddedSession, path: Path, found: dict[str, list[float]], results: set[str]
) -> None:
    """Take a snapshot, and open the session from it."""
    assert isinstance(session, DurableSession)
    began = time.process_time()
    assert session.save()
    found.setdefault("snapshot taken", []).append(time.process_time() - began)
    session.stop()
    began = time.process_time()
    session = windrow.connect(path=path)
    found.setdefault("opened from it", []).append(time.process_time() - began)
    results.add(repr(session["anchor"].result().to_pylist()))
    session.stop()


def _batches(seed: int) -> list[pa.RecordBatch]:
    random = np.random.default_rng(seed)
    found = []
    for number in range(BATCHES):
        first = number * BATCH_ROWS
        at = (first + np.arange(BATCH_ROWS)) * 1_000_000 // ROWS_A_SECOND + 1_767_225_600_000_000
        columns = [
            pa.array(at, pa.timestamp("us", tz="UTC")),
            pa.array(random.integers(0, KEYS, BATCH_ROWS)),
            pa.array(random.integers(0, 100, BATCH_ROWS)),
        ]
        found.append(pa.record_batch(columns, ["ts", "k", "v"]))
    return found


def _begun(way: str, path: Path | None) -> EmbeddedSession:
    session = windrow.connect(path=path, durability="off" if way == "memory" else way)
    for name in "ab":
        session.stream(name, "ts timestamp, k bigint, v bigint", time="ts")
    session.query(ANCHOR, name="anchor")
    return session


def _batched(way: str, rows: Rows, path: Path | None) -> tuple[float, str]:
    session = _begun(way, path)
    began = time.process_time()
    for left, right in zip(rows["a"], rows["b"], strict=True):
        session.push("a", left)
        session.push("b", right)
        session["anchor"].answers()
    spent = time.process_time() - began
    result = repr(session["anchor"].result().to_pylist())
    session.stop()
    return spent, result


def _singly(way: str, path: Path | None) -> float:
    session = _begun(way, path)
    began = time.process_time()
    for number in range(SINGLES):
        row = (1_767_225_600_000_000 + number * 1_000, number % KEYS, number)
        session.push("ab"[number % 2], row)
    session["anchor"].result()
    spent = time.process_time() - began
    session.stop()
    return spent


def report(found: dict[str, float]) -> None:
    """A table, and JSON."""
    pushed = 2 * BATCHES * BATCH_ROWS
    rows = {"batches": pushed, "opened again": pushed, "single rows": SINGLES}
    for name, spent in found.items():
        kind = name.partition(",")[0]
        speed = f" {rows[kind] / spent / 1e6:7.2f} M rows/CPU-s" if kind in rows else ""
        plain = found.get(f"{kind}, memory")
        ratio = "" if plain is None else f" {spent / plain:6.2f} x memory"
        print(f"{name:24} {spent:7.3f} CPU-s{speed}{ratio}")
    print(json.dumps({**machine(), "command": sys.argv, "cpu_seconds": found}))


if __name__ == "__main__":
    report(measure(int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS))
