"""Whom a checkpoint belongs to: the query and its plan, and the version that began it.

It is JSON that people can read, with a checksum over all the rest.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from windrow.errors import CheckpointError
from windrow.plan.relations.differences import differences
from windrow.plan.serialise import PLAN_FORMAT, plan_from_json, plan_to_json

if TYPE_CHECKING:
    from windrow.plan.relations.tree_plan import RunnablePlan

__all__ = ["CHECKPOINT_FORMAT", "CheckpointOwner", "result_not_kept"]

CHECKPOINT_FORMAT = 4

_CHECKSUM = "checksum"
_NAMES = "give the query another name or another checkpoint directory"
_MOVES = (
    "to take its windows along, `windrow state export --checkpoint DIR --query {0} {0}.wstate`, "
    "then `windrow state import {0}.wstate --checkpoint OTHER`, with --buckets or --job"
)
_MEANINGS = {
    "buckets": "number of buckets",
    "grid_us": "grid of instants, in microseconds (1 where changes are wanted too)",
}


@dataclass(frozen=True)
class CheckpointOwner:
    """windrow: the version that wrote it. plan: as plan_to_json gives it.

    goes_on: whether it begins with the state of another run (checkpoint.beginning). grid_us: 0
    until it is started with a sink, where it has the place of another one. generation: how often
    its state was moved into a folder of its own, in other buckets or for a changed query.
    first_batch: as what its sink counts its batch 0. passes_rows: whether it was begun with a sink
    that takes changes only, and keeps neither rows nor a result.
    """

    format: int
    windrow: str
    fingerprint: str
    buckets: int
    grid_us: int
    query: str
    plan: Mapping[str, Any]
    goes_on: bool = False
    generation: int = 0
    first_batch: int = 0
    passes_rows: bool = False

    @classmethod
    def new(
        cls, version: str, fingerprint: str, buckets: int, grid_us: int, plan: RunnablePlan
    ) -> CheckpointOwner:
        """The owner of a checkpoint that is begun now."""
        parts = json.loads(plan_to_json(plan))
        return cls(CHECKPOINT_FORMAT, version, fingerprint, buckets, grid_us, plan.text, parts)

    def to_bytes(self) -> bytes:
        """The owner with its checksum."""
        parts = asdict(self)
        for name in ("goes_on", "generation", "first_batch", "passes_rows"):
            if not parts[name]:
                del parts[name]  # so that the version before reads it
        return json.dumps({**parts, _CHECKSUM: _checksum(parts)}, indent=1).encode()

    @classmethod
    def from_bytes(cls, data: bytes, query: str) -> CheckpointOwner:
        """The owner again; refused when it is damaged or was written in another format."""
        try:
            parts = json.loads(data)
            found = parts["format"]
            if found == CHECKPOINT_FORMAT and parts.pop(_CHECKSUM) != _checksum(parts):
                raise ValueError("its checksum does not match")
            if found == CHECKPOINT_FORMAT:
                return cls(**parts)
        except (ValueError, TypeError, KeyError) as problem:
            raise CheckpointError(
                "WC211",
                f"windrow.json in the checkpoint of query {query!r} is damaged: {problem}",
                hint="restore the checkpoint directory from a copy, or start with a new one",
            ) from problem
        if not isinstance(found, int):
            what = f"it has format {found!r}, that of a continuous question about the past"
            raise _foreign(query, what, _NAMES)
        raise _foreign(
            query,
            f"it has format {found}, written by Windrow {parts.get('windrow', '0.1.0 or earlier')};"
            f" this version reads format {CHECKPOINT_FORMAT}",
            "restart with the version that wrote the checkpoint, or with a new checkpoint",
        )

    def check(self, mine: CheckpointOwner, query: str) -> None:
        """Refuses another query's checkpoint; the error says what differs."""
        if self.fingerprint != mine.fingerprint:
            raise _foreign(query, self._difference(mine), f"{_NAMES}; {_MOVES.format(query)}")
        for field, meaning in _MEANINGS.items():
            found, wanted = getattr(self, field), getattr(mine, field)
            if found != wanted and not (field == "grid_us" and not found):
                what = f"its {meaning} is {found}, this query's is {wanted}"
                hint = _MOVES.format(query) if field == "buckets" else _NAMES
                raise _foreign(query, what, hint)

        if self.passes_rows and not mine.passes_rows:
            raise result_not_kept()

    def _difference(self, mine: CheckpointOwner) -> str:
        if self.plan["format"] != PLAN_FORMAT:
            return (
                f"its plan has format {self.plan['format']}, written by Windrow {self.windrow}; "
                f"this is Windrow {mine.windrow}, whose plans have format {PLAN_FORMAT}"
            )
        try:
            before, now = (plan_from_json(json.dumps(each.plan)) for each in (self, mine))
        except CheckpointError as error:  # of functions that it does not have
            return f"its plan cannot be read here: {error.message}"
        shown = differences(before, now) or [
            f"fingerprint of the plan: {self.fingerprint}, now {mine.fingerprint}"
        ]
        by = "" if self.windrow == mine.windrow else f" (written by Windrow {self.windrow})"
        return f"its plan differs{by} in " + "; ".join(shown)


def result_not_kept() -> CheckpointError:
    """The refusal to give what a query whose rows pass has not kept."""
    return CheckpointError(
        "WC225",
        "the query was begun with a sink that takes changes only: its result is not kept",
        hint="start it with such a sink, feed='changes', or in a new checkpoint with another one",
    )


def _checksum(parts: Mapping[str, Any]) -> str:
    return f"{zlib.crc32(json.dumps(parts, sort_keys=True).encode()):08x}"


def _foreign(query: str, what: str, hint: str) -> CheckpointError:
    return CheckpointError(
        "WC210",
        f"the checkpoint of query {query!r} belongs to something else: {what}",
        hint=hint,
    )
