"""The checkpoint directory of one history: what lies where, and which declaration it belongs to.

windrow.json    format, declaration, number of buckets, archive
spark/          Spark's offsets, commits and state store
control/        heartbeats, the end of the stream and questions, read as one more stream
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any

from windrow.errors import CheckpointError
from windrow.plan.history_schema import HistorySchema
from windrow.spark.checkpoint.history_declaration import declared
from windrow.spark.checkpoint.query_checkpoint import session_mark
from windrow.storage import Storage

__all__ = ["HISTORIES_FOLDER", "HistoryCheckpoint"]

HISTORY_CHECKPOINT_FORMAT = 2
# No query can have this name.
HISTORIES_FOLDER = "@histories"

_OWNER = "windrow.json"
_PLAIN_NAME = re.compile(r"[a-z0-9_][a-z0-9_-]{0,99}\Z")


class HistoryCheckpoint:
    """The directories of one stream's history, checked to be its own."""

    def __init__(self, root: Storage, stream: str) -> None:
        self._stream = stream
        self._folder, self._mark = _folder_of(stream), session_mark(root)
        self.storage = root.inside(HISTORIES_FOLDER).inside(self._folder)
        self.control = self.storage.inside("control")

    @property
    def spark_part(self) -> Storage:
        """The directory that Spark has."""
        return self.storage.under("spark")

    @property
    def spark_location(self) -> str:
        """What Spark is given as checkpointLocation."""
        return f"{self.storage.uri}/spark"

    @property
    def run_name(self) -> str:
        """How Spark calls its runs, each with a word of its own behind it."""
        return f"windrow {self.operator} {self._mark}"

    @property
    def operator(self) -> str:
        """The name of its run, which no query can have."""
        return f"@{self._folder}"

    @property
    def is_new(self) -> bool:
        """Whether no history was begun here."""
        return self.storage.read(_OWNER) is None

    def claim(self, schema: HistorySchema, buckets: int, archive: str | None) -> None:
        """Takes a new directory for this declaration, or checks that an old one is its own."""
        mine: dict[str, Any] = {
            "format": HISTORY_CHECKPOINT_FORMAT,
            **declared(schema),
            "buckets": buckets,
            "archive": archive,
        }
        if self.is_new:
            self.storage.write(_OWNER, json.dumps(mine).encode())
            return
        theirs = self._owner()
        if theirs.get("format") != HISTORY_CHECKPOINT_FORMAT:
            raise CheckpointError(
                "WC234",
                f"the history of {self._stream!r} was written in format {theirs.get('format')}, "
                f"this version of Windrow reads {HISTORY_CHECKPOINT_FORMAT}",
                hint="restart with the version that wrote it, or start with a new checkpoint",
            )
        for what, wanted in mine.items():
            if theirs.get(what) != wanted:
                raise CheckpointError(
                    "WC230",
                    f"the checkpoint has a history of stream {self._stream!r} with another "
                    f"declaration: {what} {theirs.get(what)!r} then, {wanted!r} now",
                    hint="declare the history as before, or use another checkpoint directory",
                )

    def sweep(self) -> None:
        """Removes what drivers that were killed have left unfinished.

        Spark takes first offsets that were never finished for those of another query.
        """
        for each in (self.storage, self.control, self.spark_part.under("offsets")):
            each.sweep()

    def claimed_buckets(self) -> int | None:
        """How many buckets the checkpoint was begun with; None when it is new."""
        return None if self.is_new else int(self._owner()["buckets"])

    def _owner(self) -> dict[str, Any]:
        try:
            owner = json.loads(self.storage.read(_OWNER) or b"")
            return {"buckets": int(owner["buckets"]), **owner}
        except (ValueError, TypeError, KeyError) as problem:
            raise CheckpointError(
                "WC231",
                f"{_OWNER} in the checkpoint of the history of {self._stream!r} is damaged: "
                f"{problem}",
                hint="restore the checkpoint directory from a copy, or start with a new one",
            ) from problem


def _folder_of(stream: str) -> str:
    """A directory for a stream, whatever its name; case does not tell streams apart."""
    name = stream.lower()
    return name if _PLAIN_NAME.match(name) else f"@{hashlib.sha256(name.encode()).hexdigest()[:32]}"
