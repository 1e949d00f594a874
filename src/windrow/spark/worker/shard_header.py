"""The header of a shard in the state store: one small value that says what the segments mean."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from windrow.errors import CheckpointError
from windrow.event_time import START_OF_TIME
from windrow.rows.frames import read_frame, write_frame
from windrow.runtime.ledger import Ledger
from windrow.spark.shuffle.far_ahead import Cluster
from windrow.spark.shuffle.window_limits import WindowLimits

__all__ = ["HEADER_VERSION", "SegmentEntry", "ShardHeader"]

HEADER_VERSION = 4


@dataclass(frozen=True)
class SegmentEntry:
    """One stored segment: when it can go, and what to expect when it is read again."""

    sequence: int
    rows: int
    bytes: int
    gone_at_us: int  # the clock at which no row in it is held any more
    clock_us: int  # the clock after the batch that wrote it
    is_snapshot: bool = False  # a whole shard instead of rows; always the first of the segments
    kept_until_us: int = START_OF_TIME  # how far streams must come for its times to be over
    newest_us: tuple[tuple[int, int], ...] = ()  # position and time of the newest rows in it


_SEGMENT_PARTS = tuple(each.name for each in fields(SegmentEntry))


@dataclass
class ShardHeader:
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
    members: list[list[int]] = field(default_factory=list)  # of a bundle (shuffle.member_orders)
    last_member: int = -1  # the highest number that a query of the bundle has had
    missed_members: list[int] = field(default_factory=list)  # lower ones that none has had yet
    kept_us: list[int] = field(default_factory=list)  # how long the bundle needs rows, by position

    @classmethod
    def new(cls, fingerprint: str, bucket: int, streams: Iterable[str]) -> ShardHeader:
        """The header before the first batch."""
        names = list(streams)
        return cls(
            fingerprint,
            bucket,
            complete_us=dict.fromkeys(names, START_OF_TIME),
            newest_us=dict.fromkeys(names, START_OF_TIME),
            ledgers={name: Ledger() for name in names},
        )

    def to_bytes(self) -> bytes:
        """The header as a checksummed frame."""
        # asdict() would copy every entry of every segment twice, in every batch.
        parts = {each.name: getattr(self, each.name) for each in fields(self)}
        parts["ledgers"] = {name: asdict(ledger) for name, ledger in self.ledgers.items()}
        parts["segments"] = [
            [getattr(segment, name) for name in _SEGMENT_PARTS] for segment in self.segments
        ]
        parts["limits"] = self.limits.to_json()
        return write_frame("header", {"version": HEADER_VERSION, **parts})

    @classmethod
    def from_bytes(cls, data: bytes, fingerprint: str, bucket: int) -> ShardHeader:
        """The header again; refused when it is damaged or belongs to something else."""
        parts, _ = read_frame("header", data, f"state header of bucket {bucket}")
        version = parts.pop("version")
        if version != HEADER_VERSION:
            raise CheckpointError(
                "WC214",
                f"the state of bucket {bucket} was written in format {version}, this version of "
                f"Windrow reads {HEADER_VERSION}",
                hint="restart with the version that wrote it, or start with a new checkpoint",
            )
        if parts["fingerprint"] != fingerprint:
            raise _foreign("plan fingerprint", parts["fingerprint"], fingerprint)
        if parts["bucket"] != bucket:
            raise _foreign("bucket", parts["bucket"], bucket)
        parts["ledgers"] = {name: Ledger(**counts) for name, counts in parts["ledgers"].items()}
        parts["segments"] = [_segment_entry(*entry) for entry in parts["segments"]]
        parts["limits"] = WindowLimits.from_json(parts["limits"])
        return cls(**parts)


def _segment_entry(*parts: Any) -> SegmentEntry:
    entry = SegmentEntry(*parts)
    return replace(entry, newest_us=tuple((position, time) for position, time in entry.newest_us))


def _foreign(what: str, found: object, wanted: object) -> CheckpointError:
    return CheckpointError(
        "WC212",
        f"the state store holds a shard of another {what}: {found}, not {wanted}",
        hint="give the query another name or another checkpoint directory",
    )
