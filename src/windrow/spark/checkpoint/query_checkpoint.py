"""The checkpoint directory of one query: what lies where, and whom it belongs to.

identity.txt    a name that no other checkpoint has, by which sinks identify it
windrow.json    format, version, the query and its plan, number of buckets
spark/          Spark's offsets, commits and state store
control/        heartbeats, ends of streams and widths, read as one more stream
publish/        what the driver knows after each of the last batches
begin/          the state of another run from which it goes on, if it does
routing.frame   which keys are split
generation-1/   the last four, once its state was moved: in other buckets, or for a changed query
"""

from __future__ import annotations

import re
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

__all__ = ["ROUTING", "QueryCheckpoint", "session_mark"]

ROUTING = "routing.frame"
_OWNER = "windrow.json"
_GENERATION = re.compile(r"generation-[1-9]\d*")
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
        self._generation: int | None = None
        self._state: Storage | None = None

    @property
    def generation(self) -> int:
        """How often its state was moved, as the checkpoint says it."""
        if self._generation is None:
            owner = self._owner()
            self._generation = 0 if owner is None else owner.generation
        return self._generation

    @property
    def state(self) -> Storage:
        """Where the state lies: Spark's part, what was published, the beginning."""
        if self._state is None:
            number = self.generation
            self._state = self.storage.inside(_folder(number)) if number else self.storage
        return self._state

    @property
    def publish(self) -> Storage:
        """Where what the driver knows is saved."""
        return self.state.inside("publish")

    @property
    def spark_part(self) -> Storage:
        """The directory that Spark has."""
        return self.state.under("spark")

    @property
    def spark_location(self) -> str:
        """What Spark is given as checkpointLocation."""
        return f"{self.state.uri}/spark"

    @property
    def first_batch(self) -> int:
        """As what its sink counts its batch 0."""
        owner = self._owner()
        return 0 if owner is None else owner.first_batch

    def look_again(self) -> None:
        """Another driver may have moved the state."""
        self._generation = self._state = None

    def following(self) -> QueryCheckpoint:
        """The same with its next generation, which is the checkpoint's once begin() is done."""
        root = Storage(self.storage.location.rpartition("/")[0], make=False)
        folder = self.storage.location.rpartition("/")[2]
        after = QueryCheckpoint(root, self.query, folder, is_lasting=self.is_lasting)
        after._generation = self.generation + 1
        return after

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
        return self.generation > 0 or bool(self.publish.names())

    def claim(
        self,
        fingerprint: str,
        buckets: int,
        grid_us: int,
        plan: RunnablePlan,
        *,
        passes_rows: bool = False,
    ) -> None:
        """Takes a new directory for this plan, or checks that an old one is this plan's."""
        mine = CheckpointOwner.new(__version__, fingerprint, buckets, grid_us, plan)
        mine = replace(mine, passes_rows=passes_rows)
        theirs = self._owner()
        self.identity()
        if theirs is None:
            self.storage.write(_OWNER, mine.to_bytes())
            return
        theirs.check(mine, self.query)
        if not theirs.grid_us:
            self.storage.write(_OWNER, replace(theirs, grid_us=grid_us).to_bytes())

    def begin(
        self,
        fingerprint: str,
        buckets: int,
        plan: RunnablePlan,
        grid_us: int = 0,
        first_batch: int = 0,
    ) -> None:
        """Takes the directory for this plan, whose beginning is in it."""
        self.identity()
        owner = CheckpointOwner.new(__version__, fingerprint, buckets, grid_us, plan)
        begun = replace(owner, goes_on=True, generation=self.generation, first_batch=first_batch)
        self.storage.write(_OWNER, begun.to_bytes())

    def begin_anew(
        self, fingerprint: str, buckets: int, plan: RunnablePlan, first_batch: int
    ) -> None:
        """Takes the directory for another plan, which goes on from nothing."""
        self.identity()
        number = self.following().generation
        for name in self.control.names():
            self.control.remove(name)  # orders to the query before
        owner = CheckpointOwner.new(__version__, fingerprint, buckets, 0, plan)
        begun = replace(owner, generation=number, first_batch=first_batch)
        self.storage.write(_OWNER, begun.to_bytes())
        self.look_again()

    def take_identity(self, name: str) -> None:
        """Sinks shall take it for another one, whose place it has."""
        self.storage.write(_IDENTITY, _checked(name))

    def owner(self) -> CheckpointOwner | None:
        """Whom it belongs to; None while it is new."""
        return self._owner()

    @property
    def begins(self) -> Storage | None:
        """Where its beginning is, if it goes on from another run."""
        owner = self._owner()
        is_begun = owner is not None and owner.goes_on
        return self.state.under(BEGIN_FOLDER) if is_begun else None

    def claimed_buckets(self) -> int | None:
        """How many buckets the checkpoint was begun with; None when it is new."""
        owner = self._owner()
        return None if owner is None else owner.buckets

    def sweep(self) -> None:
        """Removes what drivers that were killed have left unfinished.

        Spark does not mind it but for its first offsets: it takes them for another query's.
        """
        offsets = self.spark_part.under("offsets")
        for each in (self.storage, self.control, self.publish, offsets):
            each.sweep()

    def give_up(self) -> None:
        """Nobody owns it any more: nothing has happened in it."""
        self.storage.remove(_OWNER)
        self.look_again()

    def forget_others(self) -> None:
        """Removes what generations before this one have left, and those that never began."""
        number = self.generation
        for folder in self.storage.folders():
            if _GENERATION.fullmatch(folder) and folder != _folder(number):
                self.storage.remove_folder(folder)
        if number:
            for folder in ("spark", "publish", BEGIN_FOLDER):
                self.storage.remove_folder(folder)
            self.storage.remove(ROUTING)

    def _owner(self) -> CheckpointOwner | None:
        data = self.storage.read(_OWNER)
        if data is not None:
            return CheckpointOwner.from_bytes(data, self.query)
        if any(self.storage.has(each) for each in ("spark", _folder(1))) or (
            self.storage.under("publish").names()
        ):
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


def _folder(generation: int) -> str:
    return f"generation-{generation}"
