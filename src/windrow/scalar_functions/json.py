"""Functions of JSON text."""

from __future__ import annotations

from windrow.scalar_functions.entry import ScalarFunction

__all__ = ["JSON"]

JSON: tuple[ScalarFunction, ...] = ()
