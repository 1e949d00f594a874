"""What Spark failed with, in our words."""

from __future__ import annotations

import re

from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException

from windrow.errors import DataError, WindrowError
from windrow.spark.checkpoint.spark_part import checkpoint_trouble
from windrow.spark.processes.shipped_errors import cause_line, received_error
from windrow.spark.processes.transient import is_worker_late

__all__ = ["SPARK_FAILURES", "failure_of", "is_unread"]

# What Spark raises; exceptions of Java come as they are where Spark does not expect them.
SPARK_FAILURES = (PySparkException, Py4JJavaError)

# What Kafka's client says when its servers have not answered in its time.
_NO_KAFKA = re.compile(
    r"org\.apache\.kafka\.common\.(?:errors\.(?:Timeout|Disconnect)Exception|KafkaException)"
    r"|Timed out waiting for a node assignment|No resolvable bootstrap urls"
)


# What Spark says of a record that it cannot read as a row.
_UNREAD = re.compile(r"MALFORMED_(?:RECORD|CSV)|FAILED_READ_FILE|BadRecordException|CANNOT_PARSE")


def is_unread(problem: Exception) -> bool:
    """Whether a value of a file is no value of its column."""
    return _UNREAD.search(str(problem)) is not None


def failure_of(what: str, problem: Exception, servers: str = "") -> WindrowError:
    """The error to raise: one of ours that came from a worker, or Spark's with its cause.

    what: which query failed, or which operator. servers: those of Kafka that it reads from.
    """
    text = str(problem)
    cause = cause_line(text)
    found = received_error(text) or checkpoint_trouble(what, cause, text)
    if found is None and servers and _NO_KAFKA.search(text):
        return DataError(
            "WD482",
            f"{what} failed on Spark, as Kafka did not answer at {servers}: {cause}",
            hint=(
                "check that the brokers run and that the addresses they advertise can be "
                "reached, and start again: it resumes where it stopped"
            ),
        )
    hint = "the cause of this exception is Spark's own error, with all its detail"
    if is_worker_late(problem):
        hint = (
            "Spark allows a Python process ten seconds to start, and this machine was too busy: "
            "start the query again"
        )
    return found or WindrowError("WX401", f"{what} failed on Spark: {cause}", hint=hint)
