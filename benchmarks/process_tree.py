"""CPU seconds and memory of this process and all that it started: what a benchmark here counts."""

from __future__ import annotations

import os
import platform
import sys
from importlib.metadata import version

import psutil

__all__ = ["machine", "tree_cpu_seconds", "tree_peak_bytes"]


def tree_cpu_seconds() -> float:
    """User and system time of the whole tree, children that have ended included."""
    here = psutil.Process()
    total = 0.0
    for process in [here, *here.children(recursive=True)]:
        try:
            times = process.cpu_times()
        except psutil.NoSuchProcess:
            continue
        total += times.user + times.system + times.children_user + times.children_system
    return total


def tree_peak_bytes() -> int:
    """Sum of the peaks of resident memory over the tree."""
    here = psutil.Process()
    total = 0
    for process in [here, *here.children(recursive=True)]:
        try:
            with open(f"/proc/{process.pid}/status") as status:
                line = next((each for each in status if each.startswith("VmHWM")), "VmHWM: 0 kB")
        except (FileNotFoundError, ProcessLookupError):
            continue
        total += int(line.split()[1]) * 1024
    return total


def machine() -> dict[str, object]:
    """What a reader needs to judge the figures."""
    packages = ("numpy", "numba", "pyarrow", "pyspark", "duckdb", "polars")
    return {
        "cores": os.cpu_count(),
        "memory_gb": round(psutil.virtual_memory().total / 2**30),
        "processor": platform.processor() or platform.machine(),
        "python": sys.version.split()[0],
        "load_at_start": os.getloadavg()[0],
        **{name: version(name) for name in packages},
    }
