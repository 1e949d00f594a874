"""Functions of structs."""

from __future__ import annotations

from windrow.scalar_functions.entry import ScalarFunction

__all__ = ["STRUCTS"]

STRUCTS: tuple[ScalarFunction, ...] = ()
