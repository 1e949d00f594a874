"""The start of Spark's JVM, and a Ctrl-C in the midst of it.

PySpark starts the JVM and waits until it has written its port to a file. Interrupted there it
removes the folder of that file, and the JVM, which ends when its driver has gone, never comes to
look for that: it would stay for good.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pyspark import SparkContext, java_gateway

__all__ = ["jvm_of_this_start"]

END_LIMIT_S = 1.0


@contextmanager
def jvm_of_this_start() -> Iterator[None]:
    """Inside, a JVM that is started and does not get as far as to be connected is ended."""
    started: list[subprocess.Popen[Any]] = []
    module: Any = java_gateway
    popen = module.Popen

    def noted(*given: Any, **options: Any) -> subprocess.Popen[Any]:
        started.append(popen(*given, **options))
        return started[-1]

    module.Popen = noted
    try:
        yield
    except BaseException:
        if SparkContext._gateway is None:
            for each in started:
                _end(each)
        raise
    finally:
        module.Popen = popen


def _end(process: subprocess.Popen[Any]) -> None:
    process.terminate()
    try:
        process.wait(END_LIMIT_S)
    except subprocess.TimeoutExpired:
        process.kill()
