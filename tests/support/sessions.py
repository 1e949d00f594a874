"""Sessions in this process over the generated streams."""

from __future__ import annotations

import pyarrow as pa

import windrow
from support.streams import STREAMS, Action, Heartbeat, batch_of
from windrow.embedded import EmbeddedSession

__all__ = ["give", "session_of"]


def session_of(memory: str = "64 MB") -> EmbeddedSession:
    """A session with the streams a, b and c."""
    session = windrow.connect(memory=memory)
    for stream in STREAMS.values():
        columns = {column.name: str(column.type) for column in stream.columns}
        session.stream(
            stream.name, columns, time="ts", lateness=f"{stream.lateness_us} microseconds"
        )
    return session


def give(session: EmbeddedSession, action: Action, form: str = "batch") -> None:
    """Pushes the rows of an action in one of the forms that a session takes."""
    if isinstance(action, Heartbeat):
        session.advance(action.stream, to=action.to_us)
    elif form == "one by one":
        for row in action.rows:
            session.push(action.stream, row)
    elif form == "dicts":
        session.push(action.stream, list(action.rows))
    else:
        batch = batch_of(action.stream, action.rows)
        session.push(action.stream, batch if form == "batch" else pa.Table.from_batches([batch]))
