"""One process compiles a kernel; others that need it meanwhile wait, and load what was compiled.

Several processes that begin on a new machine, such as workers of a test run, need the same kernels
at the same time. The lock is one of the operating system on a file beside the compiled code: it is
gone with the process that holds it. Who has waited for long compiles by itself: that does no harm.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows: everybody compiles
    fcntl = None  # type: ignore[assignment]

__all__ = ["OneCompiles"]

# No kernel takes so long, even where many processes compile.
WAIT_S = 30.0
LOOK_S = 0.02


class OneCompiles:
    """The lock of one kernel; path: a file in a folder for compiled code.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     lock, other = (OneCompiles(Path(folder) / "kernel.lock") for _ in range(2))
    ...     lock.wait(), other.wait(seconds=0.0), lock.leave(), other.wait(), other.leave()
    (True, False, None, True, None)
    """

    def __init__(self, path: Path | None) -> None:
        self._path, self._file = path, -1

    def wait(self, seconds: float = WAIT_S) -> bool:
        """Hold the lock, unless another process holds it for longer than that."""
        if fcntl is None or self._path is None or self._file >= 0:
            return self._file >= 0
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError:
            return False
        until = time.monotonic() + seconds
        while True:
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return True
            except BlockingIOError:
                if time.monotonic() < until:
                    time.sleep(LOOK_S)
                    continue
            except OSError:  # a file system without locks
                pass
            self._close()
            return False

    def leave(self) -> None:
        """Let others go on; the file is of no more use: the code is there now."""
        if self._file >= 0:
            with suppress(OSError):
                if self._path is not None:
                    self._path.unlink()
            self._close()

    def _close(self) -> None:
        file, self._file = self._file, -1
        os.close(file)
