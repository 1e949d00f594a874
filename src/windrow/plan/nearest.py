"""The name that was probably meant, and the error for one that means nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

from windrow.errors import BindingError

__all__ = ["nearest", "no_such"]


def nearest(name: str, names: Iterable[str]) -> str | None:
    """The most similar of the names, or None when none is similar.

    >>> nearest("Locaton", ["celsius", "location"])
    'location'
    """
    by_lower = {candidate.lower(): candidate for candidate in names}
    found = get_close_matches(name.lower(), list(by_lower), n=1)
    return by_lower[found[0]] if found else None


def no_such(code: str, what: str, name: str, names: Sequence[str]) -> BindingError:
    """An option was requested by an unknown name."""
    guess = nearest(name, names)
    hint = f"did you mean {guess}?" if guess else f"use one of {', '.join(names)}"
    return BindingError(code, f"there is no {what} {name!r}", hint=hint)
