"""HTML that cannot be broken out of: whatever is not markup already is escaped."""

from __future__ import annotations

from html import escape

__all__ = ["Markup", "element", "joined"]


class Markup(str):
    """A text that is HTML and safe as it stands."""


def element(name: str, *children: str, **attributes: str) -> Markup:
    """An element; children and attributes that are not markup are escaped.

    >>> element("b", "1 < 2", style="color:red")
    '<b style="color:red">1 &lt; 2</b>'
    """
    given = "".join(f' {key}="{escape(value)}"' for key, value in attributes.items())
    return Markup(f"<{name}{given}>{joined(*children)}</{name}>")


def joined(*parts: str) -> Markup:
    """Parts one after the other."""
    return Markup("".join(part if isinstance(part, Markup) else escape(part) for part in parts))
