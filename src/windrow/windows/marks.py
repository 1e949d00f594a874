"""Marks: how things were before a step, so that a step that fails half-way leaves no trace.

An exception may come at any line: Ctrl-C, a lack of memory, a fault of ours. So whoever is about to
change something notes first how to get back (a mark), or how to continue (pending changes), where
the next call finds it. Finding it again and again does no harm.
"""

from __future__ import annotations

from collections import deque
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["Assignments", "Copies", "DeepMark", "Mark", "Pending", "set_back"]

# What can be added to without being assigned.
COPIED = (list, dict, set, deque)
# Places in arrays that a step changes, and what stood there before it.
Copies = list[tuple[NDArray[Any], Any, NDArray[Any]]]


class Pending(Protocol):
    """Changes that were begun and must be brought to their end before anything else happens."""

    def finish(self) -> None:
        """Make all of them, also those that were made already."""


class Mark:
    """What objects refer to; lists and dicts are copied, what they hold and arrays are not.

    >>> from types import SimpleNamespace
    >>> thing = SimpleNamespace(count=1, rows=[1])
    >>> mark = Mark(thing)
    >>> thing.count, thing.other = 2, 3
    >>> thing.rows.append(2)
    >>> mark.rewind()
    >>> thing
    namespace(count=1, rows=[1])
    """

    __slots__ = ("_saved",)

    def __init__(self, *objects: object) -> None:
        # One loop without calls: a step takes several marks, and most steps are short.
        saved = []
        for each in objects:
            attributes = each.__dict__.copy()
            for name, value in attributes.items():
                if type(value) in COPIED:
                    attributes[name] = value.copy()
            saved.append((each, attributes))
        self._saved = saved

    def rewind(self) -> None:
        """Let all objects be as they were."""
        for each, saved in self._saved:
            attributes = vars(each)
            attributes.update(_copied(saved))
            for name in attributes.keys() - saved.keys():
                del attributes[name]


def set_back(copies: Copies) -> None:
    """Let arrays hold again what they held."""
    for array, places, old in copies:
        array[places] = old


class DeepMark:
    """A mark of an object and of all that it is made of, with copies of all arrays.

    For what is small: a mark takes as long as a copy. Objects of frozen dataclasses are left out.
    """

    __slots__ = ("_arrays", "_marks")

    def __init__(self, whole: object) -> None:
        found: dict[int, object] = {}
        arrays: dict[int, NDArray[Any]] = {}
        _list_parts(whole, found, arrays)
        self._marks = Mark(*found.values())
        self._arrays = [(array, array.copy()) for array in arrays.values()]

    def rewind(self) -> None:
        """Let everything be as it was."""
        self._marks.rewind()
        for array, old in self._arrays:
            array[...] = old


def _list_parts(part: object, found: dict[int, object], arrays: dict[int, NDArray[Any]]) -> None:
    if isinstance(part, np.ndarray):
        if part.flags.writeable:
            arrays[id(part)] = part
    elif isinstance(part, (list, tuple, dict)):
        for each in part.values() if isinstance(part, dict) else part:
            _list_parts(each, found, arrays)
    elif _is_ours(part) and id(part) not in found:
        found[id(part)] = part
        for each in vars(part).values():
            _list_parts(each, found, arrays)


def _is_ours(part: object) -> bool:
    kind = type(part)
    is_frozen = getattr(kind, "__dataclass_params__", None) is not None and (
        kind.__dataclass_params__.frozen  # type: ignore[attr-defined]
    )
    return kind.__module__.startswith("windrow.") and hasattr(part, "__dict__") and not is_frozen


def _copied(attributes: dict[str, Any]) -> dict[str, Any]:
    return {
        name: value.copy() if type(value) in COPIED else value for name, value in attributes.items()
    }


class Assignments:
    """Attributes that change together: their new values are known before the first one is set."""

    def __init__(self) -> None:
        self._all: list[tuple[object, str, object]] = []
        self._fronts: list[tuple[object, str, NDArray[Any]]] = []

    def add(self, owner: object, **values: object) -> None:
        """One object's attributes."""
        self._all += [(owner, name, value) for name, value in values.items()]

    def add_front(self, owner: object, name: str, values: NDArray[Any]) -> None:
        """What the array that is then an object's attribute begins with."""
        self._fronts.append((owner, name, values))

    def finish(self) -> None:
        """Set all of them."""
        for owner, name, value in self._all:
            setattr(owner, name, value)
        for owner, name, values in self._fronts:
            getattr(owner, name)[: values.size] = values
