"""Processes below a job, by what they are, and their violent end."""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path

__all__ = ["below", "daemons", "end", "executors", "with_forked", "workers"]

_DAEMON = b"pyspark.daemon"
_EXECUTOR = b"org.apache.spark.executor.CoarseGrainedExecutorBackend"


def below(root: int) -> dict[int, tuple[int, bytes]]:
    """Parent and command of every process below the one given."""
    known: dict[int, tuple[int, bytes]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                known[int(entry.name)] = (int(fields[1]), (entry / "cmdline").read_bytes())
    found: set[int] = {root}
    while more := {pid for pid, (parent, _) in known.items() if parent in found} - found:
        found |= more
    return {pid: known[pid] for pid in found - {root}}


def daemons(root: int) -> list[int]:
    """The processes that fork Spark's Python workers."""
    found = below(root)
    return [pid for pid, (parent, text) in found.items() if _is_first(found, parent, text)]


def workers(root: int) -> list[int]:
    """The Python workers: forked by a daemon."""
    found = below(root)
    forking = set(daemons(root))
    return [pid for pid, (parent, _) in found.items() if parent in forking]


def with_forked(pid: int) -> list[int]:
    """The process and those below it: workers outlive their daemon, and Spark goes on with them."""
    return [pid, *below(pid)]


def executors(root: int) -> list[int]:
    """The JVMs of executors."""
    return [
        pid for pid, (_, text) in below(root).items() if _EXECUTOR in text and b"java" in text[:200]
    ]


def end(pids: list[int]) -> None:
    """kill -9 of each."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _is_first(found: dict[int, tuple[int, bytes]], parent: int, text: bytes) -> bool:
    return _DAEMON in text and not (parent in found and _DAEMON in found[parent][1])
