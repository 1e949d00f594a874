"""What has left memory: archived and still answerable, or forgotten and only summed up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pyarrow as pa

from windrow.event_time import END_OF_TIME
from windrow.history.answers.answer import Interval
from windrow.history.cells.arena import Longs
from windrow.history.cells.cell_store import Reals, empty_states
from windrow.history.cells.kernels import EXACT, LEFT, PARTS, RIGHT
from windrow.history.groups import Groups
from windrow.history.nodes.kernels import add_nodes, add_up
from windrow.history.nodes.state_columns import states_of_columns
from windrow.history.nodes.table import sketches_of_table, table_of_nodes
from windrow.history.sketches.sketch_levels import Found, NodeSketches
from windrow.history.spec import GRANULARITY_COLUMN, HistorySpec
from windrow.history.state_kernels import ROWS, START
from windrow.history.storage import Nodes, Reading

__all__ = ["NO_CUT", "Archive", "Archived", "Past"]

NO_CUT = np.empty((0, 2, 2), np.int64)


class Archive(Protocol):
    """Where nodes go when they leave memory, and from where they are read again."""

    def write(self, nodes: pa.Table) -> None:
        """Keep nodes; each node of the coarsest level comes whole, and once."""

    def read(self, since_us: int, until_us: int) -> pa.Table:
        """All nodes that reach into an interval."""


@dataclass(frozen=True)
class Archived:
    """Nodes that were read back: keys, ends and states, one for each."""

    keys: pa.Table
    ends: Longs
    whole: Longs
    real: Reals
    sketches: list[NodeSketches]

    def add_sketches(
        self, found: list[Found], place: Mapping[int, int], codes: Longs,
        inner: tuple[int, int], outer: tuple[int, int],
    ) -> None:  # fmt: skip
        """Add those of nodes in the intervals to what was found of their groups."""
        spans = zip(self.whole[START].tolist(), self.ends.tolist(), strict=True)
        for code, (start, end), sketches in zip(codes.tolist(), spans, self.sketches, strict=True):
            if code not in place or end <= outer[0] or start >= outer[1]:
                continue
            is_sure = inner[0] <= start and end <= inner[1]
            found[place[code]][0 if is_sure else 1].append(sketches)

    def add_to(
        self, reading: Reading, codes: Longs, since_us: int, until_us: int, target: int
    ) -> None:
        """Add an interval to a part of the states of the requested groups."""
        order = np.argsort(reading.codes)
        place = np.searchsorted(reading.codes, codes, sorter=order)
        groups = order[np.minimum(place, order.size - 1)] if order.size else place
        wanted = np.flatnonzero(reading.codes[groups] == codes) if order.size else place[:0]
        add_nodes(
            groups[wanted], self.ends[wanted], self.whole[:, wanted], self.real[:, wanted],
            since_us, until_us, target, reading.whole, reading.real, reading.cuts,
        )  # fmt: skip


class Past:
    """Nodes that left memory. Without an archive one state is kept of all of them together."""

    def __init__(self, spec: HistorySpec, groups: Groups, archive: Archive | None) -> None:
        self._spec = spec
        self._groups = groups
        self._archive = archive
        self.whole, self.real = empty_states(1, len(spec.measures))
        self.whole[START] = END_OF_TIME

    @property
    def is_archived(self) -> bool:
        """Whether nodes are kept somewhere."""
        return self._archive is not None

    def part_with(self, nodes: Nodes, sketches: Mapping[tuple[int, int], NodeSketches]) -> None:
        """Nodes leave memory, with their sketches by code and start."""
        if self._archive is not None:
            self._archive.write(table_of_nodes(nodes, self._spec, self._groups, sketches))
            return
        add_up(np.zeros(nodes.codes.size, np.int64), nodes.whole, nodes.real, self.whole, self.real)
        self.whole[START, 0] = min(self.whole[START, 0], nodes.whole[START].min())

    def archived(self, since_us: int, until_us: int) -> Archived | None:
        """Nodes of the archive that reach into an interval."""
        if self._archive is None or since_us >= until_us:
            return None
        table = self._archive.read(since_us, until_us)
        whole, real = states_of_columns(self._spec, table)
        ends = whole[START] + table.column(GRANULARITY_COLUMN).to_numpy()
        keys = table.select([key.name for key in self._spec.keys])
        return Archived(keys, ends, whole, real, sketches_of_table(self._spec, table))

    def part_of(self, interval: Interval, begin_us: int, *, is_one: bool) -> int | None:
        """Which part of an answer all that was forgotten belongs to; None: to no part.

        is_one: all groups are asked for together. Then it is surely in the interval where all of it
        is; a single group may have any part of it, one that is not there any more too.
        """
        first_us = int(self.whole[START, 0])
        if self.whole[ROWS, 0] == 0 or first_us >= interval.until_us:
            return None
        if begin_us <= interval.since_us:
            return None
        if interval.since_us > first_us:
            return LEFT
        if begin_us > interval.until_us:
            return RIGHT
        return EXACT if is_one else LEFT

    def add_forgotten(self, reading: Reading, part: int, begin_us: int, *, is_one: bool) -> Longs:
        """Add all that was forgotten; returns the node that is cut, as in a reading's cuts."""
        groups = np.zeros(1, np.int64) if is_one else np.arange(reading.codes.size)
        states = np.zeros(groups.size, np.int64)
        add_up(
            PARTS * groups + part, self.whole[:, states], self.real[:, states], reading.whole,
            reading.real,
        )  # fmt: skip
        if part == EXACT:
            return NO_CUT
        cut = np.zeros((1, 2, 2), np.int64)
        cut[0, part - LEFT] = (int(self.whole[START, 0]), begin_us)
        reading.cuts[groups, part - LEFT] = cut[0, part - LEFT]
        return cut
