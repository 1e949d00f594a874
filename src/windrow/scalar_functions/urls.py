"""Functions of URLs."""

from __future__ import annotations

from windrow.scalar_functions.entry import ScalarFunction

__all__ = ["URLS"]

URLS: tuple[ScalarFunction, ...] = ()
