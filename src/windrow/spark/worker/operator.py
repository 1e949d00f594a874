"""The stateful operator: Spark calls it once per bucket and batch with that bucket's packets."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

import pandas as pd
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from windrow.spark.worker.bucket_state import StoredState

__all__ = ["BucketOperator"]


class BucketOperator(StatefulProcessor):
    """Holds what a bucket's step needs, as values that travel to the workers.

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
        rows: Iterator[pd.DataFrame],
        timerValues: Any,  # noqa: N803, ARG002 - the name is Spark's, and there are no timers
    ) -> Iterator[pd.DataFrame]:
        """Runs one batch of one bucket."""
        bucket = int(key[0])
        packets = [packet for frame in rows for packet in frame["packet"]]
        values = self.run(self._index[bucket], packets)
        if self._receivers:
            yield pd.DataFrame({"bucket": self._receivers, "packet": values})
        else:
            yield pd.DataFrame({"bucket": [bucket], "output": values})

    def run(self, bucket: int, packets: list[bytes]) -> list[bytes]:
        """One batch of the bucket of this index."""
        # When a query starts, Spark starts a process on the driver that only declares the state and
        # must do so within seconds: what works on rows is imported where there are rows.
        work = importlib.import_module("windrow.spark.worker.work")
        given: list[bytes] = work.run_bucket(self.step, self._given, bucket, packets, self._state)
        return given

    def close(self) -> None:
        """Nothing is held between tasks but what lives in the process."""
