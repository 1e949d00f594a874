"""GET_JSON_OBJECT: a path into JSON text, with the wildcards that Spark took over from Hive.

`$.a.b`, `$['a']`, `$[0]` and `$[*].a`. A path that cannot be read finds nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import Any

from windrow.rows.scalar.json_texts import Members, escape_pairs, json_text

__all__ = ["Path", "Step", "found_values", "read_path", "text_at"]

_MAX_PATHS = 256
_STEP = re.compile(r"\.\*|\.([^.\[]+)|\['([^'?]+)'\]|\[(\d{1,9})\]|\[\*\]")


class Step(Enum):
    """A step to all members of an object, or to all elements of an array."""

    MEMBERS = ".*"
    ELEMENTS = "[*]"


Path = tuple[str | int | Step, ...]


class _Style(Enum):
    RAW = "text without quotes"
    QUOTED = "within an array"
    FLAT = "arrays within arrays taken apart"


@lru_cache(_MAX_PATHS)
def read_path(text: str) -> Path | None:
    """The steps of a path, None where it is none.

    >>> read_path("$.a[0]['b c']")
    ('a', 0, 'b c')
    """
    if not text.startswith("$"):
        return None
    steps: list[str | int | Step] = []
    place = 1
    while place < len(text):
        match = _STEP.match(text, place)
        if match is None:
            return None
        name = match.group(1) or match.group(2)
        if name is not None:
            steps.append(Step.MEMBERS if name == "*" else name)
        elif match.group(3) is not None:
            steps.append(int(match.group(3)))
        else:
            steps.append(Step.MEMBERS if match.group() == ".*" else Step.ELEMENTS)
        place = match.end()
    return tuple(steps)


def text_at(value: Any, path: Path) -> str | None:
    """What the path finds, as text; None where that is nothing or null."""
    found = _Found([])
    is_there = _walk(value, path, _Style.RAW, found)
    return "".join(found.parts[:1]) if is_there and found.parts else None


def found_values(value: Any, path: Path) -> list[Any]:
    """All values that the path leads to, null among them."""
    values = [value]
    for step in path:
        values = [inner for each in values for inner in _inner(each, step)]
    return values


def _inner(value: Any, step: str | int | Step) -> list[Any]:
    if isinstance(value, Members):
        if step is Step.MEMBERS:
            return [each for _, each in value]
        return [each for name, each in value if name == step][:1]
    if isinstance(value, list):
        if step is Step.ELEMENTS:
            return list(value)
        return value[step : step + 1] if isinstance(step, int) else []
    return []


@dataclass
class _Found:
    parts: list[str]


def _walk(value: Any, path: Path, style: _Style, found: _Found) -> bool:
    """Writes what the path finds; whether it found anything."""
    if not path:
        return _write(value, style, found)
    if isinstance(value, Members):
        return _walk_members(value, path, style, found)
    if isinstance(value, list):
        return _walk_elements(value, path, style, found)
    return False


def _write(value: Any, style: _Style, found: _Found) -> bool:
    if isinstance(value, list) and not isinstance(value, Members) and style is _Style.FLAT:
        wrote = [_write(each, style, found) for each in value]
        return any(wrote)
    is_text = isinstance(value, str) and style is _Style.RAW
    found.parts.append(value if is_text else escape_pairs(json_text(value)))
    return True


def _walk_members(members: Members, path: Path, style: _Style, found: _Found) -> bool:
    for name, value in members:
        # Spark reads .* in a path, and finds nothing by it.
        if path[0] == name and value is not None and _walk(value, path[1:], style, found):
            return True
    return False


def _walk_elements(elements: list[Any], path: Path, style: _Style, found: _Found) -> bool:
    step, rest = path[0], path[1:]
    if isinstance(step, int):
        if step >= len(elements):
            return False
        inner = _Style.QUOTED if rest[:1] == (Step.ELEMENTS,) else style
        return _walk(elements[step], rest, inner, found)
    if step is not Step.ELEMENTS:
        return False
    if rest[:1] == (Step.ELEMENTS,):
        return _write_array(elements, rest[1:], _Style.FLAT, found)
    if style is _Style.QUOTED:
        return _write_array(elements, rest, style, found)
    inner_style = _Style.QUOTED if style is _Style.RAW else style
    inside = _Found([])
    count = sum([_walk(each, rest, inner_style, inside) for each in elements])
    if count > 1:
        found.parts.append(f"[{','.join(inside.parts)}]")
    elif count == 1:
        found.parts.append(",".join(inside.parts))
    return count > 0


def _write_array(elements: list[Any], rest: Path, style: _Style, found: _Found) -> bool:
    inside = _Found([])
    wrote = [_walk(each, rest, style, inside) for each in elements]
    found.parts.append(f"[{','.join(inside.parts)}]")
    return any(wrote)
