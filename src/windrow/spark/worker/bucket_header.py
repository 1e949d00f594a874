"""The header of a bucket in the state store: one small value that says what its segments mean."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from windrow.errors import CheckpointError
from windrow.event_time import END_OF_TIME, START_OF_TIME
from windrow.rows.frames import read_frame, write_frame
from windrow.runtime.ledger import Ledger
from windrow.spark.shuffle.far_ahead import Cluster
from windrow.spark.shuffle.window_limits import WindowLimits

__all__ = ["HISTORY", "SHARD", "BucketHeader", "BucketKind", "SegmentEntry"]

HEADER_VERSION = 5


@dataclass(frozen=True)
class BucketKind:
    """What buckets hold, and the codes of what can be wrong with it.

    foreign: it belongs to something else. outdated: it has another format. lost: a part is missing.
    """

    name: str
    foreign: str
    outdated: str
    lost: str


SHARD = BucketKind("shard", foreign="WC212", outdated="WC214", lost="WC213")
HISTORY = BucketKind("history", foreign="WC232", outdated="WC234", lost="WC233")


@dataclass(frozen=True)
class SegmentEntry:
    """One stored segment: when it can go, and what to expect when it is read again."""

    sequence: int
    rows: int
    bytes: int
    gone_at_us: int  # the clock at which no row in it is held any more
    clock_us: int  # the clock after the batch that wrote it
    is_snapshot: bool = False  # all that lives instead of rows; always the first of the segments
    kept_until_us: int = START_OF_TIME  # how far streams must come for its times to be over
    newest_us: tuple[tuple[int, int], ...] = ()  # input and time of the newest rows in it
    values: int = 1  # of the state store, from its sequence on; none where a batch brought nothing
    nonce: str = ""  # names the state after it, where one that has fallen behind may catch up


_ENTRY_PARTS = tuple(each.name for each in fields(SegmentEntry))


@dataclass
class BucketHeader:
    """What one bucket knows between batches, besides its rows."""

    fingerprint: str
    bucket: int
    nonce: str = ""  # names the state that a live shard must have to go with this header
    holder: str = ""  # where that live shard was left
    clock_us: int = START_OF_TIME
    reached_us: int = START_OF_TIME  # the clock of the streams; a life may end before
    first_us: int | None = None  # from when DURATION counts
    life_sequence: int = 0  # the first segment whose rows were judged by a life that is known
    limits: WindowLimits = field(default_factory=WindowLimits)
    complete_us: dict[str, int] = field(default_factory=dict)
    newest_us: dict[str, int] = field(default_factory=dict)
    suspects: dict[str, Cluster | None] = field(default_factory=dict)  # shuffle.far_ahead
    ledgers: dict[str, Ledger] = field(default_factory=dict)
    segments: list[SegmentEntry] = field(default_factory=list)
    next_sequence: int = 0
    members: list[list[int]] = field(default_factory=list)  # of a bundle (worker.bundle_members)
    last_member: int = -1  # the highest number that a query of the bundle has had
    missed_members: list[int] = field(default_factory=list)  # lower ones that none has had yet
    kept_us: list[int] = field(default_factory=list)  # how long the bundle needs rows, by input
    tables_us: int = START_OF_TIME  # when the last change of a table without a time took effect

    @classmethod
    def new(cls, fingerprint: str, bucket: int, streams: Iterable[str]) -> BucketHeader:
        """The header before the first batch."""
        names = list(streams)
        return cls(
            fingerprint,
            bucket,
            complete_us=dict.fromkeys(names, START_OF_TIME),
            newest_us=dict.fromkeys(names, START_OF_TIME),
            ledgers={name: Ledger() for name in names},
        )

    @property
    def is_finished(self) -> bool:
        """Whether all streams have ended."""
        return min(self.complete_us.values()) >= END_OF_TIME

    def to_bytes(self) -> bytes:
        """The header as a checksummed frame."""
        # asdict() would copy every entry of every segment twice, in every batch.
        parts = {each.name: getattr(self, each.name) for each in fields(self)}
        parts["ledgers"] = {name: asdict(ledger) for name, ledger in self.ledgers.items()}
        parts["segments"] = [
            [getattr(entry, name) for name in _ENTRY_PARTS] for entry in self.segments
        ]
        parts["limits"] = self.limits.to_json()
        return write_frame("header", {"version": HEADER_VERSION, **parts})

    @classmethod
    def from_bytes(
        cls, data: bytes, fingerprint: str, bucket: int, kind: BucketKind = SHARD
    ) -> BucketHeader:
        """The header again; refused when it is damaged or belongs to something else."""
        parts, _ = read_frame("header", data, f"state header of bucket {bucket}")
        version = parts.pop("version")
        if version != HEADER_VERSION:
            raise CheckpointError(
                kind.outdated,
                f"the {kind.name} in bucket {bucket} was written in format {version}, this version "
                f"of Windrow reads {HEADER_VERSION}",
                hint="restart with the version that wrote it, or start with a new checkpoint",
            )
        for what, wanted in (("fingerprint", fingerprint), ("bucket", bucket)):
            if parts[what] != wanted:
                raise CheckpointError(
                    kind.foreign,
                    f"the state store holds a {kind.name} of another {what}: {parts[what]}, not "
                    f"{wanted}",
                    hint="use another checkpoint directory or, for a query, another name",
                )
        parts["ledgers"] = {name: Ledger(**counts) for name, counts in parts["ledgers"].items()}
        parts["segments"] = [_entry(*entry) for entry in parts["segments"]]
        parts["limits"] = WindowLimits.from_json(parts["limits"])
        return cls(**parts)


def _entry(*parts: Any) -> SegmentEntry:
    entry = SegmentEntry(*parts)
    return replace(
        entry, newest_us=tuple((input_index, time) for input_index, time in entry.newest_us)
    )
