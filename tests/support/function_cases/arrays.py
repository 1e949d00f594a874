"""Cases of the functions of arrays."""

from __future__ import annotations

ARRAYS: tuple[str, ...] = ()
