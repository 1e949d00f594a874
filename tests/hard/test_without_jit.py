"""The kernels as plain Python: what is compiled must not be what makes it right."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).parents[1]
# A few tests of every room; the loops are some hundred times slower this way.
CHOSEN = [
    "exact/test_sums.py",
    "operators/keyed/test_cells.py",
    "windows/test_windows.py::test_timed_windows",
    "windows/test_windows.py::test_windows_of_the_last_rows",
    "windows/test_codes.py::test_words_with_growth_and_gaps",
    "runtime/test_float_guarantee.py",
    "runtime/test_queries.py",
    "output/test_select_feed.py",
    "exact/test_products.py",
    "operators/extremes/test_extremes_heap.py",
    "operators/tree/test_tree_queries.py",
    "operators/pairs/test_pairs.py::test_every_instant_is_that_of_all_combinations",
    "operators/expiry/test_expiry_queues.py::test_any_steps",
    "operators/expiry/test_expiry_queues.py::test_equal_spans",
    "operators/select/test_live_rows.py",
    "windows/test_changing_widths.py",
    "windows/test_shared_rows.py",
    "governor/error_bounds/test_bounds.py",
    "governor/test_partitions.py",
    "history/test_tree_shape.py",
]


def test_kernels_without_compilation() -> None:
    # Numbers wrap around on purpose; NumPy's scalars warn of it where compiled code does not.
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    command += ["-W", "ignore:overflow encountered:RuntimeWarning"]
    settings = {"NUMBA_DISABLE_JIT": "1", "HYPOTHESIS_PROFILE": "few"}
    run = subprocess.run(
        [*command, *(str(TESTS / name) for name in CHOSEN)],
        env={**os.environ, **settings},
        cwd=TESTS.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout[-4000:] + run.stderr[-2000:]
