"""The sink of an alert: rows are added to it, for each event is one row."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from windrow.errors import UnsupportedError

if TYPE_CHECKING:
    from windrow.connectors.contract import Sink
    from windrow.errors import Place

__all__ = ["alert_on_spark", "alert_sink"]


def alert_sink(sink: Sink, alert: str, place: Place | None, *, says_feed: bool = False) -> Sink:
    """The sink with the feed 'answers'; one that is to have another is refused.

    says_feed: whether somebody has named the feed; if not, that of tables is meant to be this one.
    """
    feed = getattr(sink, "feed", "answers")
    if feed == "upserts" and not says_feed and sink.in_process:
        return cast("Sink", replace(cast("Any", sink), feed="answers"))
    if feed != "answers" or sink.shows == "result":
        raise UnsupportedError(
            "WU831",
            f"alert {alert!r} cannot write {feed!r} to {type(sink).__name__}: it has events",
            hint="omit feed, or write feed = 'answers'; memory() holds no events",
            place=place,
        )
    return sink


def alert_on_spark(alert: str, place: Place | None) -> UnsupportedError:
    """The error of an alert on Spark."""
    return UnsupportedError(
        "WU833",
        f"alert {alert!r} cannot run on Spark",
        hint="run the script in this process, with --embedded; on Spark write the rows with "
        "CREATE QUERY, and the condition as WHERE or HAVING",
        place=place,
    )
