"""The two channels of a command: output on stdout, everything else on stderr.

Colour and moving progress appear only on a terminal, and colour not when NO_COLOR is set.
"""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import islice

from rich.console import Console, RenderableType
from rich.live import Live
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
)
from rich.text import Text

from windrow.apps.terminal.fitting import fitted_error, fitted_lines
from windrow.apps.terminal.json_rows import json_line
from windrow.errors import WindrowError
from windrow.interruption import is_ending

__all__ = ["ENDING", "ProgressLine", "Screen"]

REFRESH_PER_SECOND = 4  # the moving line must not take the machine from what it shows
WIDEST_TEXT = 100
LINES_AT_A_TIME = 10_000
ENDING = "ending after this batch; Ctrl-C again ends immediately"


class Screen:
    """Where a command writes; with `machine`, stdout is NDJSON and nothing else."""

    def __init__(self, *, machine: bool = False) -> None:
        self.machine = machine
        self._out = Console(highlight=False, soft_wrap=True)
        self._errors = Console(stderr=True, highlight=False, soft_wrap=True)
        # On one terminal both channels go through one console, which keeps the moving line below.
        shared = self._out.is_terminal and self._errors.is_terminal
        self._side = self._out if shared else self._errors

    def event(self, kind: str, values: Mapping[str, object]) -> None:
        """One line of NDJSON, for machines only."""
        if self.machine:
            self.raw([json_line({"event": kind, **values})])

    def raw(self, lines: Iterable[str]) -> None:
        """Lines as they are, without colour; of many, some at a time."""
        if sys.stdout is None:  # it was closed before the program began
            return
        rest = iter(lines)
        while some := list(islice(rest, LINES_AT_A_TIME)):
            sys.stdout.write("\n".join([*some, ""]))
        sys.stdout.flush()

    def line(self, text: str = "", style: str | None = None) -> None:
        """One line for people; a terminal shows it in the style."""
        if not self.machine:
            self._out.print(Text(text, style=style or ""))

    def paragraph(self, text: str) -> None:
        """A few sentences for people, in lines that are not longer than the terminal is wide."""
        self.line(textwrap.fill(text, min(self._out.width, WIDEST_TEXT)))

    def lines(self, texts: list[str], style: str | None = None) -> None:
        """Many plain lines at once, the first one in the style."""
        if texts and not self.machine:
            self.line(texts[0], style)
        if len(texts) > 1 and not self.machine:
            self.raw(texts[1:])

    def text(self, text: str) -> None:
        """A text of several lines for people; on a terminal, broken between words."""
        if self._out.is_terminal:
            self.lines(fitted_lines(text, self._out.width))
        else:
            self.lines(text.split("\n"))

    def drawing(self, drawn: RenderableType) -> None:
        """A table or the like, cut to the width of the terminal; for people."""
        if not self.machine:
            self._out.print(drawn, soft_wrap=False)

    def note(self, text: str, style: str = "dim") -> None:
        """A remark on stderr, for people and machines alike."""
        shown = fitted_lines(text, self._side.width) if self._side.is_terminal else [text]
        self._side.print(Text("\n".join(shown), style=style))

    def error(self, error: WindrowError) -> None:
        """An error of ours, its place underlined; machines get its parts too."""
        place = error.place
        parts = {
            "code": error.code,
            "message": error.message,
            "hint": error.hint,
            "line": place.line if place else None,
            "column": place.column if place else None,
        }
        with suppress(OSError):  # where stdout itself is what cannot be written
            self.event("error", parts)
        errors = self._errors
        fitted = fitted_error(error, errors.width) if errors.is_terminal else str(error).split("\n")
        first, *rest = fitted
        self._errors.print(Text(first, style="bold red"))
        if rest:
            self._errors.print(Text("\n".join(rest)))

    @property
    def is_live(self) -> bool:
        """Whether there is a terminal on which something can be drawn again in place."""
        return not self.machine and self._side is self._out and not self._out.is_dumb_terminal

    @contextmanager
    def live(self, drawn: Callable[[int, int], RenderableType]) -> Iterator[Live]:
        """Draws again a few times a second, given the width and height of the terminal."""
        console = self._out
        with Live(
            console=console,
            refresh_per_second=REFRESH_PER_SECOND,
            get_renderable=lambda: drawn(console.width, console.height),
        ) as live:
            yield live

    @contextmanager
    def progress(self, doing: str) -> Iterator[ProgressLine]:
        """A moving line on stderr while something runs; off a terminal only its first words."""
        if not self._side.is_terminal:
            self.note(f"{doing} ...")
            yield ProgressLine(None, doing)
            return
        columns = (
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(bar_width=30),
            TextColumn("{task.fields[detail]}"),
            TimeElapsedColumn(),
            _EndingColumn(),
        )
        redirect = self._side is self._out
        with Progress(
            *columns,
            console=self._side,
            transient=True,
            redirect_stdout=redirect,
            refresh_per_second=REFRESH_PER_SECOND,
        ) as bar:
            yield ProgressLine(bar, doing)


class _EndingColumn(ProgressColumn):
    """Says that Ctrl-C was heard: what runs stops where it is whole, which may take a while."""

    def render(self, task: Task) -> Text:  # noqa: ARG002 - all tasks end alike
        return Text(ENDING if is_ending() else "", "yellow")


class ProgressLine:
    """One line of progress; silent where there is no terminal."""

    def __init__(self, bar: Progress | None, doing: str) -> None:
        self._bar = bar
        self._task = bar.add_task(doing, total=None, detail="") if bar is not None else None

    def show(
        self, detail: str = "", fraction: float | None = None, doing: str | None = None
    ) -> None:
        """Says how far it is."""
        if self._bar is None or self._task is None:
            return
        if doing is not None:
            self._bar.update(self._task, description=doing)
        if fraction is not None:
            self._bar.update(self._task, total=1.0, completed=fraction)
        self._bar.update(self._task, detail=detail)
