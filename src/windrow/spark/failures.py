"""What Spark failed with, in our words."""

from __future__ import annotations

from pyspark.errors import PySparkException

from windrow.errors import WindrowError
from windrow.spark.shipped_errors import cause_line, received_error
from windrow.spark.spark_part import checkpoint_trouble

__all__ = ["failure_of"]


def failure_of(what: str, problem: PySparkException) -> WindrowError:
    """The error to raise: one of ours that came from a worker, or Spark's with its cause.

    what: which query failed, or which operator.
    """
    text = str(problem)
    cause = cause_line(text)
    found = received_error(text) or checkpoint_trouble(what, cause, text)
    return found or WindrowError(
        "WX401",
        f"{what} failed on Spark: {cause}",
        hint="the cause of this exception is Spark's own error, with all its detail",
    )
