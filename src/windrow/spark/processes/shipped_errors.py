"""Errors of ours on their way from a Python worker through the JVM to the driver.

Spark turns an exception of a worker into a long text. The error's parts are put into that text as
one marked word, and the driver finds the word and raises the error that it stands for.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager

from windrow import errors
from windrow.errors import WindrowError

__all__ = ["ShippedError", "cause_line", "received_error", "shipping_errors"]

# The last line of a Python traceback, or of a Java one's innermost cause; Py4J puts a colon first.
_CAUSE = re.compile(r"^(?:Caused by: |: )?([\w.]*(?:Error|Exception)\b.*)$", re.MULTILINE)
# What Spark puts before it, which names a run that nobody knows.
_STREAM = re.compile(r"\[STREAM_FAILED\] Query \[.*?\] terminated with exception: ")
_MARK = re.compile(r"windrow-error:([A-Za-z0-9+/=]+):")


class ShippedError(Exception):
    """Carries an error of ours as text."""

    def __init__(self, error: WindrowError) -> None:
        parts = [type(error).__name__, error.code, error.message, error.hint]
        word = base64.b64encode(json.dumps(parts).encode()).decode()
        super().__init__(f"{error} windrow-error:{word}:")


@contextmanager
def shipping_errors() -> Iterator[None]:
    """Inside, an error of ours is raised in the form that survives the way to the driver."""
    try:
        yield
    except WindrowError as error:
        raise ShippedError(error) from error


def received_error(text: str) -> WindrowError | None:
    """The error of ours in an exception's text, or None when there is none."""
    found = _MARK.search(text)
    if found is None:
        return None
    name, code, message, hint = json.loads(base64.b64decode(found.group(1)))
    kind = getattr(errors, name, WindrowError)
    error: WindrowError = kind(code, message, hint=hint)
    return error


def cause_line(text: str) -> str:
    r"""The one line of an exception's long text that says most.

    >>> cause_line("[STREAM_FAILED] Query\n  File 'x'\nKeyError: 'a'\n SQLSTATE: 1")
    "KeyError: 'a'"
    >>> cause_line("[STREAM_FAILED] Query [id = 1, runId = 2] terminated with exception: No room")
    'No room'
    """
    causes = _CAUSE.findall(text)
    if causes:
        return str(causes[-1])
    first = next((line.strip() for line in text.splitlines() if line.strip()), "no reason given")
    return _STREAM.sub("", first)
