"""What most sinks take: answers as they are, or changes with their signs; batches in a file."""

from __future__ import annotations

from windrow.errors import BindingError

__all__ = ["FEEDS", "check_batches_per_file", "check_feed"]

FEEDS = ("answers", "changes")


def check_feed(feed: str) -> None:
    """Refuses a word that is no feed.

    >>> check_feed("changes")
    """
    if feed not in FEEDS:
        raise BindingError("WB410", f"there is no feed {feed!r}", hint="use 'answers' or 'changes'")


def check_batches_per_file(count: int) -> None:
    """Refuses a number below 1.

    >>> check_batches_per_file(100)
    """
    if count < 1:
        raise BindingError(
            "WB474", f"a file cannot hold {count} batches", hint="give batches_per_file 1 or more"
        )
