"""The name that was probably meant."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

__all__ = ["nearest"]


def nearest(name: str, names: Iterable[str]) -> str | None:
    """The most similar of the names, or None when none is similar.

    >>> nearest("Locaton", ["celsius", "location"])
    'location'
    """
    by_lower = {candidate.lower(): candidate for candidate in names}
    found = get_close_matches(name.lower(), list(by_lower), n=1)
    return by_lower[found[0]] if found else None
