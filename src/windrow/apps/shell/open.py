"""Opens a shell: for somebody at a terminal, or for lines from a pipe."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from windrow.apps.shell.desk import Desk
from windrow.apps.shell.lines import run_lines
from windrow.apps.shell.prompt import run_prompt, welcome
from windrow.apps.shell.script import run_script
from windrow.apps.shell.smart_building import begin_building
from windrow.apps.shell.workbench import Workbench
from windrow.apps.terminal.screen import Screen
from windrow.jobs.functions import permitted_modules

__all__ = ["open_shell"]


def open_shell(
    screen: Screen, script: Path | None, *, demo: bool, functions_from: Iterable[str] = ()
) -> None:
    """Until it is left, or the lines end; functions_from: modules whose functions can be named."""
    is_interactive = sys.stdin.isatty() and screen.is_live
    desk = Desk(screen, is_interactive, Workbench(permitted_modules(functions_from)))
    if is_interactive:
        welcome(desk, is_empty=not demo and script is None)
    with closing(desk.bench):
        if demo:
            begin_building(desk)
        if script is not None:
            run_script(desk, script)
        if is_interactive:
            run_prompt(desk)
        else:
            if sys.stdin.isatty():
                screen.note("No prompt here: the input runs when it ends (Ctrl-D).")
            run_lines(desk, sys.stdin)
