"""The folder that plots and figures.json are written into."""

from __future__ import annotations

import importlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType

from papers.paper_figure import PaperFigure
from windrow.apps.terminal.screen import Screen
from windrow.errors import UnsupportedError

__all__ = ["FigureFolder"]


class FigureFolder:
    """Writes nothing without a path; with one, fails at once where plots cannot be drawn."""

    def __init__(self, path: Path | None, screen: Screen) -> None:
        self._path = path
        self._screen = screen
        self._plots = None if path is None else _plots_module()

    def draw(self, figure: PaperFigure) -> None:
        """One SVG under the figure's number."""
        if self._path is None or self._plots is None:
            return
        self._path.mkdir(parents=True, exist_ok=True)
        path = self._path / f"figure-{figure.number}.svg"
        self._plots.draw(figure, path)
        self._screen.event("plot", {"figure": figure.number, "path": str(path)})
        self._screen.note(f"{path} drawn")

    def write(self, rows: Sequence[Mapping[str, object]], machine: Mapping[str, object]) -> None:
        """All that was measured, one row a line."""
        if self._path is None:
            return
        self._path.mkdir(parents=True, exist_ok=True)
        body = ",\n  ".join(json.dumps(row) for row in rows)
        text = f'{{"machine": {json.dumps(machine)},\n "measured": [\n  {body}\n]}}\n'
        (self._path / "figures.json").write_text(text, encoding="utf-8")


def _plots_module() -> ModuleType:
    try:
        return importlib.import_module("papers.plots")
    except ModuleNotFoundError as problem:
        if (problem.name or "").startswith(("windrow", "papers")):
            raise
        raise UnsupportedError(
            "WU511",
            f"plots cannot be drawn here: there is no module {problem.name!r}",
            hint='install it with pip install "windrow-sql[bench]", or leave --out away',
        ) from None
