"""The checkpoint directory of one query: what lies where, and whom it belongs to.

windrow.json    format, fingerprint of the plan, number of buckets
spark/          Spark's offsets, commits and state store
control/        heartbeats, ends of streams and widths, read as one more stream
publish/        what the driver knows after each of the last batches
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from windrow.errors import CheckpointError
from windrow.spark.storage import Storage

__all__ = ["CHECKPOINT_FORMAT", "QueryCheckpoint"]

CHECKPOINT_FORMAT = 2

_OWNER = "windrow.json"
_MEANINGS = {
    "format": "format of the checkpoint",
    "fingerprint": "fingerprint of the query's plan",
    "buckets": "number of buckets",
    "grid_us": "grid of instants, in microseconds (1 where changes are wanted too)",
}


@dataclass(frozen=True)
class _Owner:
    format: int
    fingerprint: str
    buckets: int
    grid_us: int


class QueryCheckpoint:
    """The directories of one query, checked to be its own."""

    def __init__(self, root: Storage, query: str) -> None:
        self.query = query
        self.storage = root.inside(query)
        self.control = self.storage.inside("control")
        self.publish = self.storage.inside("publish")

    @property
    def spark_location(self) -> str:
        """What Spark is given as checkpointLocation."""
        return f"{self.storage.location.rstrip('/')}/spark"

    @property
    def control_location(self) -> str:
        """What Spark reads control rows from."""
        return self.control.location

    def claim(self, fingerprint: str, buckets: int, grid_us: int = 1) -> None:
        """Takes a new directory for this plan, or checks that an old one is this plan's."""
        mine = _Owner(CHECKPOINT_FORMAT, fingerprint, buckets, grid_us)
        data = self.storage.read(_OWNER)
        if data is None:
            self.storage.write(_OWNER, json.dumps(asdict(mine)).encode())
            return
        theirs = self._owner(data)
        for field, meaning in _MEANINGS.items():
            wanted, found = getattr(mine, field), getattr(theirs, field)
            if wanted != found:
                raise CheckpointError(
                    "WC210",
                    f"the checkpoint of query {self.query!r} belongs to something else: "
                    f"its {meaning} is {found}, this query's is {wanted}",
                    hint="give the query another name or another checkpoint directory",
                )

    def claimed_buckets(self) -> int | None:
        """How many buckets the checkpoint was begun with; None when it is new."""
        data = self.storage.read(_OWNER)
        return None if data is None else self._owner(data).buckets

    def _owner(self, data: bytes) -> _Owner:
        try:
            return _Owner(**json.loads(data))
        except (ValueError, TypeError) as problem:
            raise CheckpointError(
                "WC211",
                f"{_OWNER} in the checkpoint of query {self.query!r} is damaged: {problem}",
                hint="restore the checkpoint directory from a copy, or start with a new one",
            ) from problem
