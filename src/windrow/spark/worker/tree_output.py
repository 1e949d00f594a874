"""What the tree of a bucket gives for one batch: the result, and what is told beside it.

closed: what is final of sessions, with the instants at which they closed. whole: the result with
the columns that only its order reads. part1, part2, ...: what the other parts of a union add.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from windrow.operators.partial import Partial
from windrow.rows.frames import Parts, Section
from windrow.rows.set_aside import QueryLedger
from windrow.spark.shuffle.event_times import pack_times, unpack_times
from windrow.spark.worker.pieces import Piece, parts_of
from windrow.spark.worker.shard_output import ShardOutput

__all__ = ["CLOSED", "WHOLE", "TreeOutput", "beside", "parts_of_union", "with_aside"]

CLOSED, WHOLE = "closed", "whole"

Instants = NDArray[np.int64]


@dataclass
class TreeOutput:
    """Gathered piece by piece, in order of time."""

    pieces: list[Piece] = field(default_factory=list)
    others: dict[str, list[Piece]] = field(default_factory=dict)
    instants: list[Instants] = field(default_factory=list)  # at which rows entered by themselves
    closed_at: list[Instants] = field(default_factory=list)

    def add(self, until_us: int, partial: Partial, others: Mapping[str, Partial]) -> None:
        """What a step gave up to an instant."""
        self.pieces.append(Piece(until_us, partial.to_parts()))
        for name, each in others.items():
            self.others.setdefault(name, []).append(Piece(until_us, each.to_parts()))

    def to_parts(self, noted: QueryLedger) -> Parts:
        """All of it for one frame; noted: rows that operators have set aside."""
        header, sections = parts_of(self.pieces)
        named = {name: parts_of(pieces) for name, pieces in self.others.items()}
        given: list[Section] = [*sections]
        for parts in named.values():
            given += parts.sections
        given.append(pack_times(_joined(self.closed_at)))
        aside = {name: count for name, count in noted.set_aside.items() if count}
        return Parts(
            {
                **header,
                "beside": {name: parts.header for name, parts in named.items()},
                "aside": {"counts": aside, "rows": [list(row) for row in noted.rows]},
            },
            given,
        )


def beside(output: ShardOutput, name: str) -> ShardOutput:
    """The output as if what it tells under a name were all; of what is closed, when it closed."""
    header, sections = output.partial
    start = 2 * len(header["pieces"])
    for other, own in header["beside"].items():
        count = 2 * len(own["pieces"])
        if other == name:
            parts = Parts(own, sections[start : start + count])
            instants = unpack_times(sections[-1]) if name == CLOSED else output.instants
            return replace(output, partial=parts, instants=instants)
        start += count
    raise AssertionError(f"nothing is told of {name}")


def parts_of_union(outputs: Sequence[ShardOutput]) -> list[ShardOutput]:
    """Each part of a union as if it were a bucket of its own; all others as they are."""
    found = []
    for output in outputs:
        names = [name for name in output.partial.header.get("beside", ()) if name[:4] == "part"]
        parts = [output, *(beside(output, name) for name in names)]
        found += [
            replace(each, bucket=output.bucket * len(parts) + place)
            for place, each in enumerate(parts)
        ]
    return found


def with_aside(counted: Mapping[str, Any], noted: Mapping[str, Any]) -> dict[str, Any]:
    """What packers have counted, and operators besides."""
    if not noted["counts"]:
        return dict(counted)
    counts = dict(counted.get("counts", {}))
    for name, count in noted["counts"].items():
        counts[name] = counts.get(name, 0) + count
    return {"counts": counts, "rows": [*counted.get("rows", ()), *noted["rows"]]}


def _joined(instants: Sequence[Instants]) -> Instants:
    return np.unique(np.concatenate([np.empty(0, np.int64), *instants]))
