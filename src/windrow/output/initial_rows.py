"""Rows that a result has before any row has come, such as the COUNT of nothing.

They are shown as soon as somebody asks for the result, and told from the first instant on at which
a row came: no answer and no change is earlier.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from windrow.event_time import START_OF_TIME
from windrow.operators.partial import Partial
from windrow.operators.relations.row_coder import RowCoder

__all__ = ["InitialRows"]

Places = NDArray[np.int32]


class InitialRows:
    """Updates at the beginning of time, by shard, until there is an instant for them.

    waiting: those that wait for it.
    """

    def __init__(self) -> None:
        self.waiting: dict[int, Partial] = {}

    def held_back(self, shard: int, partial: Partial) -> Partial:
        """The updates of a partial result without those at the beginning of time, which wait."""
        count = int(np.searchsorted(partial.at, START_OF_TIME, side="right"))
        if not count:
            return partial
        newest = _newest(self.waiting.get(shard), _part(partial, slice(0, count)))
        self.waiting = {**self.waiting, shard: newest}
        return _part(partial, slice(count, None))

    def released(
        self, partials: Sequence[tuple[int, Partial]], first_us: int
    ) -> list[tuple[int, Partial]]:
        """The updates with those that waited, as of the first instant."""
        waiting, self.waiting = self.waiting, {}
        return [
            (shard, _released(waiting[shard], partial, first_us) if shard in waiting else partial)
            for shard, partial in partials
        ]

    def table(self) -> pa.Table | None:
        """What waits, for saving."""
        parts = [
            pa.Table.from_batches([each.groups.take(pa.array(each.group))])
            .append_column("many", pa.array(each.count))
            .append_column("shard", pa.array(np.full(each.size, shard, np.int64)))
            for shard, each in self.waiting.items()
        ]
        return pa.concat_tables(parts) if parts else None

    def load(self, table: pa.Table, like: Partial) -> None:
        """Back from table(); like: a partial result without updates."""
        for shard in table.column("shard").unique().to_pylist():
            own = table.filter(pc.equal(table.column("shard"), shard))
            self.waiting = {**self.waiting, shard: _loaded(own, like)}


def _loaded(table: pa.Table, like: Partial) -> Partial:
    size = table.num_rows
    groups = table.drop_columns(["many", "shard"]).combine_chunks().to_batches()
    at = np.full(size, START_OF_TIME, np.int64)
    return replace(
        like, at=at, group=np.arange(size, dtype=np.int32),
        count=table.column("many").to_numpy(), groups=groups[0], group_count=size,
        lanes=np.zeros((size, like.lanes.shape[1]), np.int64), codes=None,
    )  # fmt: skip


def _released(waiting: Partial, partial: Partial, first_us: int) -> Partial:
    # What changes at that very instant is never seen as it was before.
    changed = partial.group[partial.at == first_us]
    waiting = _part(waiting, ~_are_among(waiting, partial, changed))
    return _joined(replace(waiting, at=np.full(waiting.size, first_us, np.int64)), partial)


def _newest(before: Partial | None, now: Partial) -> Partial:
    """Updates of one instant that came one after the other: those that others did not replace."""
    if before is None:
        return now
    kept = _part(before, ~_are_among(before, now, now.group))
    both = _joined(_part(kept, kept.count > 0), now)
    return _part(both, np.flatnonzero(both.count > 0))


def _are_among(waiting: Partial, partial: Partial, groups: Places) -> NDArray[np.bool_]:
    """Of each update that waits, whether its row is that of one of these groups."""
    if waiting.codes is not None and partial.codes is not None:
        return np.isin(waiting.codes[waiting.group], partial.codes[groups])
    coder = RowCoder(waiting.groups.schema.types)
    known = coder.acquire(waiting.groups.columns, waiting.groups.num_rows)
    changed = partial.groups.take(pa.array(groups))
    return np.isin(known[waiting.group], coder.acquire(changed.columns, changed.num_rows))


def _part(partial: Partial, places: slice | np.ndarray) -> Partial:
    extras = partial.extras[places] if partial.extras.size else partial.extras
    return replace(
        partial, at=partial.at[places], group=partial.group[places], count=partial.count[places],
        lanes=partial.lanes[places], extras=extras,
    )  # fmt: skip


def _joined(first: Partial, second: Partial) -> Partial:
    groups = pa.Table.from_batches([first.groups, second.groups]).combine_chunks().to_batches()
    codes = None
    if first.codes is not None and second.codes is not None:
        codes = np.concatenate([first.codes, second.codes])
    return replace(
        second,
        at=np.concatenate([first.at, second.at]),
        group=np.concatenate([first.group, second.group + np.int32(first.group_count)]),
        count=np.concatenate([first.count, second.count]),
        lanes=np.concatenate([first.lanes, second.lanes]),
        groups=groups[0] if groups else second.groups,
        group_count=first.group_count + second.group_count,
        codes=codes,
    )
