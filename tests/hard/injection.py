"""Exceptions raised at a chosen line of the package, as a signal or lack of memory raises them."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

import windrow

PACKAGE = str(Path(windrow.__file__).parent)

Place = tuple[str, int]  # a file of the package and a line of it


class Injected(BaseException):
    """What is raised; nothing in the package knows it, as nothing may lean on what comes."""


@cache
def _with_lines(file: str) -> frozenset[int]:
    """Lines of `with`: they are run again on the way out, where nothing that Python raises by
    itself comes between the body and __exit__.
    """
    tree = ast.parse(Path(file).read_text())
    found = [node for node in ast.walk(tree) if isinstance(node, ast.With)]
    return frozenset(line for node in found for line in range(node.lineno, node.body[0].lineno))


@contextmanager
def _traced(note: Callable[[Place], None]) -> Iterator[None]:
    def local(frame: FrameType, event: str, argument: Any) -> Any:  # noqa: ARG001 - Python gives it
        file, line = frame.f_code.co_filename, frame.f_lineno
        if event == "line" and line not in _with_lines(file):
            note((file, line))
        return local

    def begun(frame: FrameType, event: str, argument: Any) -> Any:  # noqa: ARG001 - Python gives it
        return local if frame.f_code.co_filename.startswith(PACKAGE) else None

    before = sys.gettrace()
    sys.settrace(begun)
    try:
        yield
    finally:
        sys.settrace(before)


def lines_run(work: Callable[[], object]) -> list[Place]:
    """Every line of the package that the work runs, in turn and as often as it runs."""
    found: list[Place] = []
    with _traced(found.append):
        work()
    return found


@contextmanager
def raising_at(number: int) -> Iterator[None]:
    """Inside, the line of this number, counted as lines_run counts them, raises Injected."""
    left = number

    def note(place: Place) -> None:
        nonlocal left
        if left == 0:
            left = -1
            raise Injected(f"{place[0]}:{place[1]}")
        left -= left > 0

    with _traced(note):
        yield


def chosen(lines: list[Place], is_whole: bool, count: int) -> list[int]:
    """Numbers of lines to raise at, the same ones in every run.

    Those of windrow.spark are all tried, at their first and last run, and every fifth of the
    others; or `count` of them, spread over all.
    """
    first: dict[Place, int] = {}
    last: dict[Place, int] = {}
    for number, place in enumerate(lines):
        first.setdefault(place, number)
        last[place] = number
    own = [place for place in first if place[0].startswith(f"{PACKAGE}/spark/")]
    others = [place for place in first if place not in own][::5]
    tried = [*own, *others]
    numbers = sorted({runs[place] for runs in (first, last) for place in tried})
    if is_whole or len(numbers) <= count:
        return numbers
    return [numbers[index * len(numbers) // count] for index in range(count)]
