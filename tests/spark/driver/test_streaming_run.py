"""What all runs on Spark share, with streams that only pretend to be Spark's."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame

from windrow.errors import BindingError, WindrowError
from windrow.spark.checkpoint.query_checkpoint import QueryCheckpoint
from windrow.spark.driver.streaming_run import Batch, StreamingRun
from windrow.spark.processes.transient import STARTS_LIMIT
from windrow.storage import Storage

LATE = PySparkException("SparkException: Python worker failed to connect back.")


class PretendedStream:
    """Fails with a problem, or takes all that is there."""

    def __init__(self, problem: Exception | None) -> None:
        self._problem = problem
        self.isActive = problem is None
        self.taken = 0

    def exception(self) -> Exception | None:
        return self._problem

    def processAllAvailable(self) -> None:  # noqa: N802 - the name is Spark's
        if self._problem is not None:
            raise self._problem
        self.taken += 1

    def awaitTermination(self, timeout: int | None = None) -> bool:  # noqa: N802, ARG002
        self.processAllAvailable()
        self.isActive = False
        return True

    def stop(self) -> None:
        self.isActive = False


class PretendedRun(StreamingRun):
    """Starts one stream after the other."""

    def __init__(self, folder: Path, *problems: Exception | None) -> None:
        spark: Any = None
        super().__init__(spark, QueryCheckpoint(Storage(folder), "q"), "query 'q'", 1)
        self._left = [PretendedStream(problem) for problem in problems]
        self.starts = 0
        self.orders: list[int] = []  # how many there were at each start

    def _sources(self) -> Mapping[str, DataFrame]:
        return {}

    def _claim(self, buckets: int) -> None:
        raise AssertionError(buckets)

    def _outputs(self, buckets: tuple[int, ...]) -> DataFrame:
        raise AssertionError(buckets)

    def _take(self, batch: Batch) -> None:
        raise AssertionError(batch)

    def _run(self) -> None:
        self.starts += 1
        self.orders.append(len(self._control.names()))
        stream: Any = self._left.pop(0)
        self.stream = stream


def test_one_that_was_not_started_says_so(tmp_path: Path) -> None:
    with pytest.raises(BindingError, match=r"WB413.*query 'q' was not started"):
        PretendedRun(tmp_path).catch_up()


def test_a_start_that_came_to_nothing_is_made_again(tmp_path: Path) -> None:
    run = PretendedRun(tmp_path, LATE, LATE, None)
    run.launch(None)
    run.catch_up()
    assert run.starts == 3
    assert run.is_running


def test_it_is_started_again_once_for_each_stream_that_ended(tmp_path: Path) -> None:
    run = PretendedRun(tmp_path, LATE, None, None)
    run.launch(None)
    ended = run.stream
    # In the thread of another query's batch it was seen to have ended, too.
    assert [run._again(ended, LATE) for _ in range(3)] == [True, True, True]
    assert run.starts == 2
    run.catch_up()
    stream: Any = run.stream
    assert stream.taken == 1


def test_what_it_fails_with_is_raised(tmp_path: Path) -> None:
    run = PretendedRun(tmp_path, PySparkException("no such column"))
    run.launch(None)
    with pytest.raises(WindrowError, match=r"WX401.*query 'q' failed on Spark: no such column"):
        run.catch_up()
    always = PretendedRun(tmp_path, *[LATE] * STARTS_LIMIT)
    always.launch(None)
    with pytest.raises(WindrowError, match="WX401"):
        always.catch_up()
    assert always.starts == STARTS_LIMIT


def test_the_end_of_streams_comes_behind_all_rows_also_of_one_that_failed(tmp_path: Path) -> None:
    run = PretendedRun(tmp_path, PySparkException("out of memory"), None, None)
    run.launch("1 second")
    run.finish()
    assert run.orders == [0, 0, 1]  # it reads all that is there, then the end


def test_one_that_has_read_all_is_only_told_of_the_end(tmp_path: Path) -> None:
    run = PretendedRun(tmp_path, None, None)
    run.launch("available")
    run.finish()
    assert run.orders == [0, 1]
    run.stop()
    run.finish()  # of one that was stopped nothing is asked
    assert run.starts == 2
