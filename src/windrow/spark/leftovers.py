"""Files of sessions in the temporary directory, also those that killed sessions have left there.

Names tell whose they are: the host, as containers may share the directory, and the process.
"""

from __future__ import annotations

import contextlib
import os
import platform
import re
import shutil
import tempfile
import time
from pathlib import Path

__all__ = ["own_log", "temporary_folder"]

# A log is looked at after its process has ended.
LOG_KEPT_S = 86_400


def temporary_folder() -> Path:
    """A new folder of this process; those of processes that have ended are removed."""
    _sweep()
    return Path(tempfile.mkdtemp(prefix=f"{_prefix()}{os.getpid()}-"))


def own_log() -> Path:
    """The file for what the JVM of this process has to say; old ones are removed."""
    _sweep()
    return Path(tempfile.gettempdir()) / f"{_prefix()}{os.getpid()}.log"


def _prefix() -> str:
    return f"windrow-{platform.node()}-"


def _sweep() -> None:
    named = re.compile(re.escape(_prefix()) + r"(\d+)(\.log|-\w+)")
    for path in Path(tempfile.gettempdir()).glob("windrow-*"):
        found = named.fullmatch(path.name)
        if found is None or not _has_ended(int(found[1])):
            continue
        with contextlib.suppress(OSError):  # another process may sweep, too
            status = path.lstat()
            if status.st_uid != os.getuid():
                continue
            if found[2] != ".log":
                shutil.rmtree(path, ignore_errors=True)
            elif time.time() - status.st_mtime > LOG_KEPT_S:
                path.unlink()


def _has_ended(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    except PermissionError:  # it is somebody else's
        return False
    return False
