"""The stateful operator of a history: Spark calls it once per bucket and batch."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

import pandas as pd
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from windrow.spark.worker.shard_state import StoredState

__all__ = ["HistoryOperator"]


class HistoryOperator(StatefulProcessor):
    """Holds what a bucket's step needs, as values that travel to the workers."""

    def __init__(
        self, text: str, owner: str, buckets: tuple[int, ...], archive: str | None
    ) -> None:
        self._text = text
        self._owner = owner
        self._archive = archive
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
        # The process that only declares the state must start within seconds: what works on rows is
        # imported where there are rows.
        work = importlib.import_module("windrow.spark.worker.history_work")
        bucket = int(key[0])
        packets = [packet for frame in rows for packet in frame["packet"]]
        output = work.run_history_bucket(
            self._text, self._owner, self._index[bucket], self._archive, packets, self._state
        )
        yield pd.DataFrame({"bucket": [bucket], "output": [output]})

    def close(self) -> None:
        """Nothing is held between tasks but the live histories."""
