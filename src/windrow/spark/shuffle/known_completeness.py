"""How far streams were complete when a batch began, for the tasks that pack its rows.

Only the stateful operator must know it, and does. Packing tasks that know it too can leave out what
is late, and then combine rows. It travels as a property of the thread that runs the query's
batches: Spark hands it to every task of the next one. Tasks that are not told do without.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from pyspark import SparkContext, TaskContext

from windrow.event_time import START_OF_TIME
from windrow.spark.shuffle.batch_time import BATCH

__all__ = ["known_completeness", "tell_completeness"]

_PROPERTY = "windrow.complete"


def tell_completeness(
    context: SparkContext, owner: str, batch_id: int, complete_us: Mapping[str, int]
) -> None:
    """Tells the tasks of the batch after this one; owner: whose streams they are."""
    told = {"owner": owner, "batch": batch_id, "complete_us": dict(complete_us)}
    context.setLocalProperty(_PROPERTY, json.dumps(told))


def known_completeness(
    task: TaskContext | None, owner: str, stream: str, *, is_begun: bool = False
) -> int | None:
    """Through which instant the stream was complete when the batch began, if the task knows.

    is_begun: whether something came before the first batch, in another run.
    """
    batch = None if task is None else task.getLocalProperty(BATCH)
    if task is None or batch is None:
        return None
    if int(batch) == 0:
        return None if is_begun else START_OF_TIME
    told = json.loads(task.getLocalProperty(_PROPERTY) or "{}")
    # A query that was started from within another's batch inherits its values.
    if told.get("owner") != owner or told["batch"] != int(batch) - 1:
        return None
    complete_us: int | None = told["complete_us"].get(stream)
    return complete_us
