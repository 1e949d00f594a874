"""An exception at a chosen place: a tracer counts the lines and calls of Windrow and raises at one.

Every line of every function that runs is a place, and so is every entry into a function and every
return from one: between any two of them Ctrl-C may come, or memory may run out.
"""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import windrow

__all__ = ["chosen_places", "fails_at", "places_of"]

OURS = str(Path(windrow.__file__).parent)


class _Tracer:
    def __init__(self, at: int, problem: BaseException | None) -> None:
        self.passed = 0
        self.where = ""
        self.first: dict[tuple[CodeType, int, str], int] = {}
        self.last: dict[tuple[CodeType, int, str], int] = {}
        self._at, self._problem = at, problem

    def __call__(self, frame: FrameType, event: str, _: Any) -> _Tracer | None:
        if not frame.f_code.co_filename.startswith(OURS):
            return None
        self.passed += 1
        if self._problem is None:
            spot = (frame.f_code, frame.f_lineno, event)
            self.first.setdefault(spot, self.passed)
            self.last[spot] = self.passed
        if self.passed == self._at and self._problem is not None:
            self.where = f"{frame.f_code.co_filename}:{frame.f_lineno} {event}"
            raise self._problem
        return self


def _run(operation: Callable[[], object], tracer: _Tracer) -> None:
    before = sys.gettrace()
    sys.settrace(tracer)
    try:
        operation()
    finally:
        sys.settrace(before)


def places_of(operation: Callable[[], object]) -> list[int]:
    """The places of an operation, by number; of a line that runs often the first and the last."""
    tracer = _Tracer(0, None)
    _run(operation, tracer)
    return sorted({*tracer.first.values(), *tracer.last.values()})


def chosen_places(places: list[int], is_whole: bool, few: int) -> list[int]:
    """All places, or some: the same ones in every run; WINDROW_HARD=100 takes so many."""
    if is_whole:
        return places
    wanted = os.environ.get("WINDROW_HARD", "few")
    count = min(len(places), int(wanted) if wanted.isdigit() else few)
    return random.Random(len(places)).sample(places, count)


def fails_at(operation: Callable[[], object], place: int, problem: BaseException) -> str:
    """Run an operation that raises at a place; says where that was, '' if it was not reached."""
    tracer = _Tracer(place, problem)
    try:
        _run(operation, tracer)
    except BaseException as raised:
        # What handles it may wrap it, or raise it later; anything else is a fault of ours.
        if raised is not problem and raised.__cause__ is not problem:
            raise
    return tracer.where
