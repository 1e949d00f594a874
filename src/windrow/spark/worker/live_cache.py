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
from typing import Generic, TypeVar

from windrow.spark.worker.live_shard import Live
from windrow.spark.worker.remote_shards import BorrowedShard, Lender, LentShardLostError, borrow

__all__ = ["LIVE_SHARDS_LIMIT", "PROCESS_CACHE", "LiveCache", "LiveShelf"]

Held = TypeVar("Held")

LIVE_SHARDS_LIMIT = 256  # per process, over all queries; the least recently used goes first
# One that has not been used for so long is most likely of a query that has stopped, which nobody
# notifies workers that continue with others. For a query with rare batches it is rebuilt.
IDLE_LIMIT_S = 900.0


class LiveShelf(Generic[Held]):
    """What lives in this process, by owner (a checkpoint) and bucket, with the nonce of its state.

    It is taken out before it is changed and put back, under the new nonce, when the change is
    complete.
    """

    def __init__(self, now_s: Callable[[], float] = time.monotonic) -> None:
        self._lock = threading.Lock()
        self._now_s = now_s
        # With the nonce and with when it was put here; the newest are last.
        self._held: OrderedDict[tuple[str, int], tuple[str, Held, float]] = OrderedDict()

    def take(self, owner: str, bucket: int, nonce: str) -> Held | None:
        """Takes out what lives, or gives None when there is nothing of that nonce."""
        found_nonce, live = self.take_any(owner, bucket)
        return live if found_nonce == nonce else None

    def take_any(self, owner: str, bucket: int) -> tuple[str, Held | None]:
        """Takes out what lives, of whatever nonce; '' and None where nothing does."""
        with self._lock:
            found = self._held.pop((owner, bucket), None)
        return ("", None) if found is None else found[:2]

    def put(self, owner: str, bucket: int, nonce: str, live: Held) -> None:
        """Keeps what lives for the header of that nonce."""
        with self._lock:
            self._held[owner, bucket] = (nonce, live, self._now_s())
            self._held.move_to_end((owner, bucket))
            while self._is_oldest_idle() or len(self._held) > LIVE_SHARDS_LIMIT:
                self._held.popitem(last=False)

    def _is_oldest_idle(self) -> bool:
        _, _, since_s = next(iter(self._held.values()))
        return self._now_s() - since_s > IDLE_LIMIT_S


class LiveCache:
    """The live shards of this process and, through remote_shards.py, of the others on this host."""

    def __init__(self, lends: bool = True) -> None:
        self._shelf: LiveShelf[Live] = LiveShelf()
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


# For all operators of this process: Spark makes a new operator for every task.
PROCESS_CACHE = LiveCache()
