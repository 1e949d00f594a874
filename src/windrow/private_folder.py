"""Folders of this user alone: in the user's cache, else in the temporary directory.

Compiled code and programs start from them, so that nobody else may write there. A container often
runs as a user without a home, or with one that cannot be written to.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

__all__ = ["cache_folder", "home_folder", "is_private", "private_folder", "temporary_cache"]


def cache_folder() -> Path:
    """Windrow's folder for what can be rebuilt; the first writable place."""
    problems = []
    for folder in _candidates():
        try:
            return private_folder(folder)
        except OSError as problem:
            problems.append(str(problem))
    raise OSError("; ".join(problems))


def home_folder() -> Path | None:
    """The user's home; None for a user without one, as in many a container."""
    try:
        home = Path.home()
    except RuntimeError:
        return None
    return home if home.is_absolute() else None


def private_folder(folder: Path) -> Path:
    """The folder, made if need be, and closed to others; OSError where it is not this user's."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not _is_own(folder.lstat()):
        raise PermissionError(f"{folder} is not a folder of this user")
    folder.chmod(0o700)
    # A folder of one's own can be on a disk that is full or cannot be written to.
    tempfile.TemporaryFile(dir=folder).close()
    return folder


def is_private(folder: Path) -> bool:
    """Whether it is there, this user's, and closed to all others."""
    try:
        found = folder.lstat()
    except OSError:
        return False
    return _is_own(found) and stat.S_IMODE(found.st_mode) & 0o077 == 0


def temporary_cache() -> Path:
    """The folder that is used where the user has no cache."""
    return Path(tempfile.gettempdir()) / f"windrow-{os.getuid()}"


def _is_own(found: os.stat_result) -> bool:
    return found.st_uid == os.getuid() and stat.S_ISDIR(found.st_mode)


def _candidates() -> Iterator[Path]:
    given, home = os.environ.get("XDG_CACHE_HOME"), home_folder()
    if given and os.path.isabs(given):
        yield Path(given) / "windrow"
    elif home is not None:
        yield home / ".cache" / "windrow"
    yield temporary_cache()
