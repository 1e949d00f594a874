"""Whether a Spark session that somebody brings can be used, and what it had better be set to.

What a query needs of Spark it sets for itself (settings.query_settings). Some things Spark reads
only when it starts: without those queries run all the same, and a line in the log says what lacks.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator

from pyspark.sql import SparkSession

from windrow.errors import UnsupportedError

__all__ = ["advise", "refuse_stopped", "refuse_unusable"]

_LOG = logging.getLogger(__name__)

TESTED_VERSION = "4.3"

_ONE_ATTEMPT = re.compile(r"local(\[[^,\]]*\])?\Z")


def refuse_unusable(spark: SparkSession) -> None:
    """Refuses a session over Spark Connect, and one that was stopped."""
    if not hasattr(spark, "_jsparkSession"):
        raise UnsupportedError(
            "WU412",
            "Spark Connect sessions are not supported",
            hint="use a classic SparkSession, created where the driver runs",
        )
    refuse_stopped(spark)


def refuse_stopped(spark: SparkSession) -> None:
    """Refuses a Spark session that was stopped: what it says by itself names other things."""
    # PySpark forgets the context that is stopped from here, the JVM knows all of them.
    context = spark.sparkContext._jsc
    if context is None or context.sc().isStopped():
        raise UnsupportedError(
            "WU415",
            "the Spark session was stopped",
            hint="create a new one, connect() to it with the same checkpoint, and declare streams "
            "and queries again",
        )


def advise(spark: SparkSession) -> None:
    """Says in the log what the session lacks."""
    for advice in _lacks(spark):
        _LOG.warning("%s", advice)


def _lacks(spark: SparkSession) -> Iterator[str]:
    if not spark.version.startswith(f"{TESTED_VERSION}."):
        yield f"Spark {spark.version} was not tested: Windrow is built for {TESTED_VERSION}"
    master = spark.sparkContext.master or ""
    if _ONE_ATTEMPT.match(master):
        yield (
            f"with the master {master!r} a query fails when a Python worker dies: 'local[2,4]' "
            "lets Spark try a task four times"
        )
    if spark.conf.get("spark.python.worker.reuse", "true") == "false":
        yield (
            "spark.python.worker.reuse is false: windows are rebuilt from the state store in "
            "every batch"
        )
