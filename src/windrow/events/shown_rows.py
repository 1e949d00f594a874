"""The rows of an answer by their keys, in a list that a reader copies as it is."""

from __future__ import annotations

from typing import Any

__all__ = ["ShownRows"]

Row = dict[str, Any]


class ShownRows:
    """Rows that come and go; the last takes the place of one that goes, so that there are no gaps.

    >>> shown = ShownRows()
    >>> for key in "abc":
    ...     shown.put(key, {"k": key})
    >>> shown.drop("a")
    >>> shown.rows
    [{'k': 'c'}, {'k': 'b'}]
    """

    __slots__ = ("_keys", "_places", "rows")

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self._keys: list[Any] = []
        self._places: dict[Any, int] = {}

    def put(self, key: Any, row: Row) -> None:
        """The row of a key, new or instead of the one before."""
        place = self._places.get(key)
        if place is not None:
            self.rows[place] = row
            return
        self._places[key] = len(self.rows)
        self._keys.append(key)
        self.rows.append(row)

    def drop(self, key: Any) -> None:
        """The key has no row, now."""
        place = self._places.pop(key, None)
        if place is None:
            return
        last, row = self._keys.pop(), self.rows.pop()
        if place < len(self.rows):
            self._keys[place], self.rows[place] = last, row
            self._places[last] = place

    def find(self, key: Any) -> Row | None:
        """The row of a key, if it has one."""
        place = self._places.get(key)
        return None if place is None else self.rows[place]

    def row_of(self, key: Any) -> Row:
        """The row of a key that has one."""
        return self.rows[self._places[key]]
