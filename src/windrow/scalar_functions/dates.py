"""Functions of dates and times."""

from __future__ import annotations

from windrow.scalar_functions.entry import ScalarFunction

__all__ = ["DATES"]

DATES: tuple[ScalarFunction, ...] = ()
