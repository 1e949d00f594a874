"""Desks to type at in tests: what they show for machines comes back as events."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import pytest

from support.command_line import events
from windrow.apps.shell.desk import Desk
from windrow.apps.shell.lines import run_lines
from windrow.apps.terminal.screen import Screen


class Typist:
    """Types statements into a shell, and reads what it shows."""

    def __init__(self, capsys: pytest.CaptureFixture[str], *, machine: bool = True) -> None:
        self._capsys = capsys
        self.desk = Desk(Screen(machine=machine))

    def types(self, text: str) -> list[dict[str, Any]]:
        """What the statements show, as events."""
        return events(self.shown(text))

    def shown(self, text: str) -> str:
        """What the statements show on stdout."""
        self._capsys.readouterr()
        run_lines(self.desk, io.StringIO(text))
        return self._capsys.readouterr().out


@contextmanager
def typing(capsys: pytest.CaptureFixture[str], *, machine: bool = True) -> Iterator[Typist]:
    typist = Typist(capsys, machine=machine)
    with closing(typist.desk.bench):
        yield typist
