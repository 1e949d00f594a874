"""How the groups of an aggregate over one window, or over two that join by keys, are named."""

from __future__ import annotations

__all__ = ["BY_BOTH", "BY_KEY", "BY_LEFT", "BY_RIGHT", "SINGLE", "WHOLE"]

# One window: its cells are the groups.
SINGLE = -1
# Two windows: how the cells of the two inputs name the group of a joined row.
WHOLE = 0
BY_KEY = 1
BY_LEFT = 2
BY_RIGHT = 3
BY_BOTH = 4
