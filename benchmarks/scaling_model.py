"""How many rows n cores can handle, from what rows, packets, buckets and batches cost.

    python benchmarks/spark_pipeline.py --only "windrow EVERY 1 s" --rows 8 --cores 2 >> runs.txt
    python benchmarks/spark_pipeline.py --only "windrow EVERY 1 s" --rows 8 --cores 1 >> runs.txt
    python benchmarks/scaling_model.py runs.txt

What a row and a batch cost through Spark is read from the runs with the most cores; what a packet
and a bucket cost is measured here, on our own stages without Spark. One core, or any other number
in the runs, is then predicted from the others and compared with what was measured. A batch a
second, as many buckets and packing tasks as cores; phases follow each other: planning, packing,
buckets, the driver.
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
FEW, MANY = 2, 64
BATCHES = 4
SMALL_ROWS = 6_400
WAY = "windrow EVERY 1 s"


@dataclass(frozen=True)
class Costs:
    """CPU seconds."""

    row: float
    batch: float  # with two buckets
    packet: float  # packed and unpacked
    bucket: float  # in the bucket, without its packets
    driver: float  # there, for each bucket

    def cpu_s(self, cores: int, rows: float) -> float:
        """What a batch takes of all cores together."""
        more = cores - FEW
        packets = cores * cores - FEW * FEW
        spread = more * (self.bucket + self.driver) + packets * self.packet
        return self.batch + rows * self.row + spread

    def rows_per_second(self, cores: int, seconds: float = 1.0) -> float:
        """How many rows a second fill batches of this length."""
        alone = self.batch / min(cores, FEW) + cores * (self.driver + self.packet) + self.bucket
        return max(0.0, seconds - alone) * cores / self.row / seconds


def main() -> int:
    """Read runs, measure stages; print predictions and JSON lines."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("runs", type=Path, help="what spark_pipeline.py has printed")
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    runs = _runs(options.runs)
    most = max(runs)
    packet, bucket, driver = _stage_costs(pipeline_data(1_000, 1_000, options.seed))
    row, batch = runs[most]
    costs = Costs(row, batch, packet, bucket, driver)
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


def _runs(path: Path) -> dict[int, tuple[float, float]]:
    """By cores, what a row and a batch have cost."""
    found: dict[int, dict[str, Any]] = {}
    for line in path.read_text().splitlines():
        if line.startswith("{") and (told := json.loads(line)).get("way") == WAY:
            found.setdefault(told["spark_cores"], {}).update(told)
    runs = {}
    for cores, told in found.items():
        batch_s = told["batch_cpu_ms"] / 1_000
        row_s = told.get("later_half", told["cpu_s_per_million"]) / 1e6 - batch_s / told["batch"]
        runs[cores] = (row_s, batch_s)
    return runs


def _stage_costs(data: PipelineData) -> tuple[float, float, float]:
    """What a packet, a bucket and a bucket on the driver take, in seconds."""
    few, many = (_spent(data, MANY, tasks) for tasks in (FEW, MANY))
    packet = (many[0] - few[0]) / (MANY * (MANY - FEW))
    own = _spent(data, FEW, FEW)
    bucket = max(0.0, (few[0] - own[0]) / (MANY - FEW) - FEW * packet)
    return packet, bucket, (few[1] - own[1]) / (MANY - FEW)


def _spent(data: PipelineData, buckets: int, tasks: int) -> tuple[float, float]:
    """CPU seconds of packing and buckets, and of the driver, in a batch of few rows."""
    with tempfile.TemporaryDirectory() as folder:
        stages = Stages(data, buckets, tasks, folder, QUERY)
        for number in range(WARM_BATCHES + BATCHES):
            if number == WARM_BATCHES:
                stages.clear()
            stages.batch(number, SMALL_ROWS)
    packing = stages.spent["pack"] + sum(stages.by_bucket)
    return packing / BATCHES, stages.spent["publish"] / BATCHES


def _predicted(costs: Costs, cores: int, runs: dict[int, tuple[float, float]]) -> dict[str, object]:
    rate = costs.rows_per_second(cores)
    told: dict[str, object] = {
        "cores": cores,
        "M rows/s": round(rate / 1e6, 2),
        "CPU-s a million": round(costs.cpu_s(cores, rate) / rate * 1e6, 2) if rate else "-",
        "packets, ms a core": round(1_000 * cores * costs.packet, 1),
        "driver, ms": round(1_000 * cores * costs.driver, 1),
    }
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
