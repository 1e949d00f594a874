"""The work of a bucket inside a Python worker: one batch, by a step of whatever kind."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from typing import Any

from windrow.spark.processes.python_worker import prepare_worker
from windrow.spark.processes.shipped_errors import shipping_errors
from windrow.spark.worker.bucket_state import BucketState

__all__ = ["run_bucket"]


def run_bucket(
    step: str, given: tuple[Any, ...], bucket: int, packets: Iterable[bytes], state: BucketState
) -> list[bytes]:
    """One batch of one bucket; its output goes to the driver, or to all buckets of a next stage."""
    prepare_worker()
    with shipping_errors():
        # A worker of queries need not import all that a history needs, nor the other way round.
        made = importlib.import_module(f"windrow.spark.worker.{step}").step_of(*given, bucket)
        values: list[bytes] = made.values(packets, state)
        return values
