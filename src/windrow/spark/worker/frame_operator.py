"""The operator of checkpoints that were begun with frames of pandas instead of rows.

Spark writes into a checkpoint by which of the two its operator was called, and refuses the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from windrow.spark.worker.operator import BucketOperator

__all__ = ["FrameOperator"]


class FrameOperator(StatefulProcessor):
    """Does what the operator of rows does."""

    def __init__(self, own: BucketOperator) -> None:
        self._own = own

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Declares the state variables."""
        self._own.init(handle)

    def handleInputRows(  # noqa: N802 - the name is Spark's
        self,
        key: Any,
        rows: Iterator[pd.DataFrame],
        timerValues: Any,  # noqa: N803, ARG002 - the name is Spark's, and there are no timers
    ) -> Iterator[pd.DataFrame]:
        """Runs one batch of one bucket."""
        packets = (packet for frame in rows for packet in frame["packet"])
        yield pd.DataFrame(self._own.results(int(key[0]), packets), columns=[*self._own.names])

    def close(self) -> None:
        """As the other."""
        self._own.close()
