"""Waits while files are read, with a progress line; Ctrl-C continues without the rest."""

from __future__ import annotations

import time

from windrow.apps.shell.workbench import Workbench
from windrow.apps.terminal.screen import Screen

__all__ = ["wait_until_read"]

POLL_S = 0.05
PATIENCE_S = 0.3  # what is quicker needs no moving line


def wait_until_read(screen: Screen, bench: Workbench) -> bool:
    """Whether all files were read; False after Ctrl-C, when reading continues in the background."""
    began = time.monotonic()
    try:
        while bench.is_reading and time.monotonic() - began < PATIENCE_S:
            time.sleep(POLL_S)
        if bench.is_reading:
            with screen.progress("Reading files") as progress:
                while bench.is_reading:
                    progress.show(f"{bench.rows:,} rows", bench.fraction)
                    time.sleep(POLL_S)
    except KeyboardInterrupt:
        screen.note(
            f"Not waiting: {bench.rows:,} rows are read, the rest continues in the background."
        )
        return False
    return True
