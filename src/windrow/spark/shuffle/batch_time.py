"""The time of a batch, for the tasks that pack its rows and judge which are too far ahead.

It is the one that Spark has recorded with the batch's offsets, so that a batch that is run again
judges its rows alike. It travels as a property of the job. As a column it would be written for
every row; and as a constant that is another one in every batch, it would have Spark generate and
compile the code of the scan in every batch.
"""

from __future__ import annotations

import json

from pyspark import SparkContext, TaskContext

__all__ = ["BATCH", "known_time", "tell_time"]

BATCH = "streaming.sql.batchId"  # set by Spark for the tasks of a streaming query
_PROPERTY = "windrow.now"


def tell_time(context: SparkContext, batch_id: int, now_us: int | None) -> None:
    """Tells the tasks of the batch, which are to be started by this thread."""
    context.setLocalProperty(_PROPERTY, json.dumps([batch_id, now_us]))


def known_time(task: TaskContext | None) -> int | None:
    """When the batch of this task began, in microseconds; None where nobody has said so."""
    told = None if task is None else task.getLocalProperty(_PROPERTY)
    if task is None or told is None:
        return None
    batch_id, now_us = json.loads(told)
    # A query that is started from within another's batch inherits its properties.
    return now_us if str(batch_id) == task.getLocalProperty(BATCH) else None
