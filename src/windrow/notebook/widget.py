"""The chart's Python side: looks at the query, and sends what is to be drawn as plain bytes."""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anywidget
import numpy as np
import traitlets

from windrow.errors import WindrowError
from windrow.notebook.lines import Lines

if TYPE_CHECKING:
    from windrow.notebook.charting import Charted

__all__ = ["Chart"]

# Who stops a chart may hold what its thread waits for; the thread ends soon after in any case.
STOP_TIMEOUT_S = 5.0


class Chart(anywidget.AnyWidget):
    """A widget of Jupyter and marimo.

    data: for each of the lines in turn its times, values, lower and upper ends, in doubles.
    """

    _esm = Path(__file__).with_name("chart.js").read_text(encoding="utf-8")

    title = traitlets.Unicode().tag(sync=True)
    value = traitlets.Unicode().tag(sync=True)
    state = traitlets.Unicode("live").tag(sync=True)
    height = traitlets.Int().tag(sync=True)
    lines: Any = traitlets.List().tag(sync=True)
    left_out = traitlets.Int(0).tag(sync=True)
    data = traitlets.Bytes(b"").tag(sync=True)

    def __init__(
        self,
        query: Charted,
        values: Sequence[str],
        points: int,
        refresh_s: float | None,
        height: int,
    ) -> None:
        self._query = query
        self._follower = query.follow()
        shape = query.shape
        self._drawn = Lines(shape.groups, values, shape.every_us, points)
        self._turn = threading.Lock()
        self._stopped = threading.Event()
        super().__init__(title=query.name, value=", ".join(values), height=height)
        self._thread: threading.Thread | None = None
        if refresh_s is not None:
            self._thread = threading.Thread(
                target=self._run, args=(refresh_s,), name=f"chart of {query.name}", daemon=True
            )
            self._thread.start()

    def refresh(self) -> None:
        """Draws what has been answered since the last time; any thread may call it."""
        with self._turn:
            answers = self._follower.answers()
            if answers.num_rows:
                self._drawn.append(answers)
                self._show_lines()

    def stop(self) -> None:
        """Looks no more at the query; what is drawn stays, and so does the query."""
        self._stopped.set()
        if self._thread not in (None, threading.current_thread()):
            self._thread.join(STOP_TIMEOUT_S)
        self._end("stopped")

    def close(self) -> None:
        """Stops, and takes the chart off the page."""
        self.stop()
        super().close()

    def __del__(self) -> None:
        # Widgets are held until they are closed, or until Python ends: then nothing is left to
        # close this one with, and its thread ends by itself.
        return

    @property
    def is_live(self) -> bool:
        """Whether a thread looks at the query."""
        return self._thread is not None and self._thread.is_alive()

    def _run(self, refresh_s: float) -> None:
        while not self._stopped.wait(refresh_s) and not self._is_gone:
            is_last = not self._query.is_running
            try:
                self.refresh()
            except WindrowError as problem:
                # Rows that wait are applied here, and what they fail with would be seen by nobody.
                self.state = f"live, with an error: {problem.message}"
            if is_last:
                self._end("the query has ended")
                return

    def _end(self, state: str) -> None:
        self._follower.close()
        if self.state == "live":
            self.state = state

    @property
    def _is_gone(self) -> bool:
        """Whether the page that showed it has closed it."""
        return self.comm is None or bool(getattr(self.comm, "_closed", False))

    def _show_lines(self) -> None:
        lines = list(self._drawn)
        arrays = [np.ascontiguousarray(line.points).tobytes() for line in lines]
        with self.hold_sync():
            self.lines = [
                {
                    "label": line.label,
                    "count": line.points.shape[1],
                    "latest": _shown(self._drawn.latest(line)),
                }
                for line in lines
            ]
            self.left_out = self._drawn.left_out
            self.data = b"".join(arrays)


def _shown(value: float | None) -> str:
    if value is None:
        return "—"
    if math.isfinite(value) and value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    return f"{value:,.5g}"
