"""The segment: what one batch brought to one bucket, as one value of the state store.

Rows are Arrow IPC with lz4, because the socket between Python and the state store is the slow part.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.rows.frames import Section, read_frame, table_bytes, table_of, write_frame
from windrow.spark.shuffle.event_times import pack_times, unpack_times

__all__ = ["Segment"]

Instants = NDArray[np.int64]

_OPTIONS = pa.ipc.IpcWriteOptions(compression="lz4")


@dataclass
class Segment:
    """Prepared rows per input in order of arrival; also times per stream, of the rows it counts.

    A segment with a snapshot stands for everything before it; `instants` are those still due then.
    """

    rows: Mapping[int, pa.RecordBatch | pa.Table] = field(default_factory=dict)
    times: Mapping[str, Instants] = field(default_factory=dict)
    snapshot: bytes | memoryview | None = None
    instants: Instants | None = None

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing in it that needs to be stored."""
        return self.row_count == 0 and not any(map(len, self.times.values()))

    @property
    def row_count(self) -> int:
        """Prepared rows in it, over all inputs."""
        return sum(rows.num_rows for rows in self.rows.values())

    @property
    def row_bytes(self) -> int:
        """What these rows take in memory."""
        return sum(rows.nbytes for rows in self.rows.values())

    def to_bytes(self) -> bytes:
        """The segment as a checksummed frame."""
        header = {
            "positions": list(self.rows),
            "times": list(self.times),
            "snapshot": self.snapshot is not None,
            "instants": self.instants is not None,
        }
        sections: list[Section] = [table_bytes(rows, _OPTIONS) for rows in self.rows.values()]
        sections += [pack_times(times) for times in self.times.values()]
        if self.snapshot is not None:
            sections.append(self.snapshot)
        if self.instants is not None:
            sections.append(pack_times(self.instants))
        return write_frame("segment", header, sections)

    @classmethod
    def from_bytes(cls, data: bytes, sequence: int) -> Segment:
        """The segment again; refused when it is damaged."""
        header, sections = read_frame("segment", data, f"segment {sequence} of the state store")
        left = iter(sections)
        rows = {input_index: table_of(next(left)) for input_index in header["positions"]}
        times = {stream: unpack_times(next(left)) for stream in header["times"]}
        snapshot = next(left) if header["snapshot"] else None
        instants = unpack_times(next(left)) if header["instants"] else None
        return cls(rows, times, snapshot, instants)
