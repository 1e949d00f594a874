"""What a step is about to overwrite, recorded first, so that the step can be rolled back.

For structures whose arrays are changed in place and are too large to be copied for each step. A log
that is not open notes nothing, and costs nothing.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from windrow.windows.marks import Mark

__all__ = ["UndoLog", "runs_of"]

_ABSENT = object()


class UndoLog:
    """Notes of one step, undone from the last to the first.

    >>> log, array, names = UndoLog(), np.array([1, 2, 3]), {"a": 1}
    >>> log.open()
    >>> log.keep(array, slice(1, None))
    >>> log.keep_item(names, "b")
    >>> array[1:], names["b"] = 0, 2
    >>> log.rewind()
    >>> log.close()
    >>> array.tolist(), names, log.is_open
    ([1, 2, 3], {'a': 1}, False)
    """

    def __init__(self) -> None:
        self._mark: Mark | None = None
        self._arrays: list[tuple[NDArray[Any], Any, NDArray[Any]]] = []
        self._items: list[tuple[MutableMapping[Any, Any], Any, Any]] = []

    @property
    def is_open(self) -> bool:
        """Whether a step is on its way."""
        return self._mark is not None

    def open(self, *objects: object) -> None:
        """Begin a step; attributes of these objects, lists and dicts among them, are noted now."""
        self._arrays, self._items = [], []
        self._mark = Mark(*objects)

    def close(self) -> None:
        """The step is complete: nothing of it is rolled back any more."""
        self._mark = None
        self._arrays, self._items = [], []

    def keep(self, array: NDArray[Any], places: Any) -> None:
        """These places of an array are about to be written over."""
        if self._mark is not None:
            # An index by arrays copies already; a slice is a view.
            self._arrays.append((array, places, np.array(array[places])))

    def keep_item(self, items: MutableMapping[Any, Any], key: Any) -> None:
        """An item is about to be set, changed for another one or removed."""
        if self._mark is not None:
            self._items.append((items, key, items.get(key, _ABSENT)))

    def rewind(self) -> None:
        """Let all be as it was when the step began; can be called again until the log is closed."""
        if self._mark is None:
            return
        for array, places, old in reversed(self._arrays):
            array[places] = old
        for items, key, value in reversed(self._items):
            if value is _ABSENT:
                items.pop(key, None)
            else:
                items[key] = value
        self._mark.rewind()


def runs_of(firsts: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """The numbers of runs, one run behind the other.

    >>> runs_of(np.array([5, 9]), np.array([2, 1])).tolist()
    [5, 6, 9]
    """
    offsets = firsts - (np.cumsum(counts) - counts)
    return np.repeat(offsets, counts) + np.arange(int(counts.sum()))
