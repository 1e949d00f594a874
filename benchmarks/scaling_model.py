"""How many rows n cores can handle, from what rows, packets, buckets and batches cost.

    python benchmarks/spark_pipeline.py --only "windrow EVERY 1 s" --rows 8 --cores 2 >> runs.txt
    python benchmarks/spark_pipeline.py --only "windrow EVERY 1 s" --rows 8 --cores 1 >> runs.txt
    python benchmarks/spark_buckets.py --buckets 2 --buckets 64 >> runs.txt
    python benchmarks/scaling_model.py runs.txt

What a row and a batch cost through Spark is read from the runs with the most cores; what a bucket
costs, and Spark's driver for each task, from the runs with the fewest and the most buckets; what a
packet costs is measured here, on our own stages without Spark. One core, or any other number in the
runs, is then predicted from the others and compared with what was measured. As many buckets and
packing tasks as cores; phases follow each other: planning and scheduling, packing, buckets, our
driver. Spark schedules in several threads: here they are counted as one.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline_data import PipelineData, pipeline_data
from pipeline_paths import QUERY
from pipeline_stages import WARM_BATCHES, Stages
from process_tree import machine
from rich.console import Console
from rich.table import Table

CORES = (1, 2, 10, 100, 1_000)
SPANS_S = (1.0, 10.0)
TASKS = 2  # for each core: one that packs, and a bucket
FEW, MANY = 2, 64
BATCHES = 4
SMALL_ROWS = 6_400
WAY = "windrow EVERY 1 s"
PARTS = ("tasks in the JVM", "workers", "scheduling", "our driver")


@dataclass(frozen=True)
class Costs:
    """CPU seconds."""

    row: float
    batch: float  # with two buckets
    packet: float  # packed and unpacked
    bucket: float  # its task and its worker
    task: float  # scheduled, on Spark's driver
    driver: float  # ours, for each bucket

    def cpu_s(self, cores: int, rows: float) -> float:
        """What a batch takes of all cores together."""
        more = cores - FEW
        packets = cores * cores - FEW * FEW
        spread = more * (self.bucket + TASKS * self.task + self.driver) + packets * self.packet
        return self.batch + rows * self.row + spread

    def rows_per_second(self, cores: int, seconds: float = 1.0) -> float:
        """How many rows a second fill batches of this length; 0 where others fill them."""
        more = max(0, cores - FEW)
        alone = more * (TASKS * self.task + self.driver)
        alone += self.batch / min(cores, FEW) + cores * self.packet
        return max(0.0, seconds - alone) * cores / self.row / seconds


def main() -> int:
    """Read runs, measure stages; print predictions and JSON lines."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("runs", type=Path, help="what the other two have printed")
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    told = [json.loads(line) for line in _lines(options.runs)]
    runs = _runs(told)
    most = max(runs)
    row, batch = runs[most]
    packet = _packet_cost(pipeline_data(1_000, 1_000, options.seed))
    costs = Costs(row, batch, packet, *_bucket_costs(told))
    facts = {"command": " ".join(["python", *sys.argv]), **machine(), "costs": costs.__dict__}
    rows = [_predicted(costs, cores, runs) for cores in sorted({*CORES, *runs})]
    table = Table(title=f"Predicted from {most} cores")
    for heading in rows[0]:
        table.add_column(heading, justify="right")
    for each in rows:
        table.add_row(*[str(value) for value in each.values()])
    Console(width=140).print(table)
    print(json.dumps({**facts, "rows": rows}))  # the result for machines
    return 0


def _lines(path: Path) -> list[str]:
    return [line for line in path.read_text().splitlines() if line.startswith("{")]


def _runs(lines: list[dict[str, Any]]) -> dict[int, tuple[float, float]]:
    """By cores, what a row and a batch have cost."""
    found: dict[int, dict[str, Any]] = {}
    for told in lines:
        if told.get("way") == WAY:
            found.setdefault(told["spark_cores"], {}).update(told)
    runs = {}
    for cores, told in found.items():
        batch_s = told["batch_cpu_ms"] / 1_000
        row_s = told.get("later_half", told["cpu_s_per_million"]) / 1e6 - batch_s / told["batch"]
        runs[cores] = (row_s, batch_s)
    return runs


def _bucket_costs(lines: list[dict[str, Any]]) -> tuple[float, float, float]:
    """What a bucket, a task on Spark's driver and a bucket on ours take, in seconds."""
    runs = sorted(
        (told for told in lines if "scheduling" in told), key=lambda each: each["buckets"]
    )
    few, many = runs[0], runs[-1]
    more = (many["buckets"] - few["buckets"]) * 1_000
    grows = {name: (many[name] - few[name]) / more for name in PARTS}
    bucket = grows["tasks in the JVM"] + grows["workers"]
    return bucket, grows["scheduling"], grows["our driver"]


def _packet_cost(data: PipelineData) -> float:
    """What a packet with some rows takes, in seconds."""
    few, many = (_spent(data, MANY, tasks) for tasks in (FEW, MANY))
    return (many - few) / (MANY * (MANY - FEW))


def _spent(data: PipelineData, buckets: int, tasks: int) -> float:
    """CPU seconds of packing and buckets in a batch of few rows."""
    with tempfile.TemporaryDirectory() as folder:
        stages = Stages(data, buckets, tasks, folder, QUERY)
        for number in range(WARM_BATCHES + BATCHES):
            if number == WARM_BATCHES:
                stages.clear()
            stages.batch(number, SMALL_ROWS)
    return (stages.spent["pack"] + sum(stages.by_bucket)) / BATCHES


def _predicted(costs: Costs, cores: int, runs: dict[int, tuple[float, float]]) -> dict[str, object]:
    rates = {span_s: costs.rows_per_second(cores, span_s) for span_s in SPANS_S}
    told: dict[str, object] = {"cores": cores}
    for span_s, rate in rates.items():
        told[f"M rows/s, {span_s:g} s"] = round(rate / 1e6, 2)
    rows = rates[SPANS_S[-1]] * SPANS_S[-1]
    told["CPU-s a million"] = round(costs.cpu_s(cores, rows) / rows * 1e6, 2) if rows else "-"
    told["packets, ms a core"] = round(1_000 * cores * costs.packet, 1)
    told["Spark's driver, ms"] = round(1_000 * TASKS * cores * costs.task, 1)
    told["our driver, ms"] = round(1_000 * cores * costs.driver, 1)
    half = 500_000
    told["500 k rows, CPU ms"] = round(1_000 * costs.cpu_s(cores, half))
    if cores in runs:
        row, batch = runs[cores]
        told["measured"] = round(1_000 * (batch + half * row))
    else:
        told["measured"] = ""
    return told


if __name__ == "__main__":
    sys.exit(main())
