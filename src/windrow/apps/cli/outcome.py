"""How a command ends: 0 good, 1 failed, 2 wrong usage, 130 after Ctrl-C."""

from __future__ import annotations

import errno
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

import typer

from windrow.apps.terminal.screen import Screen
from windrow.compiling.notice import telling
from windrow.errors import DataError, WindrowError

__all__ = ["FAILED", "Ending", "failing_clearly"]

FAILED = 1
ENDED_BY_SIGTERM = 128 + signal.SIGTERM
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


@dataclass
class Ending:
    """What a command can say of itself when it ends early."""

    done: Callable[[], Mapping[str, int]] = dict


@contextmanager
def failing_clearly(screen: Screen) -> Iterator[Ending]:
    """Shows an error of ours as it renders, and ends with 1; Ctrl-C ends with 130."""
    ending = Ending()
    try:
        with telling(screen.note):
            yield ending
    except WindrowError as error:
        screen.error(error)
        raise typer.Exit(FAILED) from None
    except OSError as problem:
        if problem.errno not in _NO_ROOM:
            raise
        screen.error(_unwritten(problem))
        raise typer.Exit(FAILED) from None
    except KeyboardInterrupt:
        _say_what_was_done(screen, "Interrupted.", ending)
        raise
    except SystemExit as stopped:
        # A reader that has gone away also ends a program so; there is nobody left to tell.
        if stopped.code == ENDED_BY_SIGTERM:
            _say_what_was_done(screen, "Ended.", ending)
        raise


def _unwritten(problem: OSError) -> DataError:
    message = f"the output cannot be written: {problem.strerror}"
    return DataError("WD512", message, hint="free some space, or write elsewhere")


def _say_what_was_done(screen: Screen, word: str, ending: Ending) -> None:
    counts = ending.done()
    screen.event("interrupted", counts)
    done = ", ".join(f"{count:,} {name}" for name, count in counts.items())
    screen.note(f"{word} Up to here: {done}." if done else word)
