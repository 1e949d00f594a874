"""What Spark says when it cannot read or write something, in one line and without secrets."""

from __future__ import annotations

from collections.abc import Mapping

from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException

__all__ = ["FAILURES", "said"]

FAILURES = (PySparkException, Py4JError)
_SHORTEST = 4  # what is hidden: shorter values are no secrets, but letters of any word


def said(problem: Exception, options: Mapping[str, str]) -> str:
    """The first line of it; values of options, which may be repeated in it, are not shown."""
    raised = getattr(problem, "java_exception", None)  # else a whole stack would be in the text
    whole = str(problem) if raised is None else str(raised.toString())
    line = whole.strip().partition("\n")[0]
    for value in sorted(map(str, options.values()), key=len, reverse=True):
        if len(value) >= _SHORTEST:
            line = line.replace(value, "***")
    return line
