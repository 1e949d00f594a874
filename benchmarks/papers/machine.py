"""What a run was made on and with, so that its figures can be read later."""

from __future__ import annotations

import os
import platform
import sys
from importlib.metadata import version

__all__ = ["SEED", "machine_facts"]

SEED = 7


def machine_facts(*, quick: bool) -> dict[str, object]:
    """The command, the seed, the machine and the versions."""
    return {
        "command": " ".join(["windrow", *sys.argv[1:]]),
        "seed": SEED,
        "quick": quick,
        "cores": os.cpu_count(),
        "processor": platform.processor() or platform.machine(),
        "load_at_start": round(os.getloadavg()[0], 2),
        "python": platform.python_version(),
        **{name: version(name) for name in ("numba", "numpy", "pyarrow")},
    }
