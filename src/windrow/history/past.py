"""What has left memory: archived and still answerable, or forgotten and only summed up."""

from __future__ import annotations

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
from windrow.history.nodes.table import table_of_nodes
from windrow.history.spec import GRANULARITY_COLUMN, HistorySpec
from windrow.history.states.kernels import ROWS, START
from windrow.history.storage import Nodes, Reading

__all__ = ["Archive", "Archived", "Past"]

_NO_CUT = np.empty((0, 2, 2), np.int64)


class Archive(Protocol):
    """Where nodes go that leave memory, and come from when they are asked for."""

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

    def add_to(
        self, reading: Reading, codes: Longs, since_us: int, until_us: int, target: int
    ) -> None:
        """Add an interval to a part of the states of those groups that were asked for."""
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

    def part_with(self, nodes: Nodes) -> None:
        """Nodes leave memory."""
        if self._archive is not None:
            self._archive.write(table_of_nodes(nodes, self._spec, self._groups))
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
        return Archived(table.select([key.name for key in self._spec.keys]), ends, whole, real)

    def add_forgotten(
        self, reading: Reading, interval: Interval, begin_us: int, *, is_one: bool
    ) -> Longs:
        """What was forgotten may be in the interval; surely so only where all of it is.

        is_one: all groups are asked for together. A single group may have any part of it, one that
        is not there any more too. Returns the node that is cut in this way, as in a reading's cuts.
        """
        first_us = int(self.whole[START, 0])
        if self.whole[ROWS, 0] == 0 or first_us >= interval.until_us:
            return _NO_CUT
        if begin_us <= interval.since_us:
            return _NO_CUT
        is_inside = interval.since_us <= first_us and begin_us <= interval.until_us
        part = EXACT if is_inside and is_one else LEFT
        if part == LEFT and interval.since_us <= first_us and not is_inside:
            part = RIGHT
        groups = np.zeros(1, np.int64) if is_one else np.arange(reading.codes.size)
        states = np.zeros(groups.size, np.int64)
        add_up(
            PARTS * groups + part, self.whole[:, states], self.real[:, states], reading.whole,
            reading.real,
        )  # fmt: skip
        if part == EXACT:
            return _NO_CUT
        reading.cuts[groups, part - LEFT] = (first_us, begin_us)
        cut = np.zeros((1, 2, 2), np.int64)
        cut[0, part - LEFT] = (first_us, begin_us)
        return cut
