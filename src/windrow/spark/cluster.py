"""A session on a cluster, where executors are processes of other hosts.

What must be there before any query starts: settings that Spark reads only when it starts itself,
Windrow in the executors' Python, and a checkpoint that driver and executors share.
"""

from __future__ import annotations

import re
import socket
import uuid
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from windrow.errors import BindingError
from windrow.spark.processes.shipped_errors import cause_line
from windrow.spark.settings import WORKER_SOCKETS
from windrow.storage import Storage
from windrow.version import __version__

__all__ = ["check_executors", "cluster_settings", "refuse_temporary"]

# Host, version of Windrow, and whether the file of the checkpoint is there.
Sight = tuple[str, str, bool]

_ONE_PROCESS = re.compile(r"local(\[.*\])?\Z")


# What else a manager should be told. Windows live in Python workers and state in native memory,
# both beyond the heap that containers are cut to. Old failures must not end a query.
_BY_MANAGER: dict[str, dict[str, str]] = {
    "standalone": {},
    "yarn": {
        "spark.executor.memoryOverheadFactor": "0.5",
        "spark.executor.failuresValidityInterval": "1h",
        "spark.yarn.maxAppAttempts": "4",
        "spark.yarn.am.attemptFailuresValidityInterval": "1h",
    },
    "kubernetes": {
        "spark.executor.memoryOverheadFactor": "0.5",
        "spark.executor.failuresValidityInterval": "1h",
    },
    "databricks": {},
}


def cluster_settings(manager: str = "standalone") -> dict[str, str]:
    """What a session on a cluster should be built with; queries bring their own settings along.

    manager: 'standalone', 'yarn', 'kubernetes' or 'databricks'.

    >>> cluster_settings("yarn")["spark.yarn.maxAppAttempts"]
    '4'
    """
    if manager not in _BY_MANAGER:
        raise BindingError(
            "WB496",
            f"{manager!r} is no cluster manager that is known",
            hint=f"use one of {', '.join(_BY_MANAGER)}",
        )
    return {
        **_BY_MANAGER[manager],
        "spark.driver.extraJavaOptions": "-XX:+UseParallelGC",
        "spark.executor.extraJavaOptions": "-XX:+UseParallelGC",
        # Live windows are in the workers' memory: a worker that ends takes them along.
        "spark.python.worker.reuse": "true",
        **WORKER_SOCKETS,
        "spark.dynamicAllocation.enabled": "false",
    }


def refuse_temporary(spark: SparkSession) -> None:
    """Refuses a cluster where no checkpoint was given: a directory of the driver is no place."""
    if not _is_one_process(spark):
        raise BindingError(
            "WB490",
            "on a cluster a session needs a checkpoint that driver and executors share",
            hint='connect(spark, checkpoint="s3a://bucket/folder"), or a folder of a shared disk',
        )


def check_executors(spark: SparkSession, storage: Storage) -> None:
    """Has executors look for Windrow and, where it is a folder, for the checkpoint."""
    if _is_one_process(spark):
        return
    name = f"seen-{uuid.uuid4().hex}.txt"
    storage.write(name, b"")
    try:
        folder = storage.local_path
        sights = _sights(spark, None if folder is None else str(folder / name))
    finally:
        storage.remove(name)
    own_version = _version()
    for host, version, is_seen in sights:
        if version != own_version:
            raise BindingError(
                "WB491",
                f"executors on {host} have Windrow {version}, the driver has {own_version}",
                hint="give both the same Python environment: docs/how-to/cluster.md says how",
            )
        if not is_seen:
            raise BindingError(
                "WB492",
                f"executors on {host} do not see the checkpoint {storage.location}",
                hint="give a checkpoint on storage that driver and all executors share",
            )


def _is_one_process(spark: SparkSession) -> bool:
    return _ONE_PROCESS.match(spark.sparkContext.master or "") is not None


def _sights(spark: SparkSession, path: str | None) -> list[Sight]:
    tasks = max(2, int(spark.sparkContext.defaultParallelism))
    numbers = spark.sparkContext.parallelize(range(tasks), tasks)
    try:
        return sorted(set(numbers.mapPartitions(_looking_for(path)).collect()))
    except (PySparkException, Py4JError) as problem:
        raise _unusable(str(problem)) from problem


def _unusable(text: str) -> BindingError:
    return BindingError(
        "WB493",
        f"executors cannot run Windrow: {cause_line(text)}",
        hint="give them the driver's Python environment: docs/how-to/cluster.md says how",
    )


def _looking_for(path: str | None) -> Callable[[Iterable[int]], Iterator[Sight]]:
    def look(_numbers: Iterable[int]) -> Iterator[Sight]:
        yield socket.gethostname(), _version(), path is None or Path(path).exists()

    return look


def _version() -> str:
    """The version where this is called; as a constant it would travel with the function."""
    return __version__
