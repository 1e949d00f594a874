"""Starts that are made again, for reasons that pass and for no others."""

from __future__ import annotations

import pytest
from py4j.protocol import Py4JError

from windrow.spark.processes.transient import STARTS_LIMIT, started

TAKEN = "java.net.BindException: Cannot assign requested address: Service 'sparkDriver' failed"


class Starts:
    """Fails so many times, each time with an error of that text."""

    def __init__(self, failures: int, text: str) -> None:
        self._failures, self._text = failures, text
        self.count = 0

    def __call__(self) -> str:
        self.count += 1
        if self.count <= self._failures:
            raise Py4JError(self._text)
        return "session"


@pytest.mark.parametrize("failures", range(STARTS_LIMIT))
def test_a_port_that_was_taken_is_asked_for_again(
    failures: int, caplog: pytest.LogCaptureFixture
) -> None:
    start = Starts(failures, TAKEN)
    assert started("Spark", start) == "session"
    assert start.count == failures + 1
    assert caplog.messages == [
        f"Spark is started again ({number} of {STARTS_LIMIT}): a port was taken"
        for number in range(2, failures + 2)
    ]


@pytest.mark.parametrize(
    ("text", "count"), [(TAKEN, STARTS_LIMIT), ("java.lang.OutOfMemoryError", 1)]
)
def test_in_the_end_the_error_is_raised(text: str, count: int) -> None:
    start = Starts(99, text)
    with pytest.raises(Py4JError, match=text.partition(":")[0]):
        started("Spark", start)
    assert start.count == count
