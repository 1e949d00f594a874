"""One driver at a time on a checkpoint: two would write over each other, each from its own memory.

On a local file system a lock, which ends with the process however it ends, keeps a second driver
out. Everywhere the last one to start writes its name, and one that finds another name before it
gives a batch to its sink has been left behind, and ends.
"""

from __future__ import annotations

import fcntl
import json
import os
import platform
import threading
import uuid
from collections.abc import Callable
from pathlib import Path

from windrow.errors import CheckpointError
from windrow.storage import Storage

__all__ = ["DriverLease"]

_NAME = "driver.json"
_LOCK = "driver.lock"

_GUARD = threading.Lock()
# Leases of this process that hold a lock, by its file.
_HELD: dict[Path, DriverLease] = {}


class DriverLease:
    """The right of one run's driver to continue a checkpoint.

    what: the run, as errors name it. is_in_use: whether it is at work; a lease that is not is given
    up to whoever asks in the same process.
    """

    def __init__(self, storage: Storage, what: str, is_in_use: Callable[[], bool]) -> None:
        self._storage = storage
        self._what = what
        self._is_in_use = is_in_use
        self._token = ""
        self._file: int | None = None

    def take(self) -> None:
        """Becomes the driver; refused while another one holds the lock."""
        folder = self._storage.local_path
        if folder is not None:
            with _GUARD:
                self._lock(folder / _LOCK)
        self._token = uuid.uuid4().hex
        name = {"token": self._token, "host": platform.node(), "process": os.getpid()}
        self._storage.write(_NAME, json.dumps(name).encode())

    def check(self) -> None:
        """Refuses to continue when another driver has started since."""
        found = self._named()
        if found.get("token") != self._token:
            raise CheckpointError(
                "WC216",
                f"{self._what} was taken over by the driver {_shown(found)}: this one "
                "gives no more to the sink",
                hint="end this driver; to run a query twice, give each copy its own checkpoint",
            )

    def release(self) -> None:
        """Lets others become the driver."""
        with _GUARD:
            if self._file is not None:
                os.close(self._file)
                self._file = None
            for path in [path for path, lease in _HELD.items() if lease is self]:
                del _HELD[path]

    def _lock(self, path: Path) -> None:
        if self._file is not None:
            return
        holder = _HELD.pop(path, None)
        if holder is not None and not holder._is_in_use() and holder._file is not None:
            os.close(holder._file)
            holder._file = None
        elif holder is not None:
            _HELD[path] = holder
        with self._storage.writing(f"/{_LOCK}"):
            file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(file)
            raise CheckpointError(
                "WC215",
                f"the checkpoint of {self._what} is in use by the driver {_shown(self._named())}",
                hint="stop that one first, or give this query another checkpoint directory",
            ) from None
        except OSError:
            os.close(file)  # a file system without locks: the name alone must do
            return
        self._file, _HELD[path] = file, self

    def _named(self) -> dict[str, object]:
        data = self._storage.read(_NAME)
        try:
            found = json.loads(data or b"{}")
        except ValueError:
            return {}
        return found if isinstance(found, dict) else {}


def _shown(name: dict[str, object]) -> str:
    return f"of process {name.get('process', 'unknown')} on {name.get('host', 'an unknown host')}"
