"""A Ctrl-C while Spark's JVM starts leaves no JVM behind."""

from __future__ import annotations

import sys
from subprocess import Popen
from typing import Any

import pytest
from pyspark import SparkContext, java_gateway

from windrow.spark.processes.jvm_start import jvm_of_this_start

SLEEPER = [sys.executable, "-c", "import time; time.sleep(600)"]


def start(error: BaseException | None, started: list[Popen[Any]]) -> None:
    """What PySpark does: it starts a process, and waits for it."""
    with jvm_of_this_start():
        started.append(java_gateway.Popen(SLEEPER))
        if error is not None:
            raise error


@pytest.mark.parametrize("is_connected", [False, True])
def test_what_is_not_connected_is_ended(
    is_connected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SparkContext, "_gateway", object() if is_connected else None)
    started: list[Popen[Any]] = []
    before = java_gateway.Popen
    with pytest.raises(KeyboardInterrupt):
        start(KeyboardInterrupt(), started)
    assert (started[0].poll() is None) == is_connected
    start(None, started)
    assert started[1].poll() is None
    assert java_gateway.Popen is before
    for each in started:
        each.kill()
        each.wait()
