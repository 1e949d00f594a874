"""What a bucket of a bundle sends to the driver: what a shard would send, for each query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from windrow.spark.processes.frames import read_frame, write_frame
from windrow.spark.shuffle.event_times import unpack_times
from windrow.spark.worker.shard_output import ShardOutput
from windrow.spark.worker.window_report import WindowReport

__all__ = ["BundleOutput"]


@dataclass
class BundleOutput:
    """common: how the bucket stands; its partial is a frame with what each query gives.

    begun: the numbers of the queries that began with this batch, at the clock before it.
    """

    common: ShardOutput
    begun: Sequence[int] = ()

    def to_bytes(self) -> bytes:
        """The output as one frame."""
        return write_frame({"begun": list(self.begun)}, [self.common.to_bytes()])

    @classmethod
    def from_bytes(cls, data: bytes) -> BundleOutput:
        """The output again."""
        header, (common,) = read_frame(data, "output of a bundle")
        return cls(ShardOutput.from_bytes(bytes(common)), header["begun"])

    def by_member(self) -> dict[int, ShardOutput]:
        """What each query that runs after the batch gives, by its number."""
        header, sections = read_frame(self.common.partial, "partial answers of a bundle")
        found = {}
        for place, member in enumerate(header["members"]):
            partial, instants = sections[2 * place : 2 * place + 2]
            found[member["number"]] = replace(
                self.common,
                partial=bytes(partial),
                instants=unpack_times(instants),
                windows=[WindowReport.from_json(numbers) for numbers in member["windows"]],
                running=member["running"],
            )
        return found
