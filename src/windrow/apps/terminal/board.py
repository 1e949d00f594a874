"""A running job as a board: one table a query with its latest rows, drawn again in place."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from rich.console import Group, RenderableType
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from windrow.apps.terminal.live_table import live_table, query_heading
from windrow.apps.terminal.rows_set_aside import tell_of_rows_set_aside
from windrow.apps.terminal.screen import ENDING, Screen
from windrow.event_time import END_OF_TIME, START_OF_TIME, show_instant
from windrow.interruption import is_ending
from windrow.jobs.watcher import Standing

__all__ = ["Board", "shown_answers", "shown_clock"]

LOOK_S = 0.25
LEAST_ROWS = 3  # of each query, even where the terminal is too low for all of them
BAR_WIDTH = 24
SECONDS_SHOWN = len("2026-01-01 00:00:00")
_JUDGED = ("at", "level", "error_bound")


class Board:
    """Watches a job and shows how each query stands; what a job prints otherwise goes above it."""

    def __init__(self, screen: Screen, doing: str, queries: list[str]) -> None:
        self._screen = screen
        self._doing = doing
        self._lock = threading.Lock()
        self._panels = {name: _Panel(name) for name in queries}
        self._rows = 0
        self._fraction: float | None = None
        self._began = self._looked = time.monotonic()
        self._reading: tuple[float, int] | None = None  # when the first rows came, and how many
        self._ended: float | None = None
        self._look: Callable[[], list[Standing]] | None = None

    @contextmanager
    def shown(self) -> Iterator[Board]:
        """The board is on the screen, and what it showed last stays there."""
        with self._screen.live(self.drawn):
            try:
                yield self
            finally:
                self._ended = time.monotonic()

    @property
    def done(self) -> dict[str, int]:
        """What has been done so far."""
        return {"rows": self._rows, "answers": sum(p.answers for p in self._panels.values())}

    def answered(self, query: str, answers: pa.Table) -> None:
        """Keeps the rows of the latest instant."""
        with self._lock:
            self._panel(query).append(answers)

    def ended(self, query: str, result: pa.Table) -> None:
        """Keeps the last result."""
        with self._lock:
            self._panel(query).result = result

    def advanced(self, rows: int, fraction: float | None) -> None:
        """Moves the bar and the rate."""
        if self._reading is None and rows:
            self._reading = (time.monotonic(), rows)
        self._rows, self._fraction = rows, fraction

    def stood(self, look: Callable[[], list[Standing]]) -> None:
        """Looks a few times a second: results are not worked out for nobody."""
        self._look = look
        if time.monotonic() - self._looked >= LOOK_S:
            self._take_look()

    def operated(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """The headings say it already."""

    def counted(self, ledger: pa.Table, bad_rows: Mapping[str, pa.Table]) -> None:
        """The job is over: shows the final state, and reports rows that were set aside."""
        self._fraction = 1.0
        self._take_look()
        tell_of_rows_set_aside(self._screen, ledger, bad_rows)

    def drawn(self, width: int, height: int) -> RenderableType:
        """The board as it is now, for a terminal of that size."""
        with self._lock:
            panels = list(self._panels.values())
            # A heading, a line of names, one for rows beyond, and an empty line for each query.
            rows = max(LEAST_ROWS, (height - 3) // max(1, len(panels)) - 4)
            parts: list[RenderableType] = [self._heading(width)]
            for panel in panels:
                parts += [Text(), panel.heading(), live_table(panel.rows, rows)]
            return Group(*parts)

    def _take_look(self) -> None:
        if self._look is None:
            return
        standings = self._look()
        with self._lock:
            for standing in standings:
                self._panel(standing.query).stand(standing)
        self._looked = time.monotonic()

    def _panel(self, query: str) -> _Panel:
        return self._panels.setdefault(query, _Panel(query))

    def _heading(self, width: int) -> RenderableType:
        now = self._ended or time.monotonic()
        seconds = now - self._began
        facts = [f"{seconds:.0f} s", f"{self._rows:,} rows read"]
        since, first_rows = self._reading or (now, 0)
        if self._rows > first_rows and now - since > LOOK_S:
            facts.append(f"{(self._rows - first_rows) / (now - since):,.0f} rows/s")
        line = Table.grid(padding=(0, 2, 0, 0))
        pulse = self._fraction is None and self._ended is None
        done = None if pulse else self._fraction or 0.0
        bar = ProgressBar(1.0, done or 0.0, width=min(BAR_WIDTH, width // 4), pulse=pulse)
        line.add_row(Text(self._doing, "bold cyan"), bar, Text("  ".join(facts), "dim"))
        ending = is_ending() and self._ended is None
        return Group(line, Text(ENDING, "yellow")) if ending else line


class _Panel:
    """What is known of one query."""

    def __init__(self, name: str) -> None:
        self._name = name
        self.result: pa.Table | None = None
        self.answers = 0
        self._last: pa.Table | None = None  # the answers of the latest instant, and which that is
        self._last_us: int | None = None
        self._clock_us: int | None = None
        self._level: str | None = None
        self._operation = ""

    @property
    def rows(self) -> pa.Table | None:
        """The result where it is known, else the latest answers."""
        if self.result is not None or self._last is None:
            return self.result
        names = self._last.column_names
        return self._last.drop_columns([name for name in _JUDGED if name in names])

    def append(self, answers: pa.Table) -> None:
        """New answers: those of the last instant are shown."""
        self.answers += answers.num_rows
        latest = answers.column("at")[-1]
        self._last = answers.filter(pc.equal(answers.column("at"), latest))
        self._level = str(answers.column("level")[-1])
        self._clock_us = self._last_us = latest.value

    def stand(self, standing: Standing) -> None:
        """How the query stands now."""
        self.result = standing.result if standing.result is not None else self.result
        self._clock_us = standing.clock_us or self._clock_us
        self._level = standing.level or self._level
        self.answers = max(self.answers, standing.answers)
        self._operation = standing.operation or self._operation

    def heading(self) -> Text:
        """Its name, instant, level, and how many answers there were."""
        answers = shown_answers(self.answers) if self.answers else ""
        level = f"level {self._level}" if self._level else ""
        # Rows that are answers are true at their own instant, which the clock may have left.
        is_result = self.result is not None or self._last is None
        shown_us = self._clock_us if is_result else self._last_us
        return query_heading(self._name, [shown_clock(shown_us), level, answers, self._operation])


def shown_answers(count: int) -> str:
    """How many answers there were."""
    return f"{count:,} answer{'s' * (count != 1)}"


def shown_clock(clock_us: int | None) -> str:
    """An instant to the second; nothing where time has not begun."""
    if clock_us is None or not START_OF_TIME < clock_us < END_OF_TIME:
        return ""
    return f"at {show_instant(clock_us)[:SECONDS_SHOWN]}"
