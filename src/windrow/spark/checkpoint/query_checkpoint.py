"""The checkpoint directory of one query: what lies where, and whom it belongs to.

identity.txt    a name that no other checkpoint has, by which sinks identify it
windrow.json    format, version, the query and its plan, number of buckets
spark/          Spark's offsets, commits and state store
control/        heartbeats, ends of streams and widths, read as one more stream
publish/        what the driver knows after each of the last batches
begin/          the state of another run from which it goes on, if it does
"""

from __future__ import annotations

import uuid
import zlib
from dataclasses import replace
from typing import TYPE_CHECKING

from windrow.errors import CheckpointError
from windrow.spark.checkpoint.beginning import BEGIN_FOLDER
from windrow.spark.checkpoint.owner import CheckpointOwner
from windrow.storage import Storage
from windrow.version import __version__

if TYPE_CHECKING:
    from windrow.plan.relations.tree_plan import RunnablePlan

__all__ = ["QueryCheckpoint", "session_mark"]

_OWNER = "windrow.json"
_IDENTITY = "identity.txt"
_HINT = "restore the checkpoint directory from a copy, or start with a new one"


def session_mark(root: Storage) -> str:
    """By which a session knows its runs: others in the same Spark may have queries of that name."""
    return f"{zlib.crc32(root.uri.encode()):08x}"


class QueryCheckpoint:
    """The directories of one query, checked to be its own; folder: where not of its name.

    is_lasting: whether they are there after the session.
    """

    def __init__(
        self, root: Storage, query: str, folder: str | None = None, *, is_lasting: bool = True
    ) -> None:
        self.query, self.is_lasting = query, is_lasting
        self.mark = session_mark(root)
        self.storage = root.inside(folder or query)
        self.control = self.storage.inside("control")
        self.publish = self.storage.inside("publish")

    @property
    def spark_location(self) -> str:
        """What Spark is given as checkpointLocation."""
        return f"{self.storage.uri}/spark"

    @property
    def run_name(self) -> str:
        """How Spark calls its runs, each with a word of its own behind it."""
        return f"windrow {self.query} {self.mark}"

    def identity(self) -> str:
        """A name that this checkpoint has from its beginning, and no other has."""
        data = self.storage.read(_IDENTITY)
        if data is None and self.storage.has(_OWNER):
            raise self._lost(_IDENTITY, "by which sinks identify it")
        if data is None:
            data = _checked(uuid.uuid4().hex)
            self.storage.write(_IDENTITY, data)
        name = data.decode(errors="replace").partition(" ")[0]
        if data != _checked(name):
            raise CheckpointError(
                "WC211",
                f"{_IDENTITY} in the checkpoint of query {self.query!r} is damaged: its checksum "
                "does not match",
                hint=_HINT,
            )
        return name

    def is_begun(self) -> bool:
        """Whether a batch of the query has been published."""
        return bool(self.publish.names())

    def claim(self, fingerprint: str, buckets: int, grid_us: int, plan: RunnablePlan) -> None:
        """Takes a new directory for this plan, or checks that an old one is this plan's."""
        mine = CheckpointOwner.new(__version__, fingerprint, buckets, grid_us, plan)
        theirs = self._owner()
        self.identity()
        if theirs is None:
            self.storage.write(_OWNER, mine.to_bytes())
            return
        theirs.check(mine, self.query)
        if theirs.goes_on and not theirs.grid_us:
            self.storage.write(_OWNER, replace(theirs, grid_us=grid_us).to_bytes())

    def begin(self, fingerprint: str, buckets: int, plan: RunnablePlan) -> None:
        """Takes the directory for this plan, whose beginning is in it; nothing was begun before."""
        self.identity()
        owner = CheckpointOwner.new(__version__, fingerprint, buckets, 0, plan)
        self.storage.write(_OWNER, replace(owner, goes_on=True).to_bytes())

    def owner(self) -> CheckpointOwner | None:
        """Whom it belongs to; None while it is new."""
        return self._owner()

    @property
    def begins(self) -> Storage | None:
        """Where its beginning is, if it goes on from another run."""
        owner = self._owner()
        is_begun = owner is not None and owner.goes_on
        return self.storage.under(BEGIN_FOLDER) if is_begun else None

    def claimed_buckets(self) -> int | None:
        """How many buckets the checkpoint was begun with; None when it is new."""
        owner = self._owner()
        return None if owner is None else owner.buckets

    def sweep(self) -> None:
        """Removes what drivers that were killed have left unfinished.

        Spark does not mind it but for its first offsets: it takes them for another query's.
        """
        offsets = self.storage.under("spark").under("offsets")
        for each in (self.storage, self.control, self.publish, offsets):
            each.sweep()

    def _owner(self) -> CheckpointOwner | None:
        data = self.storage.read(_OWNER)
        if data is not None:
            return CheckpointOwner.from_bytes(data, self.query)
        if self.publish.names() or self.storage.has("spark"):
            raise self._lost(_OWNER, "which records its owner")
        return None

    def _lost(self, name: str, what: str) -> CheckpointError:
        return CheckpointError(
            "WC211",
            f"the checkpoint of query {self.query!r} has lost {name}, {what}",
            hint=_HINT,
        )


def _checked(name: str) -> bytes:
    return f"{name} {zlib.crc32(name.encode()):08x}\n".encode()
