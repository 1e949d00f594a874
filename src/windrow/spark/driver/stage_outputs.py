"""What all stages of a tree give in a batch: the last one takes it to the driver."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from windrow.spark.worker.shard_output import ShardOutput

__all__ = ["by_bucket", "told_by"]


def by_bucket(outputs: Sequence[ShardOutput]) -> list[ShardOutput]:
    """The outputs of all buckets of all stages, those of the first stage first."""
    below = [ShardOutput.from_bytes(each) for output in outputs for each in output.below]
    found = [*below, *(replace(output, below=[]) for output in outputs)]
    return sorted(found, key=lambda output: (output.stage, output.bucket))


def told_by(outputs: Sequence[ShardOutput]) -> list[ShardOutput]:
    """What the last stage says of the result, at the instants that any stage has answers for."""
    last = max(output.stage for output in outputs)
    if last == 0:
        return list(outputs)
    instants = np.unique(np.concatenate([output.instants for output in outputs]))
    return [replace(output, instants=instants) for output in outputs if output.stage == last]
