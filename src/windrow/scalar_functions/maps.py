"""Functions of maps."""

from __future__ import annotations

from windrow.scalar_functions.entry import ScalarFunction

__all__ = ["MAPS"]

MAPS: tuple[ScalarFunction, ...] = ()
