"""Memory that a session takes is bounded by its budget, whatever comes and whoever reads."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from support import memory_run

RUN = memory_run.__file__
MEGABYTE = 1 << 20
# What allocators hold on to beside what is used, of any budget.
SPARE_MEGABYTES = 12
BUDGET_MEGABYTES = 32
SAMPLE = [
    ("wide_texts", "nobody"),
    ("wide_groups", "nobody"),
    ("churn", "nobody"),
    ("many_groups", "nobody"),
    ("followers", "all"),
    ("tree", "nobody"),
]
OTHERS = [
    ("wide_texts", "answers"),
    ("wide_texts", "changes"),
    ("wide_groups", "all"),
    ("churn", "answers"),
    ("churn", "changes"),
    ("churn", "all"),
    ("many_groups", "changes"),
    ("singles", "nobody"),
    ("singles", "changes"),
    ("late_rows", "nobody"),
    ("waiting", "nobody"),
    ("gathered", "nobody"),
    ("followers", "nobody"),
    ("cross", "nobody"),
    ("cross", "all"),
    ("history", "nobody"),
    ("tree", "all"),
]


@pytest.mark.parametrize(("name", "reader"), [*SAMPLE, *OTHERS])
def test_a_process_grows_by_its_budget_and_a_constant(
    name: str, reader: str, is_whole: bool
) -> None:
    if not is_whole and (name, reader) not in SAMPLE:
        pytest.skip("one of the sample only; WINDROW_HARD=all runs it")
    scale = 1.0 if is_whole else 0.5
    command = [sys.executable, str(RUN), name, reader, str(BUDGET_MEGABYTES), str(scale)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout)
    assert found["grown"] <= (1.3 * BUDGET_MEGABYTES + SPARE_MEGABYTES) * MEGABYTE, found
    assert found["said"] <= BUDGET_MEGABYTES * MEGABYTE, found
