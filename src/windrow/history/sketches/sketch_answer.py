"""What sketches say of an interval, for each group of an answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.history.aggregates import Aggregate
from windrow.history.cells.arena import Longs
from windrow.history.cells.kernels import PARTS
from windrow.history.sketches.kinds import SketchKind

__all__ = ["SketchAnswer"]


@dataclass(frozen=True)
class SketchAnswer:
    """Two sketches for each group: of what is surely in the interval, and of all that may be.

    They are the same object where no node is cut. Sketches are kept by nodes, not by rows: an
    interval is cut in the middle of the finest nodes too.
    """

    kind: SketchKind
    inner: list[Any]
    outer: list[Any]

    def columns(self, aggregate: Aggregate) -> list[pa.Array]:
        """Value, lower and upper bound, for each group."""
        values = [
            self.kind.value(inner, outer, aggregate.rank)
            for inner, outer in zip(self.inner, self.outer, strict=True)
        ]
        kind = pa.int64() if aggregate.traits.is_count else pa.float64()
        return [pa.array([value[side] for value in values], kind) for side in range(3)]

    def taken(self, places: Longs) -> SketchAnswer:
        """Only some of the groups."""
        chosen = places.tolist()
        return SketchAnswer(
            self.kind, [self.inner[i] for i in chosen], [self.outer[i] for i in chosen]
        )

    def merged(
        self, answers: Sequence[SketchAnswer], groups: Sequence[Longs], count: int
    ) -> SketchAnswer:
        """All answers as one; groups: where each answer's groups are among all."""
        inner: list[list[Any]] = [[] for _ in range(count)]
        outer: list[list[Any]] = [[] for _ in range(count)]
        is_cut = np.zeros(count, np.bool_)
        for answer, places in zip(answers, groups, strict=True):
            for group, (sure, all_of_it) in zip(
                places.tolist(), zip(answer.inner, answer.outer, strict=True), strict=True
            ):
                inner[group].append(sure)
                outer[group].append(all_of_it)
                is_cut[group] |= sure is not all_of_it
        outers = [self.kind.merged(each) for each in outer]
        inners = [
            self.kind.merged(each) if cut else whole
            for each, whole, cut in zip(inner, outers, is_cut, strict=True)
        ]
        return SketchAnswer(self.kind, inners, outers)

    def parts(self) -> list[bytes | None]:
        """As bytes, PARTS for each group: sure ones, all where they are more, nothing."""
        out: list[bytes | None] = []
        for inner, outer in zip(self.inner, self.outer, strict=True):
            out.append(self.kind.to_bytes(inner))
            out.append(None if inner is outer else self.kind.to_bytes(outer))
            out += [None] * (PARTS - 2)
        return out

    @staticmethod
    def of_parts(kind: SketchKind, parts: list[bytes | None]) -> SketchAnswer:
        """What parts() was given."""
        inner = [kind.from_bytes(part) for part in parts[0::PARTS] if part is not None]
        outer = [
            sure if part is None else kind.from_bytes(part)
            for sure, part in zip(inner, parts[1::PARTS], strict=True)
        ]
        return SketchAnswer(kind, inner, outer)
