"""A history: rows in, answers about any interval of the past out."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pyarrow as pa

from windrow.errors import BindingError, DataError
from windrow.event_time import START_OF_TIME, show_instant
from windrow.history.adaptive_tree import AdaptiveTree
from windrow.history.answers.answer import Answer, Interval
from windrow.history.asking import Question, answer_to
from windrow.history.cells.arena import Longs
from windrow.history.groups import Groups, plain_column
from windrow.history.leaves.batch import batch_of
from windrow.history.past import Archive, Past
from windrow.history.sketches.sketch_levels import SketchLevels
from windrow.history.spec import HistorySpec
from windrow.history.storage import Storage
from windrow.windows.undo_log import UndoLog

__all__ = ["History"]

# Rows that are built into leaves at a time: a bound on the memory that this takes.
SLICE_ROWS = 1 << 20


class History:
    """Aggregates of a stream at several granularities, by group.

    >>> from windrow.history.spec import levels_of
    >>> from windrow.schema import DOUBLE, Column
    >>> history = History(HistorySpec(levels_of([(10, None)]), (Column("v", DOUBLE),)))
    >>> history.insert(np.array([1, 12]), {"v": pa.array([2.0, 3.0])})
    >>> history.snapshot(0, 20).bounds("sum", "v").value
    5.0
    """

    def __init__(
        self,
        spec: HistorySpec,
        storage: Callable[[HistorySpec, UndoLog], Storage] = AdaptiveTree,
        archive: Archive | None = None,
    ) -> None:
        self.spec = spec
        self.log = UndoLog()
        self.storage = storage(spec, self.log)
        self.groups = Groups(spec.keys, self.log)
        self.sketches = SketchLevels(spec, self.storage.regions, self.log)
        self.past = Past(spec, self.groups, archive)
        self.now_us = START_OF_TIME
        self.is_whole = True  # False: a step was interrupted, and again when it was retried
        self._idle: list[Longs] = []  # codes of groups that something of has left

    @property
    def parts(self) -> tuple[object, ...]:
        """All objects with attributes that a step changes."""
        return (self, self.groups, self.sketches, self.past, *self.storage.parts)

    def begin_step(self, *objects: object) -> None:
        """From here on all changes, also of these objects, can be rolled back."""
        self.log.open(*objects, *self.parts)
        self.log.keep(self.past.whole, slice(None))
        self.log.keep(self.past.real, slice(None))

    def keep_step(self) -> None:
        """What was done since begin_step() stays."""
        self.log.close()
        self._release_idle()

    def undo_step(self) -> None:
        """Restores the state at begin_step(); can be called again if it is interrupted."""
        if self.log.is_open:
            self.log.rewind()
            self.storage.forget_blocks()
            self.groups.recount()
            self.log.close()

    def insert(self, times: Longs, columns: Mapping[str, pa.Array]) -> None:
        """Take rows in any order, all later than the completeness that was announced."""
        times = np.ascontiguousarray(times, np.int64)
        if times.size == 0:
            return
        if int(times.min()) <= self.now_us:
            raise DataError(
                "WD601",
                f"a row at {show_instant(int(times.min()))} arrives after the history was "
                f"complete through {show_instant(self.now_us)}",
                hint="late rows are set aside before they reach a history",
            )
        for first in range(0, times.size, SLICE_ROWS):
            part = slice(first, first + SLICE_ROWS)
            self._insert(times[part], {name: column[part] for name, column in columns.items()})

    def advance(self, now_us: int) -> None:
        """All rows through this instant have come; what is too old for its level gets coarser."""
        if now_us <= self.now_us:
            return
        self.now_us = now_us
        gone = self.storage.expire(now_us)
        sketches = self.sketches.expire()
        for nodes in gone:
            self.past.part_with(nodes, sketches)
        if not self.past.is_archived:
            self.sketches.forget(sketches)
        if gone and self.spec.keys:
            self._idle.append(np.unique(gone[-1].codes))
            if not self.log.is_open:
                self._release_idle()

    def _release_idle(self) -> None:
        """Groups that nothing is left of give their codes back."""
        if self._idle:
            idle = np.setdiff1d(np.concatenate(self._idle), self.storage.present())
            self.groups.release(idle)
            self._idle = []

    def snapshot(
        self, since_us: int, until_us: int, *, at_us: int | None = None,
        keys: pa.Table | None = None, total: bool = False,
    ) -> Answer:  # fmt: skip
        """The answer for an interval, its end not included.

        at_us: the granularity of the finest level to look at; None: as fine as can be. By group,
        for the groups in `keys`, or for all of them together.
        """
        if until_us < since_us:
            raise BindingError(
                "WB315",
                "an interval of the past ends before it begins",
                hint="give the earlier instant first",
            )
        level = None if at_us is None else self.spec.level_index(at_us)
        return answer_to(self, Question(Interval(since_us, until_us), level, keys, total))

    def tail(
        self, at_us: int, range_us: int, edge_us: int, *, keys: pa.Table | None = None,
        total: bool = False,
    ) -> Answer:  # fmt: skip
        """What a window of this range at an instant holds before an edge: [at - range, edge).

        For windows that are narrower than they should be: rows from the edge on are in the window,
        what the history knows of the older ones fills in.
        """
        since_us = at_us - range_us
        return self.snapshot(since_us, max(since_us, edge_us), keys=keys, total=total)

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self.storage.nbytes + self.groups.nbytes + self.sketches.nbytes

    def _insert(self, times: Longs, columns: Mapping[str, pa.Array]) -> None:
        codes = self.groups.codes(columns)
        measures = [plain_column(columns[each.name], each) for each in self.spec.measures]
        self.storage.add(batch_of(times, codes, measures))
        sketched = {
            kind.column.name: plain_column(columns[kind.column.name], kind.column)
            for kind in self.sketches.kinds
        }
        self.sketches.add(times, codes, sketched)
