"""Work in a copy of this process, which has loaded all it needs: a kill costs milliseconds."""

from __future__ import annotations

import faulthandler
import os
import select
import signal
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

__all__ = ["PATIENCE_S", "Ending", "forked"]

# What takes so long hangs.
PATIENCE_S = 3600.0


class Ending(NamedTuple):
    """How it ended: status 0 is well, 1 by an exception, below 0 by a signal."""

    status: int
    lasted_s: float

    @property
    def was_killed(self) -> bool:
        """Whether by kill -9."""
        return self.status == -signal.SIGKILL


def forked(work: Callable[[], None], kill_after_s: float | None = None) -> Ending:
    """Do it in a copy of this process, which is killed after that time if it still runs."""
    sys.stdout.flush()
    sys.stderr.flush()
    began = time.monotonic()
    child = os.fork()
    if child == 0:
        _work(work)
    watched = os.pidfd_open(child)
    try:
        patience_s = PATIENCE_S if kill_after_s is None else kill_after_s
        if not select.select([watched], [], [], patience_s)[0]:
            if kill_after_s is None:
                os.kill(child, signal.SIGABRT)  # shows where it hangs
                time.sleep(1)
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
    finally:
        os.close(watched)
    return Ending(os.waitstatus_to_exitcode(status), time.monotonic() - began)


def _work(work: Callable[[], None]) -> None:
    status = 1
    try:
        faulthandler.enable()
        work()
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(status)
