"""The feeds of sinks that keep a table: it equals the result, or rows are added to it."""

from __future__ import annotations

from windrow.errors import BindingError, Place

__all__ = ["TABLE_FEEDS", "check_table_feed"]

TABLE_FEEDS = ("upserts", "changes", "answers")


def check_table_feed(
    system: str, feed: str, key: tuple[str, ...] | None, place: Place | None = None
) -> None:
    """Refuses a word that is no feed, and a key where rows are added.

    >>> check_table_feed("SQLite", "upserts", ("room",))
    """
    if feed not in TABLE_FEEDS:
        raise BindingError(
            "WB444",
            f"there is no feed {feed!r} for a {system} table",
            hint="use 'upserts', 'changes' or 'answers'",
            place=place,
        )
    if key is not None and feed != "upserts":
        raise BindingError(
            "WB446",
            f"a key has no meaning for the feed {feed!r}",
            hint="omit key, or use feed = 'upserts'",
            place=place,
        )
