"""A thread beside a durable session: it writes what waits and syncs the log, again and again."""

from __future__ import annotations

import atexit
import threading
import weakref
from contextlib import suppress
from typing import TYPE_CHECKING

from windrow.errors import WindrowError

if TYPE_CHECKING:
    from windrow.durable.session import DurableSession

__all__ = ["INTERVAL_S", "Ticking"]

# With durability="interval" so much time may pass before what was pushed is on the disk.
INTERVAL_S = 0.1


class Ticking:
    """Ticks until it is stopped, the session is forgotten, or the program ends."""

    def __init__(self, session: DurableSession) -> None:
        self._ended = threading.Event()
        self._session = weakref.ref(session, lambda _: self._ended.set())
        self._thread = threading.Thread(target=self._run, name="windrow-log", daemon=True)
        self._thread.start()
        atexit.register(self._at_exit)

    def stop(self) -> None:
        """Tick no more."""
        self._ended.set()
        atexit.unregister(self._at_exit)

    def _run(self) -> None:
        while not self._ended.wait(INTERVAL_S):
            session = self._session()
            if session is None:
                return
            # The session says at its next call what is wrong.
            with suppress(WindrowError):
                session.tick()
                session.sync()
            del session

    def _at_exit(self) -> None:
        session = self._session()
        if session is not None:
            with suppress(WindrowError):
                session.tick()
                session.sync()
