"""The program as a user starts it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).parents[2] / "src"
TIMEOUT_S = 180


def environment(**more: str) -> dict[str, str]:
    known = os.environ.get("PYTHONPATH", "")
    path = os.pathsep.join(filter(None, [str(SOURCE), known]))
    return {**os.environ, "PYTHONPATH": path, "COLUMNS": "100", **more}


def windrow(*arguments: str, folder: Path, **more: str) -> subprocess.CompletedProcess[str]:
    """Runs `windrow` in the folder, off a terminal."""
    return subprocess.run(
        [sys.executable, "-m", "windrow", *arguments],
        cwd=folder,
        env=environment(**more),
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
    )


def events(stdout: str) -> list[dict[str, Any]]:
    """Lines of NDJSON; fails on anything else."""
    return [json.loads(line, parse_constant=_refuse) for line in stdout.splitlines()]


def _refuse(constant: str) -> None:
    raise AssertionError(f"{constant} is not JSON")
