"""What the driver knows of a bundle besides its queries' answers: who runs in it, and on what."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import astuple, dataclass, replace

from windrow.errors import CheckpointError
from windrow.plan.model import QueryPlan, one_block
from windrow.plan.serialise import plan_from_json, plan_to_json
from windrow.rows.frames import read_frame, write_frame
from windrow.spark.shuffle.carrier import (
    Columns,
    SharedPartitioning,
    carried_columns,
    carrier_of,
    wider,
)
from windrow.storage import Storage

__all__ = ["BundleRecord", "RecordEntry"]

_NAME = "bundle.book"


@dataclass(frozen=True)
class RecordEntry:
    """A query that was ever ordered to begin: its number, and whether it was ordered to end."""

    number: int
    query: str
    has_ended: bool = False


class BundleRecord:
    """One file in the bundle's directory; orders are written down before they are given."""

    def __init__(self, storage: Storage, partitioning: SharedPartitioning) -> None:
        self._storage = storage
        self.partitioning = partitioning
        self.columns: Columns = wider({}, partitioning, ())
        self._entries: list[RecordEntry] = []

    @classmethod
    def stored(cls, storage: Storage) -> BundleRecord | None:
        """The record of a bundle that was begun before; None when there is none."""
        data = storage.read(_NAME)
        if data is None and storage.has("windrow.json"):
            raise CheckpointError(
                "WC241",
                f"{storage.location} has lost {_NAME}, which says which queries run in it",
                hint="restore the checkpoint directory from a copy, or start with a new one",
            )
        if data is None:
            return None
        header, _ = read_frame("bundle", data, f"{_NAME} in {storage.location}")
        carrier = one_block(plan_from_json(header["carrier"]))
        record = cls(storage, _partitioning_of_carrier(carrier))
        record.columns = {
            stream: carried_columns(carrier, input_index)
            for input_index, stream in enumerate(carrier.streams)
        }
        record._entries = [RecordEntry(*parts) for parts in header["entries"]]
        return record

    @property
    def carrier(self) -> QueryPlan:
        """What the operator carries."""
        return carrier_of(self.partitioning, self.columns)

    def running(self) -> dict[str, int]:
        """The numbers of the queries that were not ordered to end."""
        return {each.query: each.number for each in self._entries if not each.has_ended}

    @property
    def next_number(self) -> int:
        """The number of the query that is written down next."""
        return len(self._entries)

    def add(self, query: str, plan: QueryPlan) -> None:
        """Writes down that a query begins, under the next number."""
        self._entries.append(RecordEntry(self.next_number, query))
        self.columns = wider(self.columns, self.partitioning, [plan])
        self._save()

    def end(self, number: int) -> None:
        """Writes down that a query ends."""
        self._entries[number] = replace(self._entries[number], has_ended=True)
        self._save()

    def ended(self) -> Iterable[int]:
        """The numbers of the queries that were ordered to end."""
        return [each.number for each in self._entries if each.has_ended]

    def _save(self) -> None:
        entries = [list(astuple(each)) for each in self._entries]
        header = {"carrier": plan_to_json(self.carrier), "entries": entries}
        self._storage.write(_NAME, write_frame("bundle", header))


def _partitioning_of_carrier(carrier: QueryPlan) -> SharedPartitioning:
    streams = tuple(entry.stream for entry in carrier.inputs)
    names = [stream.name for stream in streams]
    by_variable = zip(*(entry.keys for entry in carrier.inputs), strict=True)
    keys = frozenset(frozenset(zip(names, parts, strict=True)) for parts in by_variable)
    return SharedPartitioning(streams, keys)
