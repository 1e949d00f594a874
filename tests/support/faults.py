"""An exception at a chosen place of the package, as a signal or lack of memory raises it.

A tracer counts the places that an operation passes and raises at one of them. Every line of every
function that runs is a place, and so is every entry into a function and every return from one:
between any two of them Ctrl-C may come, or memory may run out.
"""

from __future__ import annotations

import ast
import os
import random
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

import windrow

__all__ = [
    "Injected", "Spot", "chosen_on_spark", "chosen_places", "every_place", "fails_at",
    "lines_outside_with", "places_of", "raising_at", "spots_of",
]  # fmt: skip

PACKAGE = str(Path(windrow.__file__).parent)
# The file of functions that are written as text (compiling/written.py).
WRITTEN = "<written>"

Spot = tuple[str, int, str]  # a file of the package, a line of it, the function and the event
IsPlace = Callable[[FrameType, str], bool]


class Injected(BaseException):
    """What is raised; nothing in the package knows it, as nothing may lean on what comes."""


def every_place(frame: FrameType, event: str) -> bool:  # noqa: ARG001 - an IsPlace
    """Every line, call and return."""
    return True


def lines_outside_with(frame: FrameType, event: str) -> bool:
    """Lines but those of `with`: they are run again on the way out, where nothing that Python
    raises by itself comes between the body and __exit__.
    """
    return event == "line" and frame.f_lineno not in _with_lines(frame.f_code.co_filename)


def spots_of(operation: Callable[[], object], is_place: IsPlace = every_place) -> list[Spot]:
    """The places that an operation passes, in turn and as often as it passes them."""
    found: list[Spot] = []
    with _traced(is_place, found.append):
        operation()
    return found


def places_of(operation: Callable[[], object]) -> list[int]:
    """The places of an operation, by number; of a line that runs often the first and the last."""
    first, last = _first_and_last(spots_of(operation))
    return sorted({*first.values(), *last.values()})


def chosen_places(places: list[int], is_whole: bool, few: int) -> list[int]:
    """All places, or some: the same ones in every run; WINDROW_HARD=100 takes 100."""
    if is_whole:
        return places
    wanted = os.environ.get("WINDROW_HARD", "few")
    count = min(len(places), int(wanted) if wanted.isdigit() else few)
    return random.Random(len(places)).sample(places, count)


def chosen_on_spark(spots: list[Spot], is_whole: bool, count: int) -> list[int]:
    """Numbers of places to raise at, the same ones in every run.

    Those of windrow.spark are all tried, at their first and last run, and every fifth of the
    others; or `count` of them, spread over all.
    """
    first, last = _first_and_last(spots)
    own = [spot for spot in first if spot[0].startswith(f"{PACKAGE}/spark/")]
    others = [spot for spot in first if spot not in own][::5]
    numbers = sorted({runs[spot] for runs in (first, last) for spot in [*own, *others]})
    if is_whole or len(numbers) <= count:
        return numbers
    return [numbers[index * len(numbers) // count] for index in range(count)]


@contextmanager
def raising_at(
    number: int, problem: BaseException, is_place: IsPlace = every_place
) -> Iterator[list[Spot]]:
    """Inside, the place of this number, counted as spots_of does, raises; yields where it was."""
    left = number
    reached: list[Spot] = []

    def note(spot: Spot) -> None:
        nonlocal left
        if left == 0:
            left = -1
            reached.append(spot)
            raise problem
        left -= left > 0

    with _traced(is_place, note):
        yield reached


def fails_at(operation: Callable[[], object], place: int, problem: BaseException) -> str:
    """Run an operation that raises at a place; says where that was, '' if it was not reached."""
    reached: list[Spot] = []
    try:
        with raising_at(place, problem) as reached:
            operation()
    except BaseException as raised:
        # What handles it may wrap it, or raise it later; anything else is a fault of ours.
        if raised is not problem and raised.__cause__ is not problem:
            raise
    return "".join(f"{file}:{line} {what}" for file, line, what in reached)


@contextmanager
def _traced(is_place: IsPlace, note: Callable[[Spot], None]) -> Iterator[None]:
    def trace(frame: FrameType, event: str, argument: Any) -> Any:  # noqa: ARG001 - Python gives it
        file = frame.f_code.co_filename
        if not file.startswith((PACKAGE, WRITTEN)):
            return None
        if is_place(frame, event):
            note((file, frame.f_lineno, f"{frame.f_code.co_qualname} {event}"))
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        yield
    finally:
        sys.settrace(before)


def _first_and_last(spots: list[Spot]) -> tuple[dict[Spot, int], dict[Spot, int]]:
    first: dict[Spot, int] = {}
    last: dict[Spot, int] = {}
    for number, spot in enumerate(spots):
        first.setdefault(spot, number)
        last[spot] = number
    return first, last


@cache
def _with_lines(file: str) -> frozenset[int]:
    tree = ast.parse(Path(file).read_text())
    found = [node for node in ast.walk(tree) if isinstance(node, ast.With)]
    return frozenset(line for node in found for line in range(node.lineno, node.body[0].lineno))
