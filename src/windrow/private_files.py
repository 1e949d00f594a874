"""Files and folders that hold rows of users, and are therefore nobody else's to read."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

__all__ = ["create_private", "is_full", "make_private"]

_FULL = (errno.ENOSPC, errno.EDQUOT)


def make_private(folder: Path) -> None:
    """Makes the folder and those above it that are missing, closed to others.

    Below a folder that its group may write to, the group keeps its rights: somebody has set it up
    for accounts that work together, such as a driver's and its executors'.
    """
    missing = []
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    if not folder.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder))
    mode = 0o770 if _has_group(folder) else 0o700
    for each in reversed(missing):
        each.mkdir(mode=mode, exist_ok=True)
        if mode == 0o770:
            each.chmod(mode)  # mkdir leaves out what the umask says


def create_private(path: Path) -> BinaryIO:
    """Opens a new file for writing; one that is there already, or a link, is refused."""
    mode = 0o660 if _has_group(path.parent) else 0o600
    return os.fdopen(
        os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode),
        "wb",
    )


def is_full(problem: OSError) -> bool:
    """Whether a write has failed because there is no room."""
    return problem.errno in _FULL or any(os.strerror(code) in str(problem) for code in _FULL)


def _has_group(folder: Path) -> bool:
    return bool(folder.stat().st_mode & stat.S_IWGRP)
