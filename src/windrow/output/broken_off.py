"""What is said of a query or a history that something broke off, and that cannot be made whole."""

from __future__ import annotations

from windrow.errors import DataError

__all__ = ["broken_off", "history_broken_off"]


def broken_off(query: str, problem: Exception) -> DataError:
    """A query that could not be rebuilt from its rows, after an exception in a step."""
    what = str(problem) or type(problem).__name__
    return DataError(
        "WD305",
        f"query {query!r} was interrupted in the middle of a step, and could not be rebuilt from "
        f"its rows: {type(problem).__name__}: {what}",
        hint=(
            "it no longer answers, as answers might be wrong; register it again, with more "
            "memory in this process if memory was short. Other queries continue"
        ),
    )


def history_broken_off(stream: str) -> DataError:
    """A history in which rows may be missing, or counted twice."""
    return DataError(
        "WD306",
        f"the history of stream {stream!r} was interrupted while it added rows: its state is not "
        "consistent",
        hint=(
            "it no longer answers, as answers might be wrong; declare it in a new session. "
            "Other queries continue"
        ),
    )
