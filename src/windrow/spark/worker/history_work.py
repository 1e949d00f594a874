"""The work of a bucket of a history inside a Python worker: all that is heavy to import."""

from __future__ import annotations

from collections.abc import Iterable

from windrow.spark.checkpoint.history_declaration import history_fingerprint, history_of_text
from windrow.spark.processes.python_worker import settle_worker
from windrow.spark.processes.shipped_errors import shipping_errors
from windrow.spark.worker.history_live import HistoryShelf
from windrow.spark.worker.history_step import HistoryStep
from windrow.spark.worker.shard_state import ShardState

__all__ = ["run_history_bucket"]

# One shelf for all operators of this process: Spark makes a new operator for every task.
_SHELF = HistoryShelf()


def run_history_bucket(
    text: str,
    owner: str,
    bucket: int,
    archive: str | None,
    packets: Iterable[bytes],
    state: ShardState,
) -> bytes:
    """One batch of one bucket; what it gives goes to the driver."""
    settle_worker()
    with shipping_errors():
        schema = history_of_text(text)
        folder = None if archive is None else f"{archive}/bucket-{bucket:04d}"
        step = HistoryStep(schema, history_fingerprint(schema), owner, bucket, _SHELF, folder)
        return step.run_batch(packets, state).to_bytes()
