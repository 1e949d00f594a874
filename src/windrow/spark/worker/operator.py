"""The stateful operator: Spark calls it once per bucket and batch with that bucket's packets."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

import pandas as pd
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from windrow.spark.worker.shard_state import StoredState

__all__ = ["ShardOperator"]


class ShardOperator(StatefulProcessor):
    """Holds what a shard's step needs, as values that travel to the workers.

    work: the function of worker.work that runs a batch.
    """

    def __init__(
        self,
        plan_text: str,
        fingerprint: str,
        owner: str,
        buckets: tuple[int, ...],
        grid_us: int,
        work: str = "run_bucket",
    ) -> None:
        self.work = work
        self._plan_text = plan_text
        self._fingerprint = fingerprint
        self._owner = owner
        self._grid_us = grid_us
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
        output = self.run(self._index[bucket], packets)
        yield pd.DataFrame({"bucket": [bucket], "output": [output]})

    def run(self, bucket: int, packets: list[bytes]) -> bytes:
        """One batch of the bucket of this index."""
        # When a query starts, Spark starts a process beside the driver that only declares the state
        # and must do so within seconds: what works on rows is imported where there are rows.
        work = importlib.import_module("windrow.spark.worker.work")
        place = (self._fingerprint, self._owner, bucket)
        given: bytes = getattr(work, self.work)(
            self._plan_text, *place, self._grid_us, packets, self._state
        )
        return given

    def close(self) -> None:
        """Nothing is held between tasks but the live shards."""
