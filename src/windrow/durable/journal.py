"""What a durable session does before anything changes it: it writes it down.

A call that changes the session is applied within `applying()`: its record is written first. What
is read of the clock on the wall within is the time of the record, so that a replay reads the same.
What breaks off a call between its record and its end leaves a session that is not what its log
says: it answers no more, and is to be opened again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from windrow.durable.decisions import Decisions, Made
from windrow.durable.errors import broken_off
from windrow.durable.log import Log
from windrow.durable.records import Record, Section
from windrow.errors import CheckpointError, WindrowError

__all__ = ["DURABILITIES", "Journal"]

# Kinds of records that a snapshot repeats; queries are told as they are then.
DECLARATIONS = frozenset(["stream", "table", "view", "history", "function"])

# always: a call returns when it is on the disk. interval: so it is a tenth of a second later. off:
# when the operating system likes.
DURABILITIES = ("always", "interval", "off")


class Journal:
    """The log of a session and how the session stands to it.

    durability: one of DURABILITIES. Before open() and after close() nothing is written.
    """

    def __init__(self, durability: str) -> None:
        self.syncs_always = durability == "always"
        self.syncs_at_all = durability != "off"
        self.is_open = False
        self.missing: Callable[[], CheckpointError | None] = lambda: None
        self.after: Callable[[], None] = lambda: None
        self.declared: Callable[[dict[str, Any]], None] = lambda _: None
        self.decisions = Decisions()
        self._log: Log | None = None
        self._trouble: CheckpointError | None = None
        self._wall_us: int | None = None
        self.is_applying = False

    @property
    def log(self) -> Log:
        """The log, once it is open."""
        assert self._log is not None
        return self._log

    def open(self, log: Log) -> None:
        """From now on what changes the session is written."""
        self._log, self.is_open = log, True

    def close(self) -> None:
        """Write what is left, and no more."""
        if not self.is_open:
            return
        self.is_open = False
        try:
            if self.syncs_at_all and not self.log.is_torn:
                self.log.sync()
        finally:
            self.log.close()

    @property
    def is_torn(self) -> bool:
        """Whether the session may not be what its log says."""
        return self._trouble is not None

    def sync(self) -> None:
        """What is written is on the disk when it returns; another thread may write meanwhile."""
        if not self.is_open or not self.syncs_at_all or self.log.is_torn:
            return
        try:
            self.log.sync()
        except CheckpointError as problem:
            self._trouble = problem
            raise

    def check(self) -> None:
        """Refuse a call where the session is not what its log says, or not all of it yet."""
        if self._trouble is not None:
            raise self._trouble
        missing = None if self.is_applying else self.missing()
        if missing is not None:
            raise missing

    def now_us(self) -> int:
        """The clock on the wall, or what it was when the record that is applied was written."""
        return time.time_ns() // 1_000 if self._wall_us is None else self._wall_us

    @property
    def writes(self) -> bool:
        """Whether a change is to be written now: not within one that was, nor in a replay."""
        return self.is_open and not self.is_applying

    def note(self, kind: str, sections: Sequence[Section] = (), **told: Any) -> None:
        """Write what has no effect but that it is known."""
        self._append({"kind": kind, "wall": self.now_us(), **told}, sections)

    @contextmanager
    def applying(self, kind: str, sections: Sequence[Section] = (), **told: Any) -> Iterator[None]:
        """Write a record; what is done within is what it says."""
        if not self.writes:
            yield
            return
        self.check()
        wall_us = self.now_us()
        header = {"kind": kind, "wall": wall_us, **told}
        self._append(header, sections)
        try:
            with self._applied(wall_us):
                yield
        except WindrowError:
            self._write_decisions()
            raise
        self._write_decisions()
        self._note_declared(header)
        self.after()

    def _write_decisions(self) -> None:
        made = self.decisions.taken()
        if made:
            try:
                self.note("decided", made=made)
            except CheckpointError as problem:
                why = f"what was decided could not be written: {problem.message}"
                self._trouble = broken_off(self.log.folder.path, why)
                raise self._trouble from problem

    @contextmanager
    def replaying(self, record: Record, made: Made) -> Iterator[None]:
        """Do within what a record says, and decide as it was decided then."""
        if record.knows_decisions:
            self.decisions.follow(made)
        try:
            with self._applied(record.header["wall"]):
                yield
        finally:
            self.decisions.decide()
            self.decisions.taken()
        self._note_declared(record.header)

    def _note_declared(self, header: dict[str, Any]) -> None:
        if header["kind"] in DECLARATIONS:
            self.declared(header)

    @contextmanager
    def _applied(self, wall_us: int) -> Iterator[None]:
        self._wall_us, self.is_applying = wall_us, True
        try:
            yield
        except WindrowError:
            raise  # what the session refuses now, it refuses in a replay
        except BaseException as problem:
            named = type(problem).__name__
            why = f"{named} came while a call was applied that its log has"
            self._trouble = broken_off(self.log.folder.path, why) if self.is_open else None
            raise
        finally:
            self._wall_us, self.is_applying = None, False

    def _append(self, header: Mapping[str, Any], sections: Sequence[Section]) -> None:
        try:
            self.log.append(header, sections)
            if self.syncs_always:
                self.log.sync()
        except CheckpointError as problem:
            if self.log.is_torn:
                self._trouble = problem
            raise
        except BaseException as problem:
            # Nobody knows whether the record is there.
            why = f"{type(problem).__name__} came while its log was written"
            self._trouble = broken_off(self.log.folder.path, why)
            raise
