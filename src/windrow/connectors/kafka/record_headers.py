"""Headers of the records that Windrow writes: they name the row.

windrow-batch (query, state or checkpoint, batch) and windrow-row (number within the batch) are the
same when a batch is given again, so that a reader can tell a repeated record.
"""

from __future__ import annotations

__all__ = ["BATCH_HEADER", "ROW_HEADER"]

BATCH_HEADER = "windrow-batch"
ROW_HEADER = "windrow-row"
