"""Live shards kept in worker processes between batches.

A live shard may be used only with the header that names its nonce. It is taken out before it is
changed and put back, under the new nonce, when the change is complete: a task that fails in between
leaves nothing behind, and a retried task finds no nonce that fits and builds the shard again.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections import OrderedDict
from collections.abc import Callable

from windrow.spark.worker.live_shard import Live
from windrow.spark.worker.remote_shards import BorrowedShard, Lender, LentShardLostError, borrow

__all__ = ["LIVE_SHARDS_LIMIT", "LiveCache", "LiveShelf"]

LIVE_SHARDS_LIMIT = 256  # per process, over all queries; the least recently used goes first
# One that has not been used for so long is most likely of a query that has stopped, which nobody
# tells the workers that go on with others. Of a query with rare batches it is built again.
IDLE_LIMIT_S = 900.0


class LiveShelf:
    """The live shards of this process, by owner (a query's checkpoint) and bucket."""

    def __init__(self, now_s: Callable[[], float] = time.monotonic) -> None:
        self._lock = threading.Lock()
        self._now_s = now_s
        # With the nonce and with when it was put here; the newest are last.
        self._shards: OrderedDict[tuple[str, int], tuple[str, Live, float]] = OrderedDict()

    def take(self, owner: str, bucket: int, nonce: str) -> Live | None:
        """Takes the live shard out, or gives None when there is none of that nonce."""
        with self._lock:
            found = self._shards.pop((owner, bucket), None)
        return found[1] if found is not None and found[0] == nonce else None

    def put(self, owner: str, bucket: int, nonce: str, live: Live) -> None:
        """Keeps the live shard for the header of that nonce."""
        with self._lock:
            self._shards[owner, bucket] = (nonce, live, self._now_s())
            self._shards.move_to_end((owner, bucket))
            while self._is_oldest_idle() or len(self._shards) > LIVE_SHARDS_LIMIT:
                self._shards.popitem(last=False)

    def _is_oldest_idle(self) -> bool:
        _, _, since_s = next(iter(self._shards.values()))
        return self._now_s() - since_s > IDLE_LIMIT_S


class LiveCache:
    """The live shards of this process and, through remote_shards.py, of the others on this host."""

    def __init__(self, lends: bool = True) -> None:
        self._shelf = LiveShelf()
        self._lends = lends
        self._lender: Lender | None = None

    def take(self, owner: str, bucket: int, nonce: str, holder: str) -> Live | None:
        """The live shard that goes with the header of that nonce, or None when there is none."""
        own = self._shelf.take(owner, bucket, nonce)
        if own is not None or not self._lends:
            return own
        try:
            return borrow(holder, owner, bucket, nonce)
        except OSError:
            return None  # without a safe place for sockets every process builds its own

    def holder_of(self, live: Live) -> str:
        """The name under which the shard can be borrowed after it was put back."""
        if isinstance(live, BorrowedShard):
            return live.holder
        if self._lender is None and self._lends:
            try:
                self._lender = Lender(self._shelf)
            except OSError:
                self._lends = False
        return self._lender.name if self._lender is not None else ""

    def put(self, owner: str, bucket: int, nonce: str, live: Live) -> None:
        """Keeps the live shard, where it is, for the header of that nonce."""
        if isinstance(live, BorrowedShard):
            # When the holder is gone the next batch finds no shard and builds one.
            with contextlib.suppress(LentShardLostError):
                live.give_back(nonce)
        else:
            self._shelf.put(owner, bucket, nonce, live)
