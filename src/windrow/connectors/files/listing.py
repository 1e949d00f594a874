"""The files that the path of a source means now: none yet is nothing wrong."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator
from pathlib import Path

from windrow.connectors.files.connector import FileSource
from windrow.errors import DataError

__all__ = ["MOST_FILES", "listed", "rotated_from"]

# What half-written files are called by those who rename them when they are complete.
_HIDDEN = (".", "_")
_UNFINISHED = (".tmp", ".part", ".partial", ".filepart", ".crdownload", ".swp", "~")
# A position has an entry for each file.
MOST_FILES = 100_000


def listed(source: FileSource) -> list[Path]:
    """Files that are there by now, in the order of their names."""
    found = sorted(each for each in _found(source.path) if is_finished_name(each.name))
    if len(found) > MOST_FILES:
        raise DataError(
            "WD531",
            f"{source.path!r} has {len(found):,} files, and more than {MOST_FILES:,} are not "
            "followed",
            hint="move files away that were read, or name a pattern that fewer fit",
            place=source.place,
        )
    return found


def _found(path: str) -> Iterator[Path]:
    try:
        with os.scandir(path) as entries:
            yield from (Path(entry.path) for entry in entries if entry.is_file())
        return
    except NotADirectoryError:
        yield Path(path)
        return
    except FileNotFoundError:
        pass
    for each in glob.glob(path):
        if os.path.isfile(each):
            yield Path(each)


def is_finished_name(name: str) -> bool:
    """Whether nobody says by a name that the file is not complete.

    >>> [is_finished_name(name) for name in ("a.csv", ".a.csv", "_SUCCESS", "a.csv.tmp")]
    [True, False, False, False]
    """
    return not name.startswith(_HIDDEN) and not name.endswith(_UNFINISHED)


def rotated_from(path: Path, by_inode: str | None = None) -> list[Path]:
    """Files beside one whose names begin with its name, as those who rotate logs give them.

    by_inode: the number of a file; it comes first, whatever it is called now.
    """
    first, others = [], []
    try:
        with os.scandir(path.parent) as entries:
            for entry in entries:
                if by_inode is not None and str(entry.inode()) == by_inode:
                    first.append(Path(entry.path))
                elif entry.name != path.name and entry.name.startswith(
                    (f"{path.name}.", f"{path.name}-")
                ):
                    others.append(Path(entry.path))
    except OSError:
        return []
    return first + sorted(others)
