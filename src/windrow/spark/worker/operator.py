"""The stateful operator: Spark calls it once per bucket and batch with that bucket's packets."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator
from typing import Any

from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from windrow.spark.worker.bucket_state import StoredState

__all__ = ["BucketOperator"]


class BucketOperator(StatefulProcessor):
    """Holds what a bucket's step needs, as values that travel to the workers.

    It takes and gives rows: packets are few, and a frame of pandas around them costs more than the
    rest of a small batch in a bucket.

    step: the module in this folder whose step_of() makes the step, of `given` and the bucket.
    receivers: the buckets of the operator that follows; none where the driver does.
    """

    def __init__(
        self,
        step: str,
        given: tuple[Any, ...],
        buckets: tuple[int, ...],
        receivers: tuple[int, ...] = (),
    ) -> None:
        self.step = step
        self._receivers = receivers
        self._given = given
        self._index = {bucket: index for index, bucket in enumerate(buckets)}
        self._state: StoredState | None = None

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Declares the state variables."""
        self._state = StoredState(handle)

    def handleInputRows(  # noqa: N802 - the name is Spark's
        self,
        key: Any,
        rows: Iterator[Row],
        timerValues: Any,  # noqa: N803, ARG002 - the name is Spark's, and there are no timers
    ) -> Iterator[Row]:
        """Runs one batch of one bucket."""
        for bucket, value in self.results(int(key[0]), (row["packet"] for row in rows)):
            yield Row(**dict(zip(self.names, (bucket, value), strict=True)))

    @property
    def names(self) -> tuple[str, str]:
        """What the columns of its results are called."""
        return ("bucket", "packet" if self._receivers else "output")

    def results(self, bucket: int, packets: Iterable[bytes]) -> list[tuple[int, bytes]]:
        """What a bucket gives in one batch: for each that receives something, or its own output."""
        values = self.run(self._index[bucket], list(packets))
        return list(zip(self._receivers or (bucket,), values, strict=True))

    def run(self, bucket: int, packets: list[bytes]) -> list[bytes]:
        """One batch of the bucket of this index."""
        # When a query starts, Spark starts a process on the driver that only declares the state and
        # must do so within seconds: what works on rows is imported where there are rows.
        work = importlib.import_module("windrow.spark.worker.work")
        given: list[bytes] = work.run_bucket(self.step, self._given, bucket, packets, self._state)
        return given

    def close(self) -> None:
        """Nothing is held between tasks but what lives in the process."""
