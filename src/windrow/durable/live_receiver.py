"""What takes in what sources give to a durable session: rows and positions are in its log."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from windrow.durable.journal import Journal
from windrow.embedded.live_receiver import LiveReceiver

if TYPE_CHECKING:
    from windrow.durable.ingest import DurableIngest

__all__ = ["DurableReceiver"]


class DurableReceiver(LiveReceiver):
    """The numbers of records are the marks."""

    def __init__(self, lock: threading.RLock, ingest: DurableIngest, journal: Journal) -> None:
        super().__init__(lock, ingest)
        self._journal = journal

    def written_mark(self) -> int:
        """The number of the last record."""
        return self._journal.log.sequence

    def safe_mark(self) -> int:
        """The number of the last record that is on the disk, or need not be."""
        log = self._journal.log
        return log.safe if self._journal.syncs_at_all else log.sequence

    def sync(self) -> None:
        """All records are on the disk when it returns."""
        self._journal.sync()
