"""What a query notes before a part of a step, and the rows that it is about to take in it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.governor.bounded.answers import BoundedMark
from windrow.output.publish import PublisherMark
from windrow.runtime.shard import ShardMark
from windrow.windows.marks import DeepMark, Mark

__all__ = ["QueryMark", "TakenRows"]


class QueryMark(NamedTuple):
    """How all parts of a query were before a part of a step."""

    shard: ShardMark
    publisher: PublisherMark
    judged: BoundedMark | None
    others: Mark
    missed: DeepMark


class TakenRows(NamedTuple):
    """Rows of one input that are about to be taken: as they came, when they enter, as prepared."""

    batch: pa.RecordBatch
    instants: NDArray[np.int64]
    prepared: pa.RecordBatch
