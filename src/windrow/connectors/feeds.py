"""The feeds that most sinks take: answers as they are, or changes with their signs."""

from __future__ import annotations

from windrow.errors import BindingError

__all__ = ["FEEDS", "check_feed"]

FEEDS = ("answers", "changes")


def check_feed(feed: str) -> None:
    """Refuses a word that is no feed.

    >>> check_feed("changes")
    """
    if feed not in FEEDS:
        raise BindingError("WB410", f"there is no feed {feed!r}", hint="use 'answers' or 'changes'")
