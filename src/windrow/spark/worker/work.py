"""The work of a bucket inside a Python worker: everything heavy that the operator needs."""

from __future__ import annotations

from collections.abc import Iterable

from windrow.spark.processes.python_worker import plan_of, settle_worker
from windrow.spark.processes.shipped_errors import shipping_errors
from windrow.spark.worker.bundle_step import BundleStep
from windrow.spark.worker.live_cache import LiveCache
from windrow.spark.worker.shard_state import ShardState
from windrow.spark.worker.shard_step import ShardStep

__all__ = ["run_bucket", "run_bundle"]

# One cache for all operators of this process: Spark makes a new operator for every task.
_CACHE = LiveCache()


def run_bucket(
    plan_text: str,
    fingerprint: str,
    owner: str,
    bucket: int,
    grid_us: int,
    packets: Iterable[bytes],
    state: ShardState,
) -> bytes:
    """One batch of one bucket; what it gives goes to the driver."""
    settle_worker()
    with shipping_errors():
        step = ShardStep(plan_of(plan_text), fingerprint, owner, bucket, _CACHE, grid_us)
        return step.run_batch(packets, state).to_bytes()


def run_bundle(
    carrier_text: str,
    fingerprint: str,
    owner: str,
    bucket: int,
    grid_us: int,
    packets: Iterable[bytes],
    state: ShardState,
) -> bytes:
    """One batch of one bucket of a bundle; each of its queries has a grid of its own."""
    settle_worker()
    with shipping_errors():
        step = BundleStep(plan_of(carrier_text), fingerprint, owner, bucket, _CACHE, grid_us)
        return step.run_batch(packets, state).to_bytes()
