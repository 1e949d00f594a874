import gc
import platform
import subprocess
import sys
from itertools import count

import pytest

from windrow.spark.processes import python_worker as worker


def test_what_is_made_while_the_first_tasks_run_leaves_garbage_collection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(worker, "_TASKS", count(1))
    monkeypatch.setattr(worker, "_keep_freed_memory", lambda: None)  # this process is no worker
    frozen, kept = [], []
    try:
        for _ in range(8):
            kept.append([[] for _ in range(1_000)])
            worker.prepare_worker()
            frozen.append(all(each is not kept[-1] for each in gc.get_objects()))
    finally:
        gc.unfreeze()
    assert frozen == [True, True, False, True, False, False, False, True]


def test_cycles_that_died_are_collected_and_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "_TASKS", count(1))
    monkeypatch.setattr(worker, "_keep_freed_memory", lambda: None)  # this process is no worker
    gc.collect()
    gc.disable()
    try:
        worker.prepare_worker()
        before = gc.get_freeze_count()
        for _ in range(1_000):
            cycle: list[object] = []
            cycle.append(cycle)
        worker.prepare_worker()
        assert gc.get_freeze_count() - before < 500
    finally:
        gc.enable()
        gc.unfreeze()


# Each time as many arrays as a batch may have; what they take is more than glibc keeps by itself.
_BATCHES = """
import resource, sys
import numpy as np
from windrow.spark.processes.python_worker import prepare_worker

if sys.argv[1] == "prepared":
    prepare_worker()
for number in range(20):
    if number == 10:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    arrays = [np.ones(250_000) for _ in range(12)]
    del arrays
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the setting is one of glibc")
def test_memory_that_a_batch_has_freed_is_there_for_the_next() -> None:
    faults = {
        way: int(subprocess.check_output([sys.executable, "-c", _BATCHES, way], text=True))
        for way in ("prepared", "as it is")
    }
    # Ten times 24 MB are some 59,000 pages of 4 KB; large pages make them fewer.
    assert faults["prepared"] < 200
    assert faults["as it is"] > faults["prepared"]
