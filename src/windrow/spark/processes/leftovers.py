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

__all__ = ["known_log", "opened_log", "temporary_folder"]

# A log is looked at after its process has ended.
LOG_KEPT_S = 86_400

# By process, as one that was forked has a log of its own.
_LOGS: dict[int, Path] = {}


def temporary_folder() -> Path:
    """A new folder of this process; those of processes that have ended are removed."""
    _sweep()
    return Path(tempfile.mkdtemp(prefix=f"{_prefix()}{os.getpid()}-"))


def opened_log() -> int:
    """The file for what the JVM of this process has to say, opened; old ones are removed.

    Nobody can know its name before: another user's link of that name would be written through.
    """
    _sweep()
    known = _LOGS.get(os.getpid())
    flags = os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        if known is not None and known.exists():
            return os.open(known, flags)
        file, name = tempfile.mkstemp(prefix=f"{_prefix()}{os.getpid()}-", suffix=".log")
    except OSError:  # no room, or nothing to be written: what would have been said is not kept
        return os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
    _LOGS[os.getpid()] = Path(name)
    return file


def known_log() -> Path | None:
    """Where the JVM of this process has written what it had to say; None if nowhere."""
    return _LOGS.get(os.getpid())


def _prefix() -> str:
    return f"windrow-{platform.node()}-"


def _sweep() -> None:
    named = re.compile(re.escape(_prefix()) + r"(\d+)(-\w+\.log|\.log|-\w+)")
    for path in Path(tempfile.gettempdir()).glob("windrow-*"):
        found = named.fullmatch(path.name)
        if found is None or not _has_ended(int(found[1])):
            continue
        with contextlib.suppress(OSError):  # another process may sweep, too
            status = path.lstat()
            if status.st_uid != os.getuid():
                continue
            if not found[2].endswith(".log"):
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
