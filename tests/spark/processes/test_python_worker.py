import gc
from itertools import count

import pytest

from windrow.spark.processes import python_worker as worker


def test_what_is_made_while_the_first_tasks_run_leaves_garbage_collection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(worker, "_TASKS", count(1))
    frozen, kept = [], []
    try:
        for _ in range(8):
            kept.append([[] for _ in range(1_000)])
            before = gc.get_freeze_count()
            worker.prepare_worker()
            frozen.append(gc.get_freeze_count() - before >= 1_000)
    finally:
        gc.unfreeze()
    assert frozen == [True, True, False, True, False, False, False, True]


def test_cycles_that_died_are_collected_and_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "_TASKS", count(1))
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
