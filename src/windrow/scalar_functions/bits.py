"""Functions of bits."""

from __future__ import annotations

from windrow.scalar_functions.entry import ScalarFunction

__all__ = ["BITS"]

BITS: tuple[ScalarFunction, ...] = ()
