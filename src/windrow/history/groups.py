"""Group keys and their codes: a code lives as long as the history holds anything of its group."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.history.cells.arena import Longs
from windrow.schema import Column
from windrow.windows.codes import Codes, KeyCoder
from windrow.windows.undo_log import UndoLog

__all__ = ["Groups", "plain_column"]

ONLY_GROUP = np.zeros(1, np.int64)


class Groups:
    """Codes of groups; without keys there is one group, and its code is 0.

    A code that was acquired or released when a step was interrupted is recounted before the next
    one: which groups are held is known in any case. log: notes which are about to be held.
    """

    def __init__(self, keys: Sequence[Column], log: UndoLog | None = None) -> None:
        self._log = UndoLog() if log is None else log
        self._is_counted = True
        self.keys = tuple(keys)
        self._coder = KeyCoder([key.type.arrow for key in keys]) if keys else None
        self._is_held: NDArray[np.bool_] = np.zeros(0, np.bool_)

    def codes(self, columns: Mapping[str, pa.Array]) -> Codes | None:
        """The code of each row's group, which is held from now on; None where there are no keys."""
        if self._coder is None:
            return None
        self._begin_counting()
        codes = self._coder.acquire(self._arrays(columns))
        held = self._held_flags()
        fresh = np.flatnonzero(~held[codes])
        # A group is counted once, and not by its rows.
        _, firsts = np.unique(codes[fresh], return_index=True)
        self._log.keep(held, codes[fresh[firsts]])
        held[codes[fresh[firsts]]] = True
        self._coder.release(np.delete(codes, fresh[firsts]) if fresh.size else codes)
        self._is_counted = True
        return codes

    def release(self, codes: Longs) -> None:
        """Nothing is held any more of these groups."""
        if self._coder is not None and codes.size:
            self._begin_counting()
            codes = codes[self._is_held[codes]]
            self._is_held[codes] = False
            self._coder.release(codes.astype(np.int32))
            self._is_counted = True

    def recount(self) -> None:
        """Count each group that is held once, and release all other codes."""
        if self._coder is not None:
            self._is_counted = False
            self._coder.recount(np.flatnonzero(self._is_held).astype(np.int32))
            self._is_counted = True

    def _begin_counting(self) -> None:
        if not self._is_counted:
            self.recount()
        self._is_counted = False

    def held(self) -> Longs:
        """The codes of all groups that are held."""
        return ONLY_GROUP if self._coder is None else np.flatnonzero(self._is_held)

    @contextmanager
    def found(self, columns: Mapping[str, pa.Array]) -> Iterator[Longs]:
        """The codes of these keys, for a while; of groups that are not held too."""
        if self._coder is None:
            yield np.zeros(len(next(iter(columns.values()), ())), np.int64)
            return
        self._begin_counting()
        codes = self._coder.acquire(self._arrays(columns))
        try:
            yield codes.astype(np.int64)
        finally:
            self._coder.release(codes)
            self._is_counted = True

    def table(self, codes: Longs) -> pa.Table:
        """The keys of codes."""
        if self._coder is None:
            return pa.table({})
        columns = self._coder.columns(codes.astype(np.int32))
        return pa.table(dict(zip([key.name for key in self.keys], columns, strict=True)))

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return 0 if self._coder is None else self._coder.nbytes + self._is_held.nbytes

    def _arrays(self, columns: Mapping[str, pa.Array]) -> list[pa.Array]:
        return [plain_column(columns[key.name], key) for key in self.keys]

    def _held_flags(self) -> NDArray[np.bool_]:
        capacity = self._coder.capacity if self._coder is not None else 1
        if self._is_held.size < capacity:
            wider = np.zeros(capacity, np.bool_)
            wider[: self._is_held.size] = self._is_held
            self._is_held = wider
        return self._is_held


def plain_column(column: pa.Array | pa.ChunkedArray, wanted: Column) -> pa.Array:
    """The column in one piece and of the wanted type."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    return column if column.type == wanted.type.arrow else column.cast(wanted.type.arrow)
