"""What Spark failed with, in our words."""

from __future__ import annotations

from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException

from windrow.errors import WindrowError
from windrow.spark.bucket.shipped_errors import cause_line, received_error
from windrow.spark.checkpoint.spark_part import checkpoint_trouble

__all__ = ["SPARK_FAILURES", "failure_of"]

# What Spark raises; exceptions of Java come as they are where Spark does not expect them.
SPARK_FAILURES = (PySparkException, Py4JJavaError)

_TOO_SLOW = "Python worker failed to connect back"


def failure_of(what: str, problem: Exception) -> WindrowError:
    """The error to raise: one of ours that came from a worker, or Spark's with its cause.

    what: which query failed, or which operator.
    """
    text = str(problem)
    cause = cause_line(text)
    found = received_error(text) or checkpoint_trouble(what, cause, text)
    hint = "the cause of this exception is Spark's own error, with all its detail"
    if _TOO_SLOW in text:
        hint = (
            "Spark gives a Python process ten seconds to start, and this machine was too busy: "
            "start the query again"
        )
    return found or WindrowError("WX401", f"{what} failed on Spark: {cause}", hint=hint)
