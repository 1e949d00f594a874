"""Hashes, and binary values as text."""

from __future__ import annotations

from windrow.scalar_functions.entry import ScalarFunction

__all__ = ["HASHING"]

HASHING: tuple[ScalarFunction, ...] = ()
