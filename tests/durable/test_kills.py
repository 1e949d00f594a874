"""kill -9 of a job in one process, torn logs and failing disks: what is left is as if undisturbed.

A few here; `make test-kills` runs thousands.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

TESTS = os.path.dirname(os.path.dirname(__file__))


def campaign(*options: str) -> str:
    """Run in a process of its own, which forks: pytest has threads."""
    call = [sys.executable, "-m", "support.kills.campaign", *options]
    done = subprocess.run(call, cwd=TESTS, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_job_that_is_killed_at_a_few_moments() -> None:
    told = campaign("--jobs", "small", "--kills", "10", "--torn", "3", "--apart", "23")
    for what in ("torn", "killed at a call", "full, once", "broken, once", "from then on"):
        assert what in told


@pytest.mark.recovery
def test_a_few_kills_of_every_job() -> None:
    sys.stdout.write(campaign("--kills", "12", "--torn", "4", "--apart", "250"))


@pytest.mark.recovery
@pytest.mark.slow
def test_thousands_of_kills() -> None:
    sys.stdout.write(campaign("--jobs", "small", "--kills", "7500", "--torn", "800"))
    sys.stdout.write(campaign("--kills", "500", "--torn", "100", "--apart", "1"))
