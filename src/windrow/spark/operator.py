"""The stateful operator: Spark calls it once per bucket and batch with that bucket's packets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from windrow.spark.live_cache import LiveCache
from windrow.spark.shard_state import StoredState
from windrow.spark.shard_step import ShardStep
from windrow.spark.shipped_errors import shipping_errors
from windrow.spark.worker import plan_of, settle_worker

__all__ = ["ShardOperator"]

# One cache for all operators of this process: Spark makes a new operator for every task.
_CACHE = LiveCache()


class ShardOperator(StatefulProcessor):
    """Holds what a shard's step needs, as values that travel to the workers."""

    def __init__(
        self,
        plan_text: str,
        fingerprint: str,
        owner: str,
        buckets: tuple[int, ...],
        grid_us: int,
    ) -> None:
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
        settle_worker()
        bucket = int(key[0])
        with shipping_errors():
            assert self._state is not None
            step = ShardStep(
                plan_of(self._plan_text),
                self._fingerprint,
                self._owner,
                self._index[bucket],
                _CACHE,
                self._grid_us,
            )
            packets = [packet for frame in rows for packet in frame["packet"]]
            output = step.run_batch(packets, self._state)
            yield pd.DataFrame({"bucket": [bucket], "output": [output.to_bytes()]})

    def close(self) -> None:
        """Nothing is held beyond the cache."""
