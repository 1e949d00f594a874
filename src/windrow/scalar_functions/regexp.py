"""Functions with regular expressions."""

from __future__ import annotations

from windrow.scalar_functions.entry import ScalarFunction

__all__ = ["REGEXP"]

REGEXP: tuple[ScalarFunction, ...] = ()
