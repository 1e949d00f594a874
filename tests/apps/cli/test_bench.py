"""`windrow bench` finds the experiments of a checkout, and says where they are without one."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from windrow.apps.cli import bench
from windrow.apps.cli.commands import COMMANDS, loaded

SOURCES = Path(bench.__file__).parents[3]


def test_a_checkout_has_the_experiments() -> None:
    assert list(loaded("bench").commands) == [
        "join-aggregate", "live-results", "governor", "history",
    ]  # fmt: skip


def test_a_checkout_is_found_from_anywhere(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "windrow", "bench", "governor", "--help"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(SOURCES)},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, "windrow bench governor --quick" in done.stdout) == (0, True)


@pytest.mark.parametrize(
    "arguments", [[], ["governor"], ["history", "--quick", "--figure", "5"], ["--quick"]]
)
def test_elsewhere_the_error_says_where_they_are(tmp_path: Path, arguments: list[str]) -> None:
    app = bench.experiments_of(tmp_path / "benchmarks")
    done = CliRunner().invoke(app, [*arguments, "--json"])
    told = json.loads(done.stdout)
    assert (done.exit_code, told["event"], told["code"]) == (1, "error", "WU513")
    assert "benchmarks/papers of the repository" in told["hint"]


def test_elsewhere_the_help_says_so_too(tmp_path: Path) -> None:
    done = CliRunner().invoke(bench.experiments_of(tmp_path), ["--help"])
    assert done.exit_code == 0
    assert COMMANDS["bench"] in done.stdout
    assert "This installation has none" in done.stdout
