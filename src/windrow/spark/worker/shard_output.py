"""What a shard sends to the driver after each batch, as one binary value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.event_time import START_OF_TIME
from windrow.rows.frames import Parts, Section, read_frame, table_bytes, table_of, write_frame
from windrow.runtime.ledger import Ledger
from windrow.spark.shuffle.event_times import pack_times, unpack_times
from windrow.spark.shuffle.window_limits import WindowLimits
from windrow.spark.worker.window_report import WindowReport

__all__ = ["OUTPUT_SCHEMA", "ShardOutput"]

OUTPUT_SCHEMA = "bucket int, output binary"

Instants = NDArray[np.int64]


@dataclass
class ShardOutput:
    """The partial answers of one bucket, and how it stands.

    Ledgers, instants, heavy keys and kept rows are of the packing tasks that the bucket counts for.
    arrivals: rows of a query with ERROR, counted. has_order: the limits of its windows are new,
    from the clock on with which the batch began. begun: the numbers of the queries of a bundle
    that began with the batch, at the clock before it. stage: of a tree in stages. below: what
    buckets of the stages below have told, as the last stage takes it to the driver.
    """

    bucket: int  # its index
    clock_us: int
    complete_us: dict[str, int]
    partial: Parts
    instants: Instants
    windows: list[WindowReport]
    state_bytes: int
    segment_count: int
    was_rebuilt: bool
    began_us: int = START_OF_TIME
    first_us: int | None = None
    limits: WindowLimits = field(default_factory=WindowLimits)
    has_order: bool = False
    arrivals: Parts | None = None
    begun: list[int] = field(default_factory=list)
    running: Mapping[str, Any] = field(default_factory=dict)  # algorithm and figures, for EXPLAIN
    heavy: list[list[Any]] = field(default_factory=list)  # shuffle.heavy_keys
    ledgers: dict[str, Ledger] = field(default_factory=dict)
    late: Mapping[str, pa.Table] = field(default_factory=dict)
    unplaced: Mapping[str, pa.Table] = field(default_factory=dict)
    bad: Mapping[str, pa.Table] = field(default_factory=dict)
    rows_in: Mapping[str, int] = field(default_factory=dict)  # rows that the query took, by stream
    aside: Mapping[str, Any] = field(default_factory=dict)  # shuffle.aside_rows
    rows_read: int = 0  # of the tasks that it counts for, in this batch
    stage: int = 0
    below: list[bytes] = field(default_factory=list)

    def to_bytes(self) -> bytes:
        """The output as one frame."""
        header = {
            "bucket": self.bucket,
            "clock_us": self.clock_us,
            "complete_us": self.complete_us,
            "began_us": self.began_us,
            "first_us": self.first_us,
            "limits": self.limits.to_json(),
            "has_order": self.has_order,
            "windows": [window.to_json() for window in self.windows],
            "state_bytes": self.state_bytes,
            "segment_count": self.segment_count,
            "was_rebuilt": self.was_rebuilt,
            "begun": self.begun,
            "running": self.running,
            "heavy": self.heavy,
            "ledgers": {stream: asdict(ledger) for stream, ledger in self.ledgers.items()},
            "rows_in": self.rows_in,
            "aside": self.aside,
            "rows_read": self.rows_read,
            "stage": self.stage,
            "below": len(self.below),
            "late": list(self.late),
            "unplaced": list(self.unplaced),
            "bad": list(self.bad),
            "partial": self.partial.header,
            "arrivals": None if self.arrivals is None else self.arrivals.header,
        }
        kept = [*self.late.values(), *self.unplaced.values(), *self.bad.values()]
        sections: list[Section] = [pack_times(self.instants), *map(table_bytes, kept)]
        sections += [] if self.arrivals is None else self.arrivals.sections
        sections += self.below
        return write_frame("output", header, [*sections, *self.partial.sections])

    @classmethod
    def from_bytes(cls, data: bytes) -> ShardOutput:
        """The output again."""
        header, sections = read_frame("output", data, "output of a shard")
        left = iter(sections)
        instants = unpack_times(next(left))
        header["ledgers"] = {name: Ledger(**counts) for name, counts in header["ledgers"].items()}
        header["windows"] = [WindowReport.from_json(numbers) for numbers in header["windows"]]
        header["limits"] = WindowLimits.from_json(header["limits"])
        for feed in ("late", "unplaced", "bad"):
            header[feed] = {stream: table_of(next(left)) for stream in header[feed]}
        if header["arrivals"] is not None:
            header["arrivals"] = Parts(header["arrivals"], [next(left), next(left)])
        header["below"] = [bytes(each) for each in islice(left, header["below"])]
        header["partial"] = Parts(header["partial"], [*left])
        return cls(instants=instants, **header)

    def by_member(self) -> dict[int, ShardOutput]:
        """The output of each query of a bundle that runs after the batch, by its number."""
        found, left = {}, iter(self.partial.sections)
        for member in self.partial.header["members"]:
            instants = unpack_times(next(left))
            found[member["number"]] = replace(
                self,
                partial=Parts(member["partial"], [*islice(left, member["sections"])]),
                instants=instants,
                windows=[WindowReport.from_json(numbers) for numbers in member["windows"]],
                running=member["running"],
            )
        return found
