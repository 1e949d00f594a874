"""A query that ends for a reason that passes, as when a Python worker took too long to start."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from pyspark.errors import PySparkException

from support.spark.stream_files import SECOND, Files, Sessions, random_batches, rows
from windrow.spark.driver import streaming_run
from windrow.spark.driver.restarts import Restarts
from windrow.spark.processes.transient import STARTS_LIMIT

LATE = Exception("SparkException: Python worker failed to connect back.")
TAKEN = Exception("java.net.BindException: Address already in use: Service 'sparkDriver' failed")


@pytest.mark.parametrize("problem", [LATE, TAKEN])
def test_it_is_started_again_a_few_times_in_a_row(
    problem: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    runs: list[int] = []
    restarts = Restarts("query 'q'", lambda: runs.append(1))
    restarts.begun()
    tries = [restarts.again(problem) for _ in range(STARTS_LIMIT + 1)]
    assert tries == [True] * (STARTS_LIMIT - 1) + [False] * 2
    assert len(runs) == restarts.count == STARTS_LIMIT - 1
    assert caplog.messages[-1].startswith("query 'q' is restarted (start 4 of 4): ")
    restarts.begun()
    assert restarts.again(problem)


def test_a_batch_that_is_through_gives_it_its_tries_again() -> None:
    restarts = Restarts("query 'q'", lambda: None)
    restarts.begun()
    for _ in range(3 * STARTS_LIMIT):
        assert restarts.again(LATE)
        restarts.batch_done()
    assert restarts.count == 3 * STARTS_LIMIT


def test_not_for_reasons_that_stay() -> None:
    restarts = Restarts("query 'q'", lambda: None)
    restarts.begun()
    assert not restarts.again(Exception("no such column"))
    assert restarts.count == 0


class LostStream:
    """A query of Spark that has ended so."""

    isActive = False  # noqa: N815 - the name is Spark's

    class _jsq:  # noqa: N801 - Spark's name
        lastProgress = staticmethod(lambda: None)  # noqa: N815

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
    assert query.progress()["restarts"] == 2


@pytest.mark.long_spark
@pytest.mark.spark
def test_nor_where_it_ends_between_two_batches(
    sessions: Sessions, files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sink is given each batch once."""
    files.put_all(random_batches(4, seed=35))
    taken: list[int] = []
    check = streaming_run.check_files_read

    def lost_once(spark: Any) -> Any:
        if len(taken) == 2 and session._queries["q"].run.restarts == 0:
            raise PySparkException(str(LATE))
        return check(spark)

    monkeypatch.setattr(streaming_run, "check_files_read", lost_once)
    session = sessions.open(files)
    query = session.query("SELECT COUNT(*) AS n FROM h [5 SECONDS] EVERY (1 SECOND)", name="q")

    def take(_table: pa.Table, batch_id: int) -> None:
        taken.append(batch_id)

    query.start(take, trigger="available").await_end()
    session.finish()
    assert query.progress()["restarts"] == 1
    assert taken == list(range(len(taken)))
    assert len(taken) >= 4
