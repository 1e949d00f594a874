"""Functions of arrays."""

from __future__ import annotations

from windrow.scalar_functions.entry import ScalarFunction

__all__ = ["ARRAYS"]

ARRAYS: tuple[ScalarFunction, ...] = ()
