"""Cases of the functions of dates."""

from __future__ import annotations

DATES: tuple[str, ...] = ()
