"""Snapshots: files that stand for the log up to a record, so that a replay can begin after it.

The newest two are kept, with the log from the older one on: where the newest is damaged, the one
before it and a longer replay give the same session.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from windrow.durable.errors import newer_format
from windrow.durable.folder import StateFolder
from windrow.durable.log_files import obsolete_files
from windrow.errors import CheckpointError
from windrow.rows.frames import Section, read_frame, write_frame

__all__ = ["Snapshot", "is_snapshot", "newest_snapshot", "remove_unfinished", "write_snapshot"]

# Version 2 has rows that are shared once, and what the governor has decided; 3 has those of trees
# among them; 4 views, open questions about the past, queries with ERROR and those that lack rows.
SNAPSHOT_VERSION = 4
SNAPSHOTS_KEPT = 2
_KIND = "session"
_PREFIX, _SUFFIX, _UNFINISHED = "snapshot-", ".wsnap", ".new"
_LOGGER = logging.getLogger(__name__)


class Snapshot(NamedTuple):
    """What is saved, after the record of that number."""

    sequence: int
    header: dict[str, Any]
    sections: list[memoryview]


def is_snapshot(name: str) -> bool:
    """Whether a file is a snapshot, or was to be one."""
    return name.startswith(_PREFIX) and name.removesuffix(_UNFINISHED).endswith(_SUFFIX)


def newest_snapshot(folder: StateFolder) -> Snapshot | None:
    """The newest that is whole; None where there is none."""
    problem = None
    for name in reversed(_finished(folder)):
        try:
            header, sections = read_frame(_KIND, folder.read(name), f"snapshot {name}")
        except CheckpointError as error:
            _LOGGER.warning("%s; the one before it is used", error.message)
            problem = problem or error
            continue
        if header["version"] > SNAPSHOT_VERSION:
            raise newer_format(folder.path / name, header["version"], SNAPSHOT_VERSION)
        return Snapshot(_sequence(name), header, sections)
    if problem is not None:
        raise problem
    return None


def write_snapshot(
    folder: StateFolder, sequence: int, header: dict[str, Any], sections: Sequence[Section]
) -> None:
    """Write one, and remove what nobody needs any more."""
    name = f"{_PREFIX}{sequence:020d}{_SUFFIX}"
    data = write_frame(_KIND, {"version": SNAPSHOT_VERSION, **header}, sections)
    try:
        file = folder.create(name + _UNFINISHED)
        try:
            file.append([data])
            file.sync()
        finally:
            file.close()
    except OSError:
        with suppress(OSError):
            folder.remove(name + _UNFINISHED)
        raise
    folder.rename(name + _UNFINISHED, name)
    folder.sync()
    kept = _finished(folder)[-SNAPSHOTS_KEPT:]
    for old in _finished(folder)[:-SNAPSHOTS_KEPT]:
        folder.remove(old)
    if len(kept) == SNAPSHOTS_KEPT:
        for old in obsolete_files(folder, _sequence(kept[0])):
            folder.remove(old)


def remove_unfinished(folder: StateFolder) -> None:
    """Remove what a process has left that ended while it wrote one."""
    for name in folder.names():
        if is_snapshot(name) and name.endswith(_UNFINISHED):
            folder.remove(name)


def _finished(folder: StateFolder) -> list[str]:
    return [name for name in folder.names() if is_snapshot(name) and name.endswith(_SUFFIX)]


def _sequence(name: str) -> int:
    return int(name[len(_PREFIX) : -len(_SUFFIX)])
