"""What is said of a stream that cannot take rows: there is none of that name, or it has ended."""

from __future__ import annotations

from collections.abc import Iterable

from windrow.errors import BindingError, DataError
from windrow.plan.nearest import nearest

__all__ = ["ended_stream", "no_stream"]


def no_stream(name: str, streams: Iterable[str], *, is_table: bool) -> BindingError:
    """There is no stream of that name."""
    if is_table:
        hint = "upsert() gives it rows, delete() takes them away"
        return BindingError("WB710", f"{name!r} is a table, not a stream", hint=hint)
    close = nearest(name, streams)
    hint = f"did you mean {close!r}?" if close else "declare it with session.stream()"
    return BindingError("WB106", f"there is no stream {name!r}", hint=hint)


def ended_stream(name: str) -> DataError:
    """No more rows come."""
    return DataError(
        "WD120",
        f"stream {name!r} has ended: finish() declared that no more rows come",
        hint="push() before finish(), or connect() a new session",
    )
