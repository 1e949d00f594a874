"""A question to all buckets of a history, and what one of them answers.

A question is answered at one moment, after the batch that carries it: an interval, and the levels
from which it is looked at. The answer of a bucket is partial; those of all buckets add up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.history.cells.cell_store import States
from windrow.plan.expressions import Literal
from windrow.plan.history_plan import HistoryPlan
from windrow.plan.history_schema import HistorySchema
from windrow.rows.frames import Parts, Section, table_bytes, table_of
from windrow.schema import BOOLEAN

__all__ = ["BucketReply", "Drawing", "HistoryQuestion"]


@dataclass(frozen=True)
class Drawing:
    """What is to be drawn of a history.

    shows: "extent" (from where to where there are nodes), "series" (points of a chart, about so
    many in the interval of the question) or "tree" (its nodes). group: the keys of one group as
    texts; none: all groups together.
    """

    shows: str
    points: int = 0
    group: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class HistoryQuestion:
    """What buckets need to know of a question.

    until_us is None for NOW. levels: granularities of the finest level to look at, one answer for
    each; None among them: rows too. is_total: all groups as one. Without levels only the moment
    is asked for. drawing: it is to be drawn instead of answered.
    """

    name: str
    since_us: int = 0
    until_us: int | None = None
    levels: tuple[int | None, ...] = ()
    is_total: bool = True
    drawing: Drawing | None = None

    @classmethod
    def of_plan(
        cls, name: str, plan: HistoryPlan, levels: tuple[int | None, ...]
    ) -> HistoryQuestion:
        """What buckets need to know of a plan; the driver does the rest."""
        return cls(name, plan.since_us, plan.until_us, levels, plan.is_total)

    def plan(self, schema: HistorySchema) -> HistoryPlan:
        """A plan that looks at the same: at all groups together, or at each."""
        each = None if self.is_total else Literal(True, BOOLEAN)
        interval = (self.since_us, self.until_us)
        return HistoryPlan("", schema, *interval, None, select=(), where=each)

    def to_json(self) -> dict[str, Any]:
        """The question as JSON can hold it."""
        return asdict(self)

    @classmethod
    def from_json(cls, parts: Mapping[str, Any]) -> HistoryQuestion:
        """The question again."""
        given = {**parts, "levels": tuple(parts["levels"])}
        if given.get("drawing") is not None:
            given["drawing"] = Drawing(**given["drawing"])
        return cls(**given)


@dataclass(frozen=True)
class BucketReply:
    """The moment, what the bucket has forgotten, and its partial answer for each level.

    forgotten: one state of all nodes that left memory; sketches: one of them for each kind. drawn:
    what is to be drawn, a table for each point of a series.
    """

    name: str
    now_us: int
    is_finished: bool
    horizons_us: tuple[int, ...]
    forgotten: States
    sketches: tuple[bytes, ...] = ()
    answers: Mapping[int | None, pa.Table] = field(default_factory=dict)
    drawn: Sequence[pa.Table] = ()

    def to_parts(self) -> Parts:
        """The reply, for the frame of a bucket's output."""
        whole, real = self.forgotten
        header = {
            "name": self.name,
            "moment": [self.now_us, self.is_finished],
            "horizons_us": self.horizons_us,
            "forgotten": [whole[:, 0].tolist(), [each.hex() for each in real[:, 0].tolist()]],
            "levels": list(self.answers),
            "drawn": len(self.drawn),
        }
        tables = [*self.answers.values(), *self.drawn]
        return Parts(header, [*map(table_bytes, tables), *self.sketches])

    @classmethod
    def from_parts(cls, header: Mapping[str, Any], sections: Sequence[Section]) -> BucketReply:
        """The reply again."""
        count = len(header["levels"])
        end = count + header["drawn"]
        whole, real = header["forgotten"]
        now_us, is_finished = header["moment"]
        return cls(
            header["name"],
            now_us,
            is_finished,
            tuple(header["horizons_us"]),
            (np.array([whole], np.int64).T, np.array([[*map(float.fromhex, real)]]).T),
            tuple(bytes(section) for section in sections[end:]),
            dict(zip(header["levels"], map(table_of, sections[:count]), strict=True)),
            [table_of(section) for section in sections[count:end]],
        )
