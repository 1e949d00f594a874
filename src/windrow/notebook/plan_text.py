"""The text of explain(), which a notebook shows as it is meant rather than on one long line."""

from __future__ import annotations

from windrow.notebook.markup import Markup, element
from windrow.notebook.shown import FAINT, Shown

__all__ = ["PlanText"]

FACTS_AT = 13  # letters from the left, as in the text


class PlanText(str):
    """A text like any other.

    >>> PlanText("aggregate over one window") == "aggregate over one window"
    True
    """

    def _repr_html_(self) -> str:
        return str(_html(self))

    def _display_(self) -> Shown:
        # Marimo would take it for any other text.
        return Shown(_html(self), str(self))


def _html(text: str) -> Markup:
    first, *rest = text.split("\n")
    lines = [element("div", element("b", first)), *map(_line, rest)]
    return element("div", *lines, style="font-family:monospace;line-height:1.5")


def _line(line: str) -> Markup:
    """A fact: what it is about, up to a gap or to the first space, and the rest."""
    stripped = line.strip()
    word, _, facts = stripped.partition("  " if "  " in stripped else " ")
    indent = max(1, len(line) - len(line.lstrip()))
    width = f"display:inline-block;min-width:{max(0, FACTS_AT - indent)}ch"
    return element(
        "div",
        element("span", word, style=f"{FAINT};{width}"),
        f" {facts.strip()}",
        style=f"padding-left:{indent}ch;white-space:pre-wrap",
    )
