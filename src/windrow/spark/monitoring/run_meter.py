"""What a run on Spark measures of itself: its recent batches, and what waits in its sources."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from pyspark.sql import DataFrame

from windrow.connectors.files.spark_files_read import PlannedFile
from windrow.spark.monitoring.batch_times import BatchTimes
from windrow.spark.monitoring.source_backlog import (
    FilesRead,
    ReadSource,
    SourceBacklog,
    backlogs_of,
    files_by_folder,
    sources_read,
)

__all__ = ["RunMeter"]


class RunMeter:
    """Told of every batch in the thread of the batch, read from any."""

    def __init__(self) -> None:
        self.times = BatchTimes()
        self._sources: Sequence[ReadSource] = ()
        self._files: Mapping[str, FilesRead] = {}  # by folder

    def reads(self, frames: Mapping[str, DataFrame]) -> None:
        """The run begins to read these."""
        self._sources = sources_read(frames)

    def batch(
        self, began_us: int | None, clock_us: int | None, files: Sequence[PlannedFile]
    ) -> None:
        """The sink has a batch, for which these files were read."""
        self._files = files_by_folder(self._files, self._sources, files)
        self.times.add(began_us, time.time_ns() // 1_000, clock_us)

    def backlogs(self, last: Mapping[str, Any] | None) -> list[SourceBacklog]:
        """What waits in the sources; last: what Spark says of the last batch."""
        return backlogs_of(self._sources, self._files, [] if last is None else last["sources"])
