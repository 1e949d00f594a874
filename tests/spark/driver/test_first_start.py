"""A query that ends before its first batch because a Python worker took too long to start."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.errors import PySparkException

from support.spark.stream_files import SECOND, Files, Sessions, rows
from windrow.spark.driver import streaming_run
from windrow.spark.driver.first_start import STARTS_LIMIT, FirstStart

LATE = Exception("SparkException: Python worker failed to connect back.")


def test_it_is_started_again_a_few_times() -> None:
    runs: list[int] = []
    start = FirstStart("query 'q'", lambda: runs.append(1))
    start.begun()
    tries = [start.again(LATE) for _ in range(STARTS_LIMIT + 1)]
    assert tries == [True] * (STARTS_LIMIT - 1) + [False] * 2
    assert len(runs) == STARTS_LIMIT - 1
    start.begun()
    assert start.again(LATE)


def test_not_for_other_reasons_nor_once_a_batch_has_run() -> None:
    start = FirstStart("query 'q'", lambda: None)
    start.begun()
    assert not start.again(Exception("no such column"))
    start.batch_came()
    assert not start.again(LATE)


class LostStream:
    """A query of Spark that has ended so."""

    isActive = False  # noqa: N815 - the name is Spark's
    lastProgress = None  # noqa: N815

    def exception(self) -> PySparkException:
        return PySparkException(str(LATE))

    def awaitTermination(self, timeout: int | None = None) -> bool:  # noqa: N802, ARG002
        raise self.exception()

    processAllAvailable = awaitTermination  # noqa: N815


@pytest.mark.long_spark
@pytest.mark.spark
def test_users_see_nothing_of_it(
    sessions: Sessions, files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    files.put("h", rows(("a", SECOND, 1.0), ("b", 2 * SECOND, 1.0)))
    started, starts = streaming_run.started_stream, []

    def lost_twice(*given: Any) -> Any:
        starts.append(given)
        return started(*given) if len(starts) > 2 else LostStream()

    monkeypatch.setattr(streaming_run, "started_stream", lost_twice)
    session = sessions.open(files)
    query = session.query("SELECT COUNT(*) AS n FROM h [1 MINUTE]")
    query.start("memory", trigger="available")
    assert query.is_running
    assert query.await_end()
    assert len(starts) == 3
    session.finish()
    assert query.result().to_pylist() == [{"n": 2}]
