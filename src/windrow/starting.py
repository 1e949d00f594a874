"""Ctrl-C while the program `windrow` is still being loaded: it ends, and shows no traceback.

Nothing has been done yet that could be left half done. A program that only imports Windrow keeps
its own way with signals.
"""

from __future__ import annotations

import os
import signal
import sys
import threading

__all__ = ["IS_PROGRAM", "end_quietly", "is_program", "raise_again"]


def is_program() -> bool:
    """Whether this process is `windrow` or `python -m windrow`, and not one that imports it."""
    name = os.path.basename(sys.argv[0]) if sys.argv else ""
    if name == "-m":  # so Python calls it until it has found the module
        return ["-m", "windrow"] in [sys.orig_argv[i : i + 2] for i in range(len(sys.orig_argv))]
    return name.removesuffix(".exe").removesuffix("-script.py") == "windrow"


def end_quietly() -> None:
    """From now on a Ctrl-C ends the program at once."""
    _take(signal.default_int_handler, signal.SIG_DFL)


def raise_again() -> None:
    """From now on a Ctrl-C is raised as KeyboardInterrupt, which commands answer."""
    _take(signal.SIG_DFL, signal.default_int_handler)


def _take(before: object, after: object) -> None:
    """Changes the handler, unless it is somebody else's, or one that says not to listen."""
    is_main = threading.current_thread() is threading.main_thread()
    if is_main and signal.getsignal(signal.SIGINT) is before:
        signal.signal(signal.SIGINT, after)  # type: ignore[arg-type]


IS_PROGRAM = is_program()
if IS_PROGRAM:
    end_quietly()
