"""Opens a durable session: its folder is locked, its settings found, its log replayed."""

from __future__ import annotations

import os

from windrow.durable.errors import unwritten
from windrow.durable.folder import StateFolder
from windrow.durable.journal import DURABILITIES
from windrow.durable.log import Log
from windrow.durable.log_files import LogReader, check_own
from windrow.durable.session import DurableSession
from windrow.durable.settings import Settings
from windrow.durable.snapshots import (
    Snapshot,
    is_snapshot,
    newest_snapshot,
    remove_unfinished,
)
from windrow.embedded.session import EmbeddedSession
from windrow.errors import BindingError
from windrow.memory_size import memory_of
from windrow.plan.nearest import nearest

__all__ = ["open_session"]


def open_session(
    path: str | os.PathLike[str],
    memory: str | int,
    clock: str,
    time_zone: str,
    double_quotes: str,
    durability: str,
) -> DurableSession:
    """The session whose state is in that folder; a new one where there is none."""
    if durability not in DURABILITIES:
        guess = nearest(str(durability), DURABILITIES)
        known = ", ".join(map(repr, DURABILITIES))
        raise BindingError(
            "WB760",
            f"there is no durability {durability!r}",
            hint=f"did you mean {guess!r}?" if guess else f"give one of {known}",
        )
    given = Settings(memory_of(memory), clock, time_zone, double_quotes)
    return open_folder(StateFolder(path), given, durability)


def open_folder(folder: StateFolder, given: Settings, durability: str) -> DurableSession:
    """The same, of a folder that is locked."""
    try:
        check_own(folder, lambda name: name == "lock" or is_snapshot(name))
        remove_unfinished(folder)
        snapshot = newest_snapshot(folder)
        settings = _settings_of(folder, snapshot, given)
        session = DurableSession(folder, settings, durability)
        session.recover(snapshot, LogReader(folder, 0 if snapshot is None else snapshot.sequence))
        _take_memory(session, given.memory)
    except OSError as problem:
        folder.release()
        raise unwritten(folder.path, problem) from problem
    except BaseException:
        folder.release()
        raise
    return session


def _take_memory(session: DurableSession, memory: int) -> None:
    """A memory that is told, and not the usual one, is what the session has from now on."""
    if memory == Settings().memory:
        return
    try:
        session.want(memory)
    except BaseException:
        session.stop()
        raise


def _settings_of(folder: StateFolder, snapshot: Snapshot | None, given: Settings) -> Settings:
    """Those that the state begins with; a log that lacks them begins with those given."""
    if snapshot is not None:
        return Settings(**snapshot.header["settings"]).opened_with(given, folder.path)
    first = next(LogReader(folder).records(), None)
    if first is not None:
        told = {name: first.header[name] for name in Settings().told()}
        return Settings(**told).opened_with(given, folder.path)
    EmbeddedSession(*given.told().values())  # what it refuses is not written
    reader = LogReader(folder)
    for _ in reader.records():
        pass
    log = Log(folder, reader)
    log.append({"kind": "settings", "wall": 0, **given.told()})
    log.sync()
    log.close()
    return given
